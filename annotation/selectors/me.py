"""An annotator's own work."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Sum
from django.utils import timezone

from annotation.enums import (
    CampaignKind,
    CampaignState,
    Joining,
    JudgmentState,
    TaskState,
)
from annotation.models import (
    Annotator,
    Campaign,
    Judgment,
    JudgmentTask,
    Membership,
    ReviewComment,
    of_labels,
)
from annotation.selectors.campaigns import open_campaigns
from annotation.selectors.gold import training_of
from annotation.selectors.left import CAPPED_SECONDS, Left, left_for
from annotation.selectors.members import CampaignAccess, accesses_for
from annotation.selectors.training import DEFAULT_LAST
from hearth.accounts.roles import Scopes

DAYS_MAX = 14
COMMENTS_MAX = 50

# Answers that are neither corrected nor withdrawn.
IS_VALID = ~Q(state__in=[JudgmentState.SUPERSEDED, JudgmentState.WITHDRAWN])
IS_TRAINING_ANSWER = IS_VALID & Q(task__campaign__kind=CampaignKind.TRAINING)


def is_pair_judged() -> Q:
    """Return the condition that the home page and My work count an answer as a judged pair.

    Control pairs in judging campaigns are included. Training is counted separately.
    """
    return IS_VALID & of_labels("task__campaign__")


@dataclass(frozen=True, slots=True)
class OwnWork:
    """The work of one annotator.

    pairs: number of pairs judged, in total. pairs_today, training_today: pairs judged and training
    answers since midnight. seconds_today: time of all answers since midnight, each up to
    `SECONDS_EACH` of `annotation.selectors.left`.
    """

    pairs: int
    pairs_today: int
    training_today: int
    seconds_today: float


@dataclass(frozen=True, slots=True)
class OwnCampaign:
    """An annotator's access to a campaign, what is left for them there, and its training.

    left: None if the campaign is closed.
    """

    access: CampaignAccess
    left: Left | None
    training: Campaign | None

    @property
    def campaign(self) -> Campaign:
        return self.access.campaign

    @property
    def answered(self) -> int:
        return self.access.answered

    @property
    def is_open(self) -> bool:
        return self.campaign.state == CampaignState.OPEN


@dataclass(frozen=True, slots=True)
class Training:
    """An annotator's progress in a training queue.

    right: whether each training answer was correct, newest first. campaigns: access to the
    campaigns that have an entry requirement.
    """

    campaign: Campaign
    total: int
    answered: int
    right: Sequence[bool]
    campaigns: list[CampaignAccess]

    @property
    def recent(self) -> Sequence[bool]:
        return self.right[:DEFAULT_LAST]

    @property
    def recent_right(self) -> int:
        return sum(self.recent)


def own_work(annotator: Annotator, midnight: datetime.datetime) -> OwnWork:
    """Return the work of an annotator. The time of corrected and withdrawn answers counts."""
    members = Membership.objects.filter(of_labels("campaign__"), annotator=annotator)
    pairs = members.aggregate(n=Sum(F("judged") + F("gold_judged"), default=0))["n"]
    today = Judgment.objects.filter(annotator=annotator, created_at__gte=midnight).aggregate(
        pairs_today=Count("pk", filter=is_pair_judged()),
        training_today=Count("pk", filter=IS_TRAINING_ANSWER),
        seconds_today=Sum(CAPPED_SECONDS, default=0.0),
    )
    return OwnWork(pairs=pairs, **today)


def pairs_per_day(
    annotator: Annotator, midnight: datetime.datetime
) -> list[tuple[datetime.date, int]]:
    """Return the number of pairs judged on each of the last days, the oldest first."""
    days = [midnight - datetime.timedelta(days=ago) for ago in reversed(range(DAYS_MAX))]
    ends = [*days[1:], midnight + datetime.timedelta(days=1)]
    mine = Judgment.objects.filter(annotator=annotator, created_at__gte=days[0])
    # One count per day, because extracting the days from the time stamps takes SQLite longer.
    counts = mine.filter(is_pair_judged()).aggregate(
        **{
            f"day_{place}": Count("pk", filter=Q(created_at__gte=start, created_at__lt=end))
            for place, (start, end) in enumerate(zip(days, ends, strict=True))
        }
    )
    return [(day.date(), counts[f"day_{place}"]) for place, day in enumerate(days)]


def own_campaigns(
    annotator: Annotator, scopes: Scopes, trainings: Iterable[Training]
) -> list[OwnCampaign]:
    """Return the campaigns that the annotator can join or is a member of, open ones first.

    Studies are included. trainings: the annotator's open training queues.
    """
    here = Campaign.objects.filter(kind=CampaignKind.JUDGING, source_sha256="")
    for_all = scopes.limit(
        here.filter(state=CampaignState.OPEN, joining=Joining.ALL), "benchmark__key"
    )
    joined = here.filter(members__annotator=annotator)
    campaigns = list((for_all | joined).select_related("benchmark").distinct())
    campaigns.sort(key=lambda campaign: campaign.state != CampaignState.OPEN)
    accesses = accesses_for(annotator, campaigns)
    is_running = [one for one in accesses if one.campaign.state != CampaignState.CLOSED]
    left = left_for(annotator, is_running)
    queues = {training.campaign.benchmark_id: training.campaign for training in trainings}
    return [
        OwnCampaign(access, left.get(access.campaign.pk), queues.get(access.campaign.benchmark_id))
        for access in accesses
    ]


def open_trainings(annotator: Annotator, scopes: Scopes) -> list[Training]:
    """Return the open training queues of the benchmarks in which the annotator can judge."""
    queues = Campaign.objects.filter(kind=CampaignKind.TRAINING, state=CampaignState.OPEN)
    found = scopes.limit(queues.select_related("benchmark"), "benchmark__key")
    return _trainings(annotator, list(found))


def training_in(campaign: Campaign, annotator: Annotator) -> Training:
    return _trainings(annotator, [campaign])[0]


def _trainings(annotator: Annotator, campaigns: list[Campaign]) -> list[Training]:
    """Return the progress in each queue. The number of database queries is constant."""
    benchmarks = {campaign.benchmark_id for campaign in campaigns}
    right = training_of(annotator, benchmarks)
    counts = item_counts(annotator, campaigns)
    with_requirement = open_campaigns().filter(benchmark__in=benchmarks, gate_last__gt=0)
    accesses = accesses_for(annotator, with_requirement.exclude(kind=CampaignKind.TRAINING))
    return [
        Training(
            campaign,
            *counts.get(campaign.pk, (0, 0)),
            right=right.get(campaign.benchmark_id, []),
            campaigns=[
                access
                for access in accesses
                if access.campaign.benchmark_id == campaign.benchmark_id
            ],
        )
        for campaign in campaigns
    ]


def item_counts(
    annotator: Annotator | None, campaigns: Iterable[Campaign]
) -> dict[int, tuple[int, int]]:
    """Return the number of items in each training queue, and how many the person has answered.

    Queues without items are left out.
    """
    mine = Judgment.objects.filter(
        task=OuterRef("pk"), annotator=annotator, state=JudgmentState.GOLD
    )
    items = JudgmentTask.objects.filter(
        campaign__in=campaigns,
        gold__isnull=False,
        gold__retired_at=None,
        state=TaskState.OPEN,
    )
    rows = items.values_list("campaign").annotate(
        total=Count("pk"), answered=Count("pk", filter=Exists(mine))
    )
    return {campaign: (total, answered) for campaign, total, answered in rows.order_by()}


def comments_for(annotator: Annotator) -> QuerySet[ReviewComment]:
    """Return leads' comments on the annotator's answers in training: unread first, then newest."""
    found = ReviewComment.objects.filter(judgment__annotator=annotator).exclude(text="")
    return found.select_related(
        "judgment__task__campaign", "judgment__task__gold__query", "judgment__task__gold__video"
    ).order_by(F("read_at").asc(nulls_first=True), "-pk")


def unread_comments(annotator: Annotator) -> int:
    return comments_for(annotator).filter(read_at=None).count()


def midnight_now() -> datetime.datetime:
    return timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
