"""Counts for the home page and the pages of a benchmark.

The number of database queries does not depend on the number of benchmarks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, Count, OuterRef, Q, QuerySet, Subquery, When

from annotation.enums import CampaignKind, CampaignState, MembershipState, TaskState
from annotation.models import IS_AT_DESK, Campaign, JudgmentTask, Membership
from evaluation.models import NEWEST_FIRST, Evaluation, LabelSet
from evaluation.scores.forms import JUDGED
from evaluation.scores.tables import value_of
from hearth.accounts.models import Grant, User
from hearth.shared.numbers import Figure
from pooling.models import Benchmark, Run


@dataclass(frozen=True, slots=True)
class CampaignCount:
    """A count for one campaign."""

    campaign: Campaign
    count: int


@dataclass(frozen=True, slots=True)
class RunScore:
    """A run with the judged share of its top ten under the newest labels of its benchmark.

    judged: undefined if the run is not scored by these labels, or if it has no ranked videos.
    """

    run: Run
    label_set: LabelSet | None
    judged: Figure


def newest_label_sets(benchmarks: Iterable[Benchmark]) -> dict[int, LabelSet]:
    """Return the newest label set by the benchmark's primary key, for benchmarks that have one."""
    of_same = LabelSet.objects.filter(benchmark=OuterRef("benchmark")).order_by(*NEWEST_FIRST)
    found = LabelSet.objects.filter(
        benchmark__in=benchmarks, pk=Subquery(of_same.values("pk")[:1])
    ).defer("file", "judgments_file", "agreement")
    return {label_set.benchmark_id: label_set for label_set in found}


def recent_label_sets(benchmarks: Iterable[Benchmark], limit: int) -> list[LabelSet]:
    """Return the label sets that were published last, newest first."""
    found = LabelSet.objects.filter(benchmark__in=benchmarks).order_by("-created_at", "-pk")
    return list(
        found.select_related("benchmark").defer("file", "judgments_file", "agreement")[:limit]
    )


def unscored_runs(benchmarks: Sequence[Benchmark], newest: dict[int, LabelSet]) -> dict[int, int]:
    """Return the number of unscored runs by the benchmark's primary key.

    A run is unscored if it has no scores by the newest label set, or by the original positives if
    there is no label set. newest: as `newest_label_sets` returns it.
    """
    runs = Run.objects.listed().filter(benchmark__in=benchmarks).order_by()
    evaluations = _newest_evaluations(newest).filter(run__benchmark__in=benchmarks)
    scored = set(evaluations.values_list("run_id", "label_set_id"))
    counts = dict.fromkeys((benchmark.pk for benchmark in benchmarks), 0)
    for pk, benchmark in runs.values_list("pk", "benchmark_id"):
        label_set = newest.get(benchmark)
        counts[benchmark] += (pk, label_set and label_set.pk) not in scored
    return counts


def recent_runs(
    benchmarks: Iterable[Benchmark], newest: dict[int, LabelSet], limit: int, *, by: Any
) -> list[RunScore]:
    """Return at most `limit` runs, newest first. The runs of the person `by` precede all others."""
    listed = Run.objects.listed().filter(benchmark__in=benchmarks)
    runs = listed.select_related("benchmark", "created_by")
    is_other = Case(When(created_by=by, then=0), default=1)
    found = list(runs.order_by(is_other, "-created_at", "-pk")[:limit])
    evaluations = {
        (evaluation.run_id, evaluation.label_set_id): evaluation
        for evaluation in _newest_evaluations(newest).filter(run__in=found)
    }
    rows = []
    for run in found:
        label_set = newest.get(run.benchmark_id)
        evaluation = evaluations.get((run.pk, label_set.pk if label_set else None))
        rows.append(RunScore(run, label_set, value_of(evaluation, JUDGED)))
    return rows


def _newest_evaluations(newest: dict[int, LabelSet]) -> QuerySet[Evaluation]:
    by_labels = Q(label_set__in=[label_set.pk for label_set in newest.values()])
    return Evaluation.objects.filter(by_labels | Q(label_set=None), labels_only=False)


def desk_counts(benchmarks: Iterable[Benchmark]) -> dict[TaskState, list[CampaignCount]]:
    """Return the numbers of tasks at the desks, by state and campaign, largest first."""
    tasks = JudgmentTask.objects.filter(
        IS_AT_DESK, campaign__benchmark__in=benchmarks, exclusion__isnull=True
    )
    rows = tasks.order_by().values_list("state", "campaign").annotate(n=Count("pk"))
    return {
        TaskState(state): found
        for state, found in _by_campaign([(state, pk, n) for state, pk, n in rows]).items()
    }


def paused_annotators(benchmarks: Iterable[Benchmark]) -> list[CampaignCount]:
    """Return the numbers of paused annotators by campaign, without closed campaigns."""
    paused = Membership.objects.filter(
        state=MembershipState.PAUSED,
        campaign__benchmark__in=benchmarks,
        campaign__kind=CampaignKind.JUDGING,
    ).exclude(campaign__state=CampaignState.CLOSED)
    rows = paused.order_by().values_list("campaign").annotate(n=Count("pk"))
    return _by_campaign([("", pk, n) for pk, n in rows]).get("", [])


def _by_campaign(rows: list[tuple[str, int, int]]) -> dict[str, list[CampaignCount]]:
    """Return the counts by name, the largest first. rows: name, campaign's primary key, count."""
    campaigns = Campaign.objects.select_related("benchmark").in_bulk([pk for _, pk, _ in rows])
    found: dict[str, list[CampaignCount]] = {}
    for name, pk, count in sorted(rows, key=lambda row: (-row[2], -row[1])):
        found.setdefault(name, []).append(CampaignCount(campaigns[pk], count))
    return found


def people_of(people: QuerySet[User], benchmark: Benchmark) -> QuerySet[User]:
    """Return those of `people` who hold a role in the benchmark, or in all benchmarks."""
    grants = Grant.objects.filter(scope=benchmark.key)
    groups = User.groups.through.objects.all()
    return people.filter(
        Q(is_superuser=True) | Q(pk__in=grants.values("user")) | Q(pk__in=groups.values("user"))
    )


def paused_memberships(benchmark: Benchmark, people: Iterable[User]) -> dict[int, list[Membership]]:
    """Return the paused memberships of people in campaigns that are not closed, by person."""
    rows = (
        Membership.objects.filter(
            state=MembershipState.PAUSED,
            campaign__benchmark=benchmark,
            campaign__kind=CampaignKind.JUDGING,
            annotator__user__in=people,
        )
        .exclude(campaign__state=CampaignState.CLOSED)
        .select_related("campaign", "annotator")
    )
    found: dict[int, list[Membership]] = {}
    for membership in rows:
        found.setdefault(membership.annotator.user_id or 0, []).append(membership)
    return found
