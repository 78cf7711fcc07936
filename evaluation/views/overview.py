"""The start page and the page of a benchmark: what there is, how far it is, what comes next."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from annotation.enums import CampaignKind, CampaignState, JudgmentState
from annotation.gold_selectors import Door, answered_items, doors_for, training_items
from annotation.me_selectors import unread_comments
from annotation.models import Annotator, Campaign, Judgment, Membership
from annotation.policies import can_judge, can_lead
from annotation.selectors import (
    CampaignProgress,
    campaigns_of,
    open_campaigns,
    progress_of,
    task_groups,
)
from config.accounts.roles import Role, annotates_somewhere, scopes_of
from config.jobs.models import UNFINISHED, Job
from config.jobs.policies import jobs_seen_by
from config.shared.pages import only_for
from evaluation.models import AgreementReport, LabelSet
from evaluation.selectors import (
    BenchmarkOutcomes,
    draft_state,
    latest_agreement,
    recent_outcomes,
    stored_scores,
)
from evaluation.views.figures import agreement_note, agreement_rows
from evaluation.views.originals import find_originals
from evaluation.views.tables import ResultRow, result_rows
from pooling.models import Benchmark, Pool, Run
from pooling.policies import benchmarks_seen_by, can_see_benchmarks
from pooling.selectors import find_runs, tags_of, train_splits_of

JOBS_SHOWN = 8


def _is_anybody(user: Any) -> bool:
    return bool(user.is_active)


@only_for(_is_anybody)
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    context: dict[str, Any] = {"judges": annotates_somewhere(request.user)}
    if context["judges"]:
        context |= _own_judging(request.user)
    if can_see_benchmarks(request.user):
        context |= {
            "benchmarks": _benchmark_cards(request.user),
            "jobs": jobs_seen_by(request.user)
            .filter(state__in=UNFINISHED)
            .select_related("created_by")[:JOBS_SHOWN],
        }
    return render(request, "home.html", context)


@only_for(can_see_benchmarks)
@require_safe
def benchmark(request: HttpRequest, key: str) -> HttpResponse:
    found = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    label_sets = list(LabelSet.objects.filter(benchmark=found).select_related("created_by"))
    rows = _run_rows(found, label_sets[0] if label_sets else None)
    pools = list(found.pools.select_related("created_by").prefetch_related("runs"))
    campaigns = _campaign_rows(request.user, found)
    agreement = latest_agreement(found)
    card = BenchmarkCard(
        found,
        runs=len(rows),
        pairs=sum(pool.n_new_pairs for pool in pools),
        label_set=None,
        outcomes=recent_outcomes([found])[found.pk],
    )
    latest, drafted = label_sets[0] if label_sets else None, draft_state(found)
    context = {
        "benchmark": found,
        "can_lead": can_lead(request.user, found),
        "card": card,
        "rows": rows,
        "unscored": any(not row.is_scored for row in rows),
        "pools": pools,
        "campaigns": campaigns,
        "label_sets": label_sets,
        "latest": latest,
        "drafted": drafted,
        "splits": list(train_splits_of(found)),
        "tags": list(tags_of(found)),
        "originals": find_originals(found, latest or drafted.draft),
        "agreement": agreement,
        **_agreement_context(agreement),
        "jobs": Job.objects.filter(benchmark_key=found.key).select_related("created_by")[
            :JOBS_SHOWN
        ],
        "next_step": _next_step(card, campaigns, bool(label_sets)),
    }
    return render(request, "evaluation/benchmark.html", context)


def _agreement_context(report: AgreementReport | None) -> dict[str, Any]:
    """Return the table of agreement; nothing for a report of older code without first labels."""
    if report is None or "first_labels" not in report.result:
        return {"agreement_rows": []}
    return {
        "agreement_rows": agreement_rows(report.result),
        "agreement_note": agreement_note(report.result),
    }


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


@dataclass(frozen=True, slots=True)
class CampaignRow:
    """A campaign in the list. `progress` is None for a closed one, which is not counted again."""

    campaign: Campaign
    can_judge: bool
    progress: CampaignProgress | None


def _benchmark_cards(user: Any) -> list[BenchmarkCard]:
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


@dataclass(frozen=True, slots=True)
class TrainingCard:
    """A training queue as one person sees it, with the campaigns that it opens."""

    campaign: Campaign
    items: int
    answered: int
    doors: list[Door]

    @property
    def is_done(self) -> bool:
        return self.answered >= self.items

    @property
    def is_needed(self) -> bool:
        """Some campaign waits for it."""
        return any(door.is_behind_gate for door in self.doors)


def _own_judging(user: Any) -> dict[str, Any]:
    """What a person judges and has judged: own counts only, never another's."""
    annotator = Annotator.objects.filter(user=user).first()
    found = list(open_campaigns(scopes_of(user, Role.ANNOTATOR)))
    doors = doors_for(annotator, [one for one in found if not one.is_training])
    trainings = [_training_card(one, annotator, doors) for one in found if one.is_training]
    queues = {card.campaign.benchmark_id: card.campaign for card in trainings}
    judging = Q(annotator=annotator, campaign__kind=CampaignKind.JUDGING)
    memberships = list(Membership.objects.filter(judging).select_related("campaign"))
    midnight = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    today = Judgment.objects.filter(
        annotator=annotator,
        created_at__gte=midnight,
        task__campaign__kind=CampaignKind.JUDGING,
    ).exclude(state=JudgmentState.SUPERSEDED)
    return {
        "open_campaigns": [(door, queues.get(door.campaign.benchmark_id)) for door in doors],
        # What others wait for comes first.
        "trainings_needed": [card for card in trainings if card.is_needed],
        "trainings": [card for card in trainings if not card.is_needed],
        "past_campaigns": [
            (one.campaign, one.answered)
            for one in memberships
            if one.answered and one.campaign.state != CampaignState.OPEN
        ],
        "judged_ever": sum(one.answered for one in memberships),
        "judged_today": today.count(),
        "unread": unread_comments(annotator) if annotator else 0,
    }


def _training_card(
    campaign: Campaign, annotator: Annotator | None, doors: list[Door]
) -> TrainingCard:
    return TrainingCard(
        campaign,
        items=training_items(campaign),
        answered=answered_items(campaign, annotator) if annotator else 0,
        doors=[
            door
            for door in doors
            if door.campaign.has_gate and door.campaign.benchmark_id == campaign.benchmark_id
        ],
    )


def _run_rows(found: Benchmark, latest: LabelSet | None) -> list[ResultRow]:
    labelled = {} if latest is None else stored_scores(found, latest)
    runs: Iterable[Run] = find_runs(found)
    return result_rows(runs, stored_scores(found, None), labelled, by_labels=latest is not None)


def _campaign_rows(user: Any, found: Benchmark) -> list[CampaignRow]:
    campaigns = list(campaigns_of(found))
    groups = task_groups(one for one in campaigns if one.state != CampaignState.CLOSED)
    progress = {
        one.pk: progress_of(one, groups[one.pk], surplus=0) for one in campaigns if one.pk in groups
    }
    return [CampaignRow(one, can_judge(user, one), progress.get(one.pk)) for one in campaigns]


def _next_step(card: BenchmarkCard, campaigns: list[CampaignRow], has_labels: bool) -> str:
    """The name of what is missing next on the way from runs to scores."""
    if not card.runs:
        return "run"
    if not card.pairs:
        return "pool"
    if not campaigns:
        return "campaign"
    if not card.outcomes.counts.settled and not has_labels:
        return "judge"
    return "results" if has_labels else "publish"
