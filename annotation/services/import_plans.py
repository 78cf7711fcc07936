"""Planning the import of a file of judgments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from annotation.core.readers.judgments import CSV, JUDGMENTS, NO_TIME, JudgmentsFile
from annotation.enums import LABELS, Scale
from annotation.models import Campaign
from annotation.policies import check_can_lead
from annotation.services.imports import codes_of_file, read_file, repeats, task_keys
from hearth.accounts.actors import Actor
from hearth.shared.errors import InvalidInput
from hearth.shared.options import Entry, Option, SentFile, arguments_of
from hearth.shared.progress import Progress, no_progress
from pooling.core.lines import SourceFile
from pooling.core.pool import union_codes
from pooling.core.readers.registry import AUTO
from pooling.models import Benchmark
from pooling.selectors.arrays import query_keys, video_keys
from pooling.selectors.pools import pair_arrays

# The maximum number of judgments that a plan shows.
ROWS_SHOWN = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportJudgments:
    """A file of judgments made elsewhere.

    pool_equal: If not selected, each label applies only to its own caption. Labels of FIRE JSON are
        always shared, because FIRE JSON contains texts instead of keys.
    data_set: Only for a FIRE file with several data sets: the name of one, such as MSVD.
    columns: Names of the columns in the file, such as annotator=WorkerId, one per line. By default,
        the usual names.
    values: Labels for the texts in the file, such as yes=1, one per line.
    licence: For example, the licence of the repository that contains the file. A licence in the
        file is stored, too, even if the two contradict each other.
    """

    file: Annotated[
        SourceFile,
        Option(
            "File",
            f"{JUDGMENTS.listed()}, in UTF-8, optionally gzipped.",
            expected=JUDGMENTS.listed(),
            positional=True,
        ),
    ]
    format: Annotated[str, Option("Format", choices=JUDGMENTS.choices, may_be_empty=True)] = AUTO
    scale: Annotated[Scale, Option("Scale", may_be_empty=True)] = Scale.BINARY
    pool_equal: Annotated[bool, Option("Share labels among captions with equal texts")] = False
    data_set: Annotated[str, Option("Data set", length=100)] = ""
    columns: Annotated[
        tuple[str, ...],
        Option("Columns", entry=Entry.LINES, flag="column", metavar="COLUMN=NAME", length=300),
    ] = ()
    values: Annotated[
        tuple[str, ...],
        Option("Values", entry=Entry.LINES, flag="value", metavar="TEXT=LABEL", length=300),
    ] = ()
    licence: Annotated[str, Option("Licence stated elsewhere", length=300)] = ""

    def of_plan(self) -> dict[str, Any]:
        """Return the arguments that `plan_judgments` and `import_judgments` share."""
        found = arguments_of(self) | {"pool_equal": self.pool_equal or None}
        del found["licence"]
        return found


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What importing a file of judgments would store.

    new_pairs: number of pairs that no pool contains. repeated: number of further labels of a task
    by the same annotator, which would not count. labels: number of judgments by label. licences:
    the licences that the file states. first_rows: caption, video, annotator and label of the first
    judgments. Annotators have numbers there instead of names, because a job can store the plan, and
    researchers can see jobs. campaign: the primary key of the campaign if the file was imported
    before.
    """

    format: str
    sha256: str
    judgments: int
    pairs: int
    new_pairs: int
    annotators: int
    has_annotators: bool
    has_times: bool
    pool_equal: bool
    repeated: int
    labels: dict[str, int]
    licences: tuple[str, ...]
    notes: tuple[str, ...]
    first_rows: tuple[tuple[str, str, str, str], ...]
    campaign: int | None


def is_table_of_judgments(file: SentFile) -> bool:
    """Return whether a file would be read as a table, whose columns a person can select."""
    try:
        return JUDGMENTS.choose(SourceFile.at(file.path, file.source)).name == CSV
    except InvalidInput:
        return False


def plan_judgments(
    *,
    benchmark: Benchmark,
    path: Path,
    by: Actor,
    source: str | None = None,
    format: str = AUTO,
    scale: Scale = Scale.BINARY,
    pool_equal: bool | None = None,
    data_set: str = "",
    columns: Sequence[str] = (),
    values: Sequence[str] = (),
    progress: Progress = no_progress,
) -> ImportPlan:
    """Check a file as `import_judgments` does, and return the plan of its import."""
    check_can_lead(by, benchmark)
    file = read_file(
        *(benchmark, path, format, scale, data_set, source, progress),
        columns=columns,
        values=values,
    )
    shared = file.has_texts if pool_equal is None else pool_equal
    codes = codes_of_file(benchmark, file)
    pairs = union_codes([codes])
    pooled = union_codes([pairs, benchmark.pair_space.encode(*file.unjudged)])
    task_of = np.unique(task_keys(benchmark, codes, shared), return_inverse=True)[1].reshape(-1)
    earlier = Campaign.objects.filter(benchmark=benchmark, source_sha256=file.sha256)
    names = LABELS[scale]
    labels, counts = np.unique(file.labels, return_counts=True)
    return ImportPlan(
        format=file.format,
        sha256=file.sha256,
        judgments=len(file.labels),
        pairs=len(pairs),
        new_pairs=len(np.setdiff1d(pooled, pair_arrays(benchmark).codes)),
        annotators=len(file.annotator_keys),
        has_annotators=file.has_annotators,
        has_times=bool((file.times != NO_TIME).any()),
        pool_equal=shared,
        repeated=int(repeats(task_of, file.annotators).sum()),
        labels={names[v]: n for v, n in zip(labels.tolist(), counts.tolist(), strict=True)},
        licences=file.licences,
        notes=file.notes,
        first_rows=_first_rows(benchmark, file),
        campaign=earlier.values_list("pk", flat=True).first(),
    )


def _first_rows(benchmark: Benchmark, file: JudgmentsFile) -> tuple[tuple[str, str, str, str], ...]:
    queries, videos = query_keys(benchmark), video_keys(benchmark)
    rows = zip(
        file.queries[:ROWS_SHOWN].tolist(),
        file.videos[:ROWS_SHOWN].tolist(),
        file.annotators[:ROWS_SHOWN].tolist(),
        file.labels[:ROWS_SHOWN].tolist(),
        strict=True,
    )
    return tuple((queries[q], videos[v], f"annotator {a + 1}", str(la)) for q, v, a, la in rows)
