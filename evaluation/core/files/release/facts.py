"""The facts about a label set that the documents of a release state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluation.core.files.rows import Column
from pooling.core.direction import Direction

LABELS, JUDGMENTS, QRELS, TABLE, JUDGMENTS_TABLE, SPANS, SPANS_TABLE = (
    "labels.csv.gz",
    "judgments.csv.gz",
    "labels.qrels",
    "data/labels.parquet",
    "data/judgments.parquet",
    "spans.csv.gz",
    "data/spans.parquet",
)
# What each file contains, by its path.
CONTENTS = {
    TABLE: "the labels as a table, one row per pair of a caption and a video",
    JUDGMENTS_TABLE: "the single judgments as a table, under pseudonyms of this release alone",
    LABELS: "the same labels as CSV; the SHA-256 of the uncompressed file identifies the label set",
    JUDGMENTS: "the same judgments as CSV",
    QRELS: "TREC qrels: the labels together with the original positives",
    SPANS_TABLE: "the times at which captions are relevant, as a table, one row per span",
    SPANS: "the same spans as CSV; its first line counts the relevant pairs without a span",
}


@dataclass(frozen=True, slots=True)
class Publisher:
    name: str
    email: str
    website: str


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A run that existed when the labels were published.

    scores: shares by measure; empty if the run has been withdrawn since.
    """

    name: str
    system: str
    sha256: str
    depth: int
    scores: Mapping[str, float | None]
    is_withdrawn: bool = False
    direction: str = Direction.TEXT_TO_VIDEO

    @property
    def title(self) -> str:
        """The name. For a video-to-text run, the direction is added unless the name contains it."""
        if self.direction == Direction.TEXT_TO_VIDEO or self.direction in self.name:
            return self.name
        return f"{self.name} ({self.direction})"


@dataclass(frozen=True, slots=True)
class VersionFacts:
    """One label set of the benchmark. published: its date in ISO 8601."""

    version: str
    published: str
    sha256: str
    pairs: int
    relevant: int
    judgments: int


@dataclass(frozen=True, slots=True)
class AgreementFacts:
    """Agreement of the planned labels of each pair; None if undefined."""

    pairs: int
    agreement: float | None
    alpha: float | None
    alpha_interval: Sequence[float] | None


@dataclass(frozen=True, slots=True)
class SpanFacts:
    """The spans file. unsettled: relevant pairs for which people did not agree on a span."""

    sha256: str
    spans: int
    unsettled: int


@dataclass(frozen=True, slots=True)
class ReleaseFacts:
    """A label set, and its sources.

    stem: the name of the release in file names. labels: the figures of this label set. undecided:
    number of pairs without a label. original_positives: number of original positives. hub_id: the
    name of the data set on the Hugging Face Hub. earlier: the label sets before this one, newest
    first. columns, judgment_columns: the columns of the tables of labels and of judgments.
    """

    stem: str
    benchmark: str
    name: str
    description: str
    licence: str
    captions: int
    videos: int
    original_positives: int
    captions_sha256: str
    labels: VersionFacts
    undecided: int
    judgments_sha256: str
    annotators: int
    campaigns: int
    agreement: AgreementFacts | None
    code_version: str
    runs: Sequence[RunFacts]
    earlier: Sequence[VersionFacts]
    publisher: Publisher
    hub_id: str
    columns: Sequence[Column]
    judgment_columns: Sequence[Column]
    spans: SpanFacts | None = None

    @property
    def contents(self) -> dict[str, str]:
        """What each data file contains, by its path."""
        without = () if self.spans else (SPANS, SPANS_TABLE)
        return {path: text for path, text in CONTENTS.items() if path not in without}

    @property
    def scored_runs(self) -> list[RunFacts]:
        """The runs whose scores are published: those that are not withdrawn."""
        return [run for run in self.runs if not run.is_withdrawn]


@dataclass(frozen=True, slots=True)
class FileFacts:
    """A file of the release. size: the size in bytes."""

    path: str
    sha256: str
    size: int
