"""The cards of benchmarks on the home page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, Sum

from annotation.enums import CampaignKind, CampaignState
from annotation.models import Campaign
from annotation.questions.kind import kinds, publishing
from evaluation.models import LabelSet
from evaluation.release.selectors import BenchmarkOutcomes, recent_outcomes
from hearth.shared.words import counted
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
    open_studies: list[str] = field(default_factory=list)


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
    judging = opened.filter(kind=CampaignKind.JUDGING).values_list("benchmark", "question")
    by_question: dict[int, dict[str, int]] = {}
    for benchmark_id, question, number in judging.annotate(Count("pk")):
        by_question.setdefault(benchmark_id, {})[question] = number
    outcomes = recent_outcomes(benchmarks)
    return [
        BenchmarkCard(
            benchmark,
            runs=runs.get(benchmark.pk, 0),
            pairs=pairs.get(benchmark.pk, 0),
            label_set=newest.get(benchmark.pk),
            outcomes=outcomes[benchmark.pk],
            **_open(by_question.get(benchmark.pk, {})),
        )
        for benchmark in benchmarks
    ]


def _open(campaigns: dict[str, int]) -> dict[str, Any]:
    """Return the number of open campaigns of pairs, and texts about the open studies."""
    words = {name: kind.words for name, kind in kinds().items()}
    return {
        "open_campaigns": sum(number for name, number in campaigns.items() if name in publishing()),
        "open_studies": [
            counted(number, f"open {words[name].study}", f"open {words[name].studies}")
            for name, number in campaigns.items()
            if name not in publishing()
        ],
    }


def _counts(rows: Any) -> dict[int, int]:
    return dict(rows.order_by())
