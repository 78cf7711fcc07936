"""The figures of benchmarks at a glance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Sum

from annotation.enums import CampaignKind, CampaignState
from annotation.models import Campaign
from evaluation.models import LabelSet
from evaluation.release.selectors import BenchmarkOutcomes, recent_outcomes
from pooling.models import Benchmark, Pool, Run
from pooling.policies import benchmarks_seen_by

JOBS_SHOWN = 8


@dataclass(slots=True)
class BenchmarkCard:
    """The figures of a benchmark at a glance."""

    benchmark: Benchmark
    runs: int
    pairs: int
    label_set: LabelSet | None
    outcomes: BenchmarkOutcomes
    open_campaigns: int = 0

    @property
    def has_labels(self) -> bool:
        counts = self.outcomes.counts
        return counts.settled + counts.unsettled > 0


def benchmark_cards(user: Any) -> list[BenchmarkCard]:
    """The benchmarks that the person sees: as many queries however many there are."""
    runs = _counts(Run.objects.values_list("benchmark").annotate(Count("pk")))
    pairs = _counts(Pool.objects.values_list("benchmark").annotate(Sum("n_new_pairs")))
    campaigns = _counts(
        Campaign.objects.filter(state=CampaignState.OPEN, kind=CampaignKind.JUDGING)
        .values_list("benchmark")
        .annotate(Count("pk"))
    )
    # Newest first within a benchmark, so the first one of each is kept.
    latest: dict[int, LabelSet] = {}
    for label_set in LabelSet.objects.defer("file", "judgments_file"):
        latest.setdefault(label_set.benchmark_id, label_set)
    benchmarks = list(benchmarks_seen_by(user))
    outcomes = recent_outcomes(benchmarks)
    return [
        BenchmarkCard(
            found,
            runs=runs.get(found.pk, 0),
            pairs=pairs.get(found.pk, 0),
            label_set=latest.get(found.pk),
            outcomes=outcomes[found.pk],
            open_campaigns=campaigns.get(found.pk, 0),
        )
        for found in benchmarks
    ]


def _counts(rows: Any) -> dict[int, int]:
    return dict(rows.order_by())
