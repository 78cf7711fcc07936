"""Reading the file of a run, and storing the files of its whole matrix."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.files import File

from hearth.shared.errors import Outdated
from hearth.shared.progress import Progress
from pooling.core.direction import Direction
from pooling.core.lines import SourceFile, sha256_of_file
from pooling.core.ordering import RunData, split_rows
from pooling.core.readers.registry import AUTO
from pooling.core.readers.runs import RUNS, read_run
from pooling.core.readers.runs.npz import is_npz
from pooling.core.whole_matrix import WholeMatrix, new_whole_matrix
from pooling.core.zipped import is_zip, member_names, unpacked
from pooling.models import Benchmark, matrix_storage
from pooling.selectors import arrays
from pooling.signals import further_rows, unknown_row


@dataclass(frozen=True, slots=True, eq=False)
class ReadRun:
    """The lists of a run. whole: its temporary files if it was read from a matrix.

    captions_sha256: the hash of the benchmark's captions, whose numbers the lists contain. further:
    the lists of further rows, see `signals.further_rows`.
    """

    data: RunData
    whole: WholeMatrix | None
    captions_sha256: str
    further: RunData | None = None

    def check_captions(self, benchmark: Benchmark) -> None:
        """Raise `Outdated` if the captions have changed since they were read."""
        stored = Benchmark.objects.filter(pk=benchmark.pk, captions_sha256=self.captions_sha256)
        if not stored.exists():
            raise Outdated("The captions have changed in the meantime. Import the run again.")

    def store_matrix(self) -> dict[str, str]:
        """Store the files of the matrix, if there is one. Return the run's fields that name them.

        Housekeeping removes the files if no run names them.
        """
        if self.whole is None:
            return {}
        similarities = self.whole.similarity_path
        return {
            "similarities": _stored(similarities),
            "similarities_sha256": sha256_of_file(similarities, str(similarities)),
            "order": _stored(self.whole.order_path),
        }


def _stored(path: Path) -> str:
    with path.open("rb") as file:
        return matrix_storage().save(f"{uuid.uuid4().hex}.npy", File(file))


@contextmanager
def reading_run(
    benchmark: Benchmark,
    path: Path,
    *,
    direction: Direction,
    format: str,
    depth: int | None,
    source: str | None,
    progress: Progress,
    keys: SourceFile | None = None,
) -> Iterator[ReadRun]:
    """Read and check a run file. Raises `InvalidInput` with the first hundred errors.

    keys: a JSON file with the keys of the rows and columns of a matrix. The temporary files are
    removed at the end.
    """
    reader = RUNS.choose(SourceFile.at(path, source), format)
    with ExitStack() as files:
        whole = None
        if reader.is_matrix:
            space = direction.space(benchmark.pair_space)
            whole = files.enter_context(new_whole_matrix(space))
        further = _further_rows(benchmark) if direction is Direction.TEXT_TO_VIDEO else {}
        own_rows = arrays.query_numbers(benchmark)
        data = read_run(
            path,
            format=reader.name,
            query_numbers=own_rows if reader.is_matrix else further | own_rows,
            further=further if reader.is_matrix else None,
            video_numbers=arrays.video_numbers(benchmark),
            texts=arrays.query_texts(benchmark) if reader.needs_texts else None,
            original=_positives_by_query(benchmark) if reader.needs_original else None,
            depth=depth,
            source=source,
            progress=lambda done, total: progress(done, total, f"reading the {direction} run"),
            direction=direction,
            whole=whole,
            places=None if keys is None else arrays.places_in_file(benchmark, keys),
            elsewhere=lambda key: _elsewhere(benchmark, key),
        )
        own, others = data, None
        if further:
            own, others = split_rows(data, benchmark.n_queries, source or str(path))
        yield ReadRun(own, whole, benchmark.captions_sha256, others)


def _further_rows(benchmark: Benchmark) -> dict[str, int]:
    found: dict[str, int] = {}
    responses: list[Any] = further_rows.send(sender=Benchmark, benchmark=benchmark)
    for _, rows in responses:
        found |= rows
    return found


def _elsewhere(benchmark: Benchmark, key: str) -> str:
    responses: list[Any] = unknown_row.send(sender=Benchmark, benchmark=benchmark, key=key)
    return "".join(text for _, text in responses)


@contextmanager
def files_of_runs(file: SourceFile, format: str) -> Iterator[list[tuple[str, SourceFile]]]:
    """Yield the files of an archive of runs, each with its name, or the file itself without one.

    An archive in which all files are matrices, and one of them has a known name, is one .npz file.
    """
    is_archive = format == AUTO and is_zip(file)
    if not is_archive or is_npz(member_names(file)):
        yield [("", file)]
        return
    with unpacked(file) as members:
        yield [(member.name, member.file) for member in members]


def _positives_by_query(benchmark: Benchmark) -> dict[int, set[int]]:
    positives: dict[int, set[int]] = {}
    for query, video in zip(
        *(a.tolist() for a in arrays.original_positives(benchmark)), strict=True
    ):
        positives.setdefault(query, set()).add(video)
    return positives
