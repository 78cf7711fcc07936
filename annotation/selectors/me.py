"""What a person is shown of their own work, and of nobody else's."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.core.cache import cache
from django.db.models import Case, Count, Exists, F, OuterRef, Q, QuerySet, Sum, Value, When
from django.utils import timezone

from annotation.enums import CampaignKind, CampaignState, Joining, JudgmentState, TaskState
from annotation.models import Annotator, Campaign, Judgment, JudgmentTask, Membership, ReviewComment
from annotation.selectors.campaigns import open_campaigns
from annotation.selectors.gold import training_of
from annotation.selectors.members import CampaignAccess, accesses_for
from annotation.selectors.training import DEFAULT_LAST
from config.accounts.roles import Scopes

# Longer than this, and the person was probably away from the screen.
SECONDS_EACH = 120.0
DAYS_SHOWN = 14
COMMENTS_SHOWN = 50
# Counting 600,000 of them takes a third of a second, and the figure is a rough one anyway.
OPEN_PAIRS = "open-pairs-{}"
OPEN_PAIRS_FOR_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Today:
    """Answers since midnight, and the seconds that they took, each up to `SECONDS_EACH`."""

    answers: int
    seconds: float


@dataclass(frozen=True, slots=True)
class OwnCampaign:
    """A campaign with what the person did there, and the pairs in it that nobody holds."""

    campaign: Campaign
    answered: int
    open_pairs: int
    paused: str

    @property
    def is_open(self) -> bool:
        return self.campaign.state == CampaignState.OPEN


@dataclass(frozen=True, slots=True)
class Training:
    """A person in a training queue: how many of its items they have answered, whether their last
    answers (newest first) were right, and what that opens."""

    campaign: Campaign
    total: int
    answered: int
    right: Sequence[bool]
    gates: list[CampaignAccess]

    @property
    def recent(self) -> Sequence[bool]:
        return self.right[:DEFAULT_LAST]

    @property
    def right_lately(self) -> int:
        return sum(self.recent)


def work_today(annotator: Annotator, midnight: datetime.datetime) -> Today:
    """Corrected answers count once, and their time counts: it was spent."""
    capped = Case(When(seconds__gt=SECONDS_EACH, then=Value(SECONDS_EACH)), default=F("seconds"))
    work = Judgment.objects.filter(annotator=annotator, created_at__gte=midnight).aggregate(
        answers=Count("pk", filter=~Q(state=JudgmentState.SUPERSEDED)),
        seconds=Sum(capped, default=0.0),
    )
    return Today(**work)


def answers_per_day(
    annotator: Annotator, midnight: datetime.datetime
) -> list[tuple[datetime.date, int]]:
    """The last days, the oldest first: one pass over the person's judgments of these days."""
    days = [midnight - datetime.timedelta(days=ago) for ago in reversed(range(DAYS_SHOWN))]
    ends = [*days[1:], midnight + datetime.timedelta(days=1)]
    mine = Judgment.objects.filter(annotator=annotator, created_at__gte=days[0])
    # One count with a condition each: to cut the days out of the time stamps takes SQLite longer.
    counts = mine.exclude(state=JudgmentState.SUPERSEDED).aggregate(
        **{
            f"day_{place}": Count("pk", filter=Q(created_at__gte=start, created_at__lt=end))
            for place, (start, end) in enumerate(zip(days, ends, strict=True))
        }
    )
    return [(day.date(), counts[f"day_{place}"]) for place, day in enumerate(days)]


def own_campaigns(annotator: Annotator, scopes: Scopes) -> list[OwnCampaign]:
    """Rounds of judging that are open to the person or that they judged in, open ones first."""
    memberships = {
        one.campaign_id: one
        for one in Membership.objects.filter(annotator=annotator).select_related("campaign")
    }
    judging = Campaign.objects.filter(kind=CampaignKind.JUDGING, source_sha256="")
    everybodys = scopes.limit(
        judging.filter(state=CampaignState.OPEN, joining=Joining.ALL), "benchmark__key"
    )
    campaigns = list(
        (everybodys | judging.filter(pk__in=memberships)).select_related("benchmark").distinct()
    )
    campaigns.sort(key=lambda campaign: campaign.state != CampaignState.OPEN)
    left = open_pairs([one for one in campaigns if one.state != CampaignState.CLOSED])
    return [
        OwnCampaign(
            campaign,
            answered=memberships[campaign.pk].answered if campaign.pk in memberships else 0,
            open_pairs=left.get(campaign.pk, 0),
            paused=memberships[campaign.pk].reason if campaign.pk in memberships else "",
        )
        for campaign in campaigns
    ]


def open_pairs(campaigns: Iterable[Campaign]) -> dict[int, int]:
    """How many tasks of each campaign have an open seat, as of up to a minute ago."""
    wanted = [campaign.pk for campaign in campaigns]
    known = {pk: cache.get(OPEN_PAIRS.format(pk)) for pk in wanted}
    missing = [pk for pk, count in known.items() if count is None]
    if not missing:
        return known
    tasks = JudgmentTask.objects.filter(campaign__in=missing, seats_open__gt=0)
    counts = dict(tasks.values_list("campaign").annotate(Count("pk")).order_by())
    known |= {pk: counts.get(pk, 0) for pk in missing}
    cache.set_many({OPEN_PAIRS.format(pk): known[pk] for pk in missing}, OPEN_PAIRS_FOR_SECONDS)
    return known


def open_trainings(annotator: Annotator, scopes: Scopes) -> list[Training]:
    """The open training queues of the benchmarks in which the person may judge."""
    queues = Campaign.objects.filter(kind=CampaignKind.TRAINING, state=CampaignState.OPEN)
    found = scopes.limit(queues.select_related("benchmark"), "benchmark__key")
    return _trainings(annotator, list(found))


def training_in(campaign: Campaign, annotator: Annotator) -> Training:
    return _trainings(annotator, [campaign])[0]


def _trainings(annotator: Annotator, campaigns: list[Campaign]) -> list[Training]:
    """As many questions however many queues there are."""
    benchmarks = {campaign.benchmark_id for campaign in campaigns}
    right = training_of(annotator, benchmarks)
    counts = _counts(annotator, campaigns)
    gated = open_campaigns().filter(benchmark__in=benchmarks, gate_last__gt=0)
    gates = accesses_for(annotator, gated.exclude(kind=CampaignKind.TRAINING))
    return [
        Training(
            campaign,
            *counts.get(campaign.pk, (0, 0)),
            right=right.get(campaign.benchmark_id, []),
            gates=[
                access for access in gates if access.campaign.benchmark_id == campaign.benchmark_id
            ],
        )
        for campaign in campaigns
    ]


def _counts(annotator: Annotator, campaigns: list[Campaign]) -> dict[int, tuple[int, int]]:
    """How many items a person can answer in each training queue, and how many they have."""
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
    """What leads wrote about the person's answers in training: unread first, then the newest."""
    found = ReviewComment.objects.filter(judgment__annotator=annotator).exclude(text="")
    return found.select_related(
        "judgment__task__campaign", "judgment__task__gold__query", "judgment__task__gold__video"
    ).order_by(F("read_at").asc(nulls_first=True), "-pk")


def unread_comments(annotator: Annotator) -> int:
    return comments_for(annotator).filter(read_at=None).count()


def midnight_now() -> datetime.datetime:
    return timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
