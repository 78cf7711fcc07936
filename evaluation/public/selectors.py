"""What visitors see of a public benchmark, and the uploads with their scores."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from annotation.enums import CampaignState
from annotation.models import Campaign, of_labels
from evaluation.models import Evaluation, LabelSet
from evaluation.release.exports import FORMATS
from evaluation.scores.findings import Finding, finding_of
from evaluation.scores.forms import TABLE_MEASURES
from evaluation.scores.moments import columns_of_moments
from evaluation.scores.selectors import stored_corrections, stored_scores
from evaluation.scores.tables import ResultRow, mark_best, mark_ranks, result_rows
from pooling.models import Benchmark, PublicPage, RunUpload
from pooling.selectors.runs import find_runs

# The formats without single judgments. FIRE JSON and the release contain them, under pseudonyms.
PUBLIC_FORMATS = {name: FORMATS[name] for name in ("csv", "qrels", "jsonl", "parquet")}


@dataclass(frozen=True, slots=True)
class PublicView:
    """A public benchmark as visitors see it.

    is_blind: whether scores and labels are hidden, because annotators still judge. Then there are
    no label sets and no rows.
    """

    benchmark: Benchmark
    page: PublicPage
    is_blind: bool
    label_sets: list[LabelSet]
    rows: list[ResultRow]
    finding: Finding | None = None

    @property
    def label_set(self) -> LabelSet | None:
        """The newest label set, by which the runs are ranked."""
        return self.label_sets[0] if self.label_sets else None


def public_view(benchmark: Benchmark) -> PublicView:
    page = benchmark.public_page
    if is_blind(benchmark, page):
        return PublicView(benchmark, page, is_blind=True, label_sets=[], rows=[])
    label_sets = list(LabelSet.objects.filter(benchmark=benchmark).select_related("benchmark"))
    label_set = label_sets[0] if label_sets else None
    measures = columns_of_moments(benchmark)[:4] or TABLE_MEASURES
    rows = result_rows(
        find_runs(benchmark),
        stored_scores(benchmark, None),
        stored_scores(benchmark, label_set) if label_set else {},
        by_labels=label_set is not None,
        corrections=stored_corrections(label_set, TABLE_MEASURES),
        measures=measures,
    )
    mark_best(rows)
    mark_ranks(rows, measures[0])
    finding = finding_of(rows, label_set)
    rows.sort(key=lambda row: (row.run.direction, row.rank is None, row.rank or 0, row.run.name))
    return PublicView(benchmark, page, False, label_sets, rows, finding)


def is_blind(benchmark: Benchmark, page: PublicPage | None) -> bool:
    """Return whether labels and scores by labels are hidden from people without a role.

    They are hidden while annotators judge, unless the page shows them, and if the benchmark is not
    public.
    """
    if page is None or page.opened_at is None:
        return True
    return not page.shows_while_judging and is_judged(benchmark)


def is_judged(benchmark: Benchmark) -> bool:
    """Return whether the benchmark has a campaign that is not closed."""
    campaigns = Campaign.objects.filter(of_labels(), benchmark=benchmark)
    return campaigns.exclude(state=CampaignState.CLOSED).exists()


@dataclass(frozen=True, slots=True)
class UploadRow:
    """An upload with the scores of its run.

    label_set: the newest one, by which the run is scored. None if there is none or if the public
    page is blind: then the run is scored by the original positives, because the uploader must not
    see what visitors do not see. row: None if there is no run.
    """

    upload: RunUpload
    label_set: LabelSet | None
    row: ResultRow | None

    @property
    def evaluation(self) -> Evaluation | None:
        return self.row.evaluation if self.row else None


def upload_rows(uploads: Iterable[RunUpload]) -> list[UploadRow]:
    """Return the uploads with their scores.

    The number of database queries depends on the number of benchmarks, not of uploads.
    """
    found = list(uploads)
    benchmarks = {upload.benchmark_id: upload.benchmark for upload in found}
    scores = {pk: _Scores(benchmark) for pk, benchmark in benchmarks.items()}
    return [scores[upload.benchmark_id].row_of(upload) for upload in found]


class _Scores:
    """The stored scores of one benchmark that people without a role may see."""

    def __init__(self, benchmark: Benchmark) -> None:
        page = PublicPage.objects.filter(benchmark=benchmark).first()
        label_sets = LabelSet.objects.filter(benchmark=benchmark)
        self.label_set = None if is_blind(benchmark, page) else label_sets.first()
        self.original = stored_scores(benchmark, None)
        self.labelled = stored_scores(benchmark, self.label_set) if self.label_set else {}
        self.corrections = stored_corrections(self.label_set, TABLE_MEASURES)

    def row_of(self, upload: RunUpload) -> UploadRow:
        if upload.run is None:
            return UploadRow(upload, self.label_set, None)
        (row,) = result_rows(
            [upload.run],
            self.original,
            self.labelled,
            by_labels=self.label_set is not None,
            corrections=self.corrections,
        )
        return UploadRow(upload, self.label_set, row)
