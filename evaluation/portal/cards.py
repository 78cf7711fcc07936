"""The cards of benchmarks on the home page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Sum

from annotation.enums import CampaignKind, CampaignState
from annotation.models import Campaign
from evaluation.models import LabelSet
from evaluation.release.selectors import BenchmarkOutcomes, recent_outcomes
from pooling.models import Benchmark, Pool, Run

JOBS_MAX = 8


@dataclass(slots=True)
class BenchmarkCard:
    """The key figures of a benchmark, for its card."""

    benchmark: Benchmark
    runs: int
    pairs: int
    label_set: LabelSet | None
    outcomes: BenchmarkOutcomes
    open_campaigns: int = 0
    open_studies: int = 0


def benchmark_cards(
    benchmarks: Sequence[Benchmark], newest: dict[int, LabelSet]
) -> list[BenchmarkCard]:
    """Return a card for each benchmark.

    The number of database queries does not depend on the number of benchmarks. newest: as
    `newest_label_sets` returns it.
    """
    runs = _counts(Run.objects.listed().values_list("benchmark").annotate(Count("pk")))
    pairs = _counts(Pool.objects.values_list("benchmark").annotate(Sum("n_new_pairs")))
    opened = Campaign.objects.filter(state=CampaignState.OPEN).order_by()
    by_kind = {
        (benchmark, kind): number
        for benchmark, kind, number in opened.values_list("benchmark", "kind").annotate(Count("pk"))
    }
    outcomes = recent_outcomes(benchmarks)
    return [
        BenchmarkCard(
            benchmark,
            runs=runs.get(benchmark.pk, 0),
            pairs=pairs.get(benchmark.pk, 0),
            label_set=newest.get(benchmark.pk),
            outcomes=outcomes[benchmark.pk],
            open_campaigns=by_kind.get((benchmark.pk, CampaignKind.JUDGING), 0),
            open_studies=by_kind.get((benchmark.pk, CampaignKind.ORDERING), 0),
        )
        for benchmark in benchmarks
    ]


def _counts(rows: Any) -> dict[int, int]:
    return dict(rows.order_by())
