"""Storing uploaded embeddings of captions and their phrasings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypedDict

from hearth.accounts.actors import Actor
from hearth.audit.services import record
from hearth.shared.bulk import lock_row, long_transaction
from hearth.shared.errors import InvalidInput
from hearth.shared.options import Option
from hearth.shared.progress import Progress, no_progress
from pooling.core.lines import SourceFile, sha256_of_file
from pooling.core.proxies.embeddings import read_vectors
from pooling.models import Benchmark
from pooling.phrasings.enums import PhrasingAct
from pooling.phrasings.models import TextVectors, TextVectorsPart
from pooling.phrasings.selectors import phrasings_of, texts_hash
from pooling.policies import check_can_import_metadata

MAX_BYTES = 512 << 20
ROWS_PER_PART = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class TextVectorsUpload:
    """Embeddings of the captions and of their phrasings, to select phrasings by their distance.

    file: A row for each caption, in the order of the benchmark, and then a row for each phrasing,
        by caption and number. A later file replaces it.
    """

    file: Annotated[SourceFile, Option("File", expected="A .npy matrix", positional=True)]


class TextVectorsReport(TypedDict):
    """Stored embeddings in the result of a job and in the output of `--json`."""

    rows: int
    numbers: int
    sha256: str


def import_text_vectors(
    *,
    benchmark: Benchmark,
    path: Path,
    by: Actor,
    source: str | None = None,
    progress: Progress = no_progress,
) -> TextVectorsReport:
    """Store the embeddings of a `.npy` file instead of earlier ones.

    Raises `NotPermitted` if `by` may not import metadata, and `InvalidInput` if the file is no
    matrix with a row for each caption and phrasing, or has a number that is not finite.
    """
    check_can_import_metadata(by, benchmark)
    name = source or str(path)
    if path.stat().st_size > MAX_BYTES:
        raise InvalidInput(f"the file has more than {MAX_BYTES >> 20} MiB", source=name)
    n_phrasings = phrasings_of(benchmark).count()
    if not n_phrasings:
        raise InvalidInput("The captions have no phrasings. Import phrasings first.", source=name)
    hash_of_texts = texts_hash(benchmark)
    progress(0, None, "reading embeddings")
    vectors = read_vectors(path, benchmark.n_queries + n_phrasings, "captions and phrasings", name)
    digest = sha256_of_file(path, name)
    with long_transaction():
        lock_row(benchmark)
        TextVectors.objects.filter(benchmark=benchmark).delete()
        stored = TextVectors.objects.create(
            benchmark=benchmark,
            name=Path(name).name[:255],
            sha256=digest,
            texts_sha256=hash_of_texts,
            n_rows=len(vectors),
            n_numbers=vectors.shape[1],
        )
        for first in range(0, len(vectors), ROWS_PER_PART):
            progress(first, len(vectors), "storing embeddings")
            rows = vectors[first : first + ROWS_PER_PART].astype("<f4").tobytes()
            TextVectorsPart.objects.create(of=stored, first=first, rows=rows)
        record(PhrasingAct.TEXT_VECTORS_STORED, by=by, on=stored, after={"sha256": stored.sha256})
    return {"rows": len(vectors), "numbers": int(vectors.shape[1]), "sha256": digest}
