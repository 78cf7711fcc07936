"""Reading gold: the items, who answered them how, and what that opens to whom."""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from django.db.models import Case, Count, Exists, F, FloatField, OuterRef, Q, QuerySet, When
from django.db.models.functions import Cast

from annotation.enums import (
    CampaignKind,
    CampaignState,
    EscalationKind,
    Joining,
    JudgmentState,
    MembershipState,
    TaskState,
)
from annotation.models import (
    Annotator,
    Campaign,
    Escalation,
    GoldItem,
    Guideline,
    Judgment,
    JudgmentTask,
    Membership,
    ReviewComment,
)
from annotation.selectors import IS_ANSWER
from config.shared.errors import NotFound
from pooling.models import Benchmark

Int64Array = npt.NDArray[np.int64]

# How many of the last answers are looked at where no gate says.
LAST_LOOKED_AT = 20
# What stands where there is nothing to count yet.
NO_FIGURE = "–"


def percent_text(part: int, whole: int) -> str:
    """Rounded, but only all is 100 % and only none is 0 %."""
    if part in (0, whole):
        return f"{100 * part // whole} %" if whole else NO_FIGURE
    return f"{min(max(round(100 * part / whole), 1), 99)} %"


# --- The items ------------------------------------------------------------------------------


def gold_items(benchmark: Benchmark) -> QuerySet[GoldItem]:
    """The benchmark's gold with `answered` and `right`: those that most people get wrong first,
    for theirs may be the wrong truth; what nobody has answered comes last."""
    answer = Q(tasks__judgments__state=JudgmentState.GOLD)
    found = GoldItem.objects.filter(benchmark=benchmark).select_related("query", "video")
    counted = found.annotate(
        answered=Count("tasks__judgments", filter=answer),
        right=Count("tasks__judgments", filter=answer & Q(tasks__judgments__is_right=True)),
    )
    share = Cast("right", FloatField()) / F("answered")
    return counted.annotate(share=Case(When(answered__gt=0, then=share))).order_by(
        F("share").asc(nulls_last=True), "-answered", "pk"
    )


def search_gold(items: QuerySet[GoldItem], text: str) -> QuerySet[GoldItem]:
    """By caption, explanation and the keys of caption and video."""
    for word in text.split():
        items = items.filter(
            Q(query__text__icontains=word)
            | Q(explanation__icontains=word)
            | Q(query__key__iexact=word)
            | Q(video__key__iexact=word)
        )
    return items


def gold_counts(benchmark: Benchmark) -> dict[tuple[str, bool], int]:
    """How many items there are of each use, and whether they are retired."""
    items = GoldItem.objects.filter(benchmark=benchmark).order_by()
    retired = Case(When(retired_at=None, then=False), default=True)
    rows = items.values("use", is_retired=retired).annotate(n=Count("pk"))
    return {(row["use"], bool(row["is_retired"])): row["n"] for row in rows}


def get_gold_item(benchmark: Benchmark, pk: int) -> GoldItem:
    item = gold_items(benchmark).filter(pk=pk).select_related("benchmark", "created_by").first()
    if item is None:
        raise NotFound("There is no such gold item.")
    return item


def doubts_about(item: GoldItem) -> QuerySet[Escalation]:
    """What people wrote who could not decide it, newest first."""
    return _doubts().filter(task__gold=item)


def doubts_in_training(benchmark: Benchmark) -> QuerySet[Escalation]:
    """What people in training wrote who could not decide an item, newest first: its answer is
    known, so it waits at no desk, but they asked."""
    asked = _doubts().filter(
        task__campaign__benchmark=benchmark, task__campaign__kind=CampaignKind.TRAINING
    )
    return asked.select_related("annotator__user", "task__gold__query")


def _doubts() -> QuerySet[Escalation]:
    return Escalation.objects.filter(kind=EscalationKind.UNSURE).exclude(reason="")


# --- What training opens --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Door:
    """A campaign and one person before it: `is_open` to them, or `paused` for a reason, or
    `right` of the `looked_at` last answers in training, which are too few."""

    campaign: Campaign
    membership: Membership | None
    answers: Sequence[bool] = ()

    @property
    def answered(self) -> int:
        return self.membership.answered if self.membership else 0

    @property
    def is_paused(self) -> bool:
        return self.membership is not None and self.membership.state == MembershipState.PAUSED

    @property
    def is_admitted(self) -> bool:
        return self.membership is not None and self.membership.admitted_at is not None

    @property
    def is_behind_gate(self) -> bool:
        """The gate is closed to the person."""
        return (
            self.campaign.has_gate
            and not self.is_admitted
            and not self.campaign.gate.is_passed(self.answers)
        )

    @property
    def is_open(self) -> bool:
        return not self.is_paused and not self.is_behind_gate

    @property
    def right(self) -> int:
        return self.campaign.gate.right(self.answers)

    @property
    def looked_at(self) -> int:
        return min(len(self.answers), self.campaign.gate_last)


def doors_for(annotator: Annotator | None, campaigns: Iterable[Campaign]) -> list[Door]:
    """What stands open to the person, without campaigns for which a lead has not chosen them: as
    many queries however many campaigns."""
    campaigns = list(campaigns)
    mine = {} if annotator is None else _memberships(annotator, campaigns)
    gated = {
        one.benchmark_id
        for one in campaigns
        if one.has_gate and not (one.pk in mine and mine[one.pk].admitted_at)
    }
    answers = training_of(annotator, gated) if annotator is not None and gated else {}
    return [
        Door(one, mine.get(one.pk), answers.get(one.benchmark_id, ()))
        for one in campaigns
        if one.pk in mine or one.joining == Joining.EVERYBODY
    ]


def _memberships(annotator: Annotator, campaigns: list[Campaign]) -> dict[int, Membership]:
    found = Membership.objects.filter(annotator=annotator, campaign__in=campaigns)
    return {one.campaign_id: one for one in found}


def training_of(annotator: Annotator, benchmarks: set[int]) -> dict[int, list[bool]]:
    """The person's answers in training, newest first, by the primary key of the benchmark."""
    found: dict[int, list[bool]] = defaultdict(list)
    rows = Judgment.objects.filter(
        IS_ANSWER,
        annotator=annotator,
        task__campaign__kind=CampaignKind.TRAINING,
        task__campaign__benchmark__in=benchmarks,
    ).order_by("-created_at", "-pk")
    for benchmark, is_right in rows.values_list("task__campaign__benchmark", "is_right"):
        found[benchmark].append(bool(is_right))
    return found


# --- Who trains, for leads ------------------------------------------------------------------


@dataclass(slots=True)
class Trainee:
    """A person in training; `answers` are newest first, of items that are not retired."""

    annotator: Annotator
    answers: list[bool] = field(default_factory=list)
    last_at: datetime.datetime | None = None
    # Wrong answers on which no lead has said a word; comments that the person has not read.
    uncommented: int = 0
    unread: int = 0
    doors: list[Door] = field(default_factory=list)

    @property
    def right(self) -> int:
        return sum(self.answers)

    @property
    def last(self) -> int:
        """The longest stretch of last answers that a gate looks at."""
        looked_at = (door.campaign.gate_last for door in self.doors)
        return max(looked_at, default=0) or LAST_LOOKED_AT

    @property
    def percent(self) -> str:
        return percent_text(self.right, len(self.answers))

    @property
    def lately(self) -> str:
        last = self.answers[: self.last]
        return f"{sum(last)} of {len(last)}" if last else NO_FIGURE

    @property
    def opened(self) -> list[Campaign]:
        """Campaigns whose gate stands open to the person."""
        return [door.campaign for door in self.doors if not door.is_behind_gate]

    @property
    def is_paused(self) -> bool:
        return any(door.is_paused for door in self.doors)


def find_training_queue(benchmark: Benchmark) -> Campaign | None:
    """The one that is not closed."""
    queues = Campaign.objects.filter(benchmark=benchmark, kind=CampaignKind.TRAINING)
    return queues.exclude(state=CampaignState.CLOSED).select_related("benchmark").first()


def training_items(campaign: Campaign) -> int:
    """How many items a person can answer in a training queue."""
    return JudgmentTask.objects.filter(
        campaign=campaign, gold__isnull=False, gold__retired_at=None, state=TaskState.OPEN
    ).count()


def answered_items(campaign: Campaign, annotator: Annotator) -> int:
    """How many of these the person has answered."""
    answers = Judgment.objects.filter(IS_ANSWER, task__campaign=campaign, annotator=annotator)
    return answers.filter(task__state=TaskState.OPEN).count()


def doors_of(benchmark: Benchmark) -> list[Campaign]:
    """Rounds of judging that are not closed, newest first."""
    found = Campaign.objects.filter(benchmark=benchmark, kind=CampaignKind.JUDGING)
    return list(found.exclude(state=CampaignState.CLOSED).select_related("benchmark"))


def trainees(benchmark: Benchmark, only: int | None = None) -> list[Trainee]:
    """Everybody (or one, by primary key) who has come to train for the benchmark, who was there
    last first.

    Linear in their answers; as many queries however many people.
    """
    people = Annotator.objects.filter(
        memberships__campaign__benchmark=benchmark,
        memberships__campaign__kind=CampaignKind.TRAINING,
    )
    if only is not None:
        people = people.filter(pk=only)
    found = {one.pk: Trainee(one) for one in people.select_related("user").distinct()}
    _add_answers(benchmark, found)
    _add_comments(benchmark, found)
    _add_doors(benchmark, found)
    newest = datetime.datetime.min.replace(tzinfo=datetime.UTC)
    return sorted(found.values(), key=lambda one: (one.last_at or newest, one.annotator.pk))[::-1]


def get_trainee(benchmark: Benchmark, annotator: int) -> Trainee:
    """Raises `NotFound` for who has never come to train here."""
    found = trainees(benchmark, only=annotator)
    if not found:
        raise NotFound("This person does not train here.")
    return found[0]


def training_log(benchmark: Benchmark, annotator: Annotator) -> QuerySet[Judgment]:
    """A person's answers in training, newest first, with all that a lead looks at."""
    answers = _training_answers(benchmark).filter(annotator=annotator)
    commented = ReviewComment.objects.filter(judgment=OuterRef("pk"))
    return (
        answers.annotate(is_commented=Exists(commented))
        .select_related("task__campaign", "task__gold__query", "task__gold__video")
        .prefetch_related("comments__lead")
        .order_by("-created_at", "-pk")
    )


def _training_answers(benchmark: Benchmark) -> QuerySet[Judgment]:
    return Judgment.objects.filter(
        task__campaign__benchmark=benchmark,
        task__campaign__kind=CampaignKind.TRAINING,
        state=JudgmentState.GOLD,
    )


def _add_answers(benchmark: Benchmark, found: dict[int, Trainee]) -> None:
    commented = ReviewComment.objects.filter(judgment=OuterRef("pk"))
    rows = (
        _training_answers(benchmark)
        .filter(IS_ANSWER, annotator__in=found)
        .order_by("-created_at", "-pk")
        .values_list("annotator", "is_right", "created_at", Exists(commented))
    )
    for annotator, is_right, created_at, is_commented in rows:
        trainee = found[annotator]
        trainee.answers.append(bool(is_right))
        trainee.last_at = trainee.last_at or created_at
        trainee.uncommented += not is_right and not is_commented


def _add_comments(benchmark: Benchmark, found: dict[int, Trainee]) -> None:
    comments = ReviewComment.objects.filter(
        judgment__task__campaign__benchmark=benchmark,
        judgment__annotator__in=found,
        read_at=None,
    ).exclude(text="")
    counts = comments.order_by().values_list("judgment__annotator").annotate(Count("pk"))
    for annotator, count in counts:
        found[annotator].unread = count


def _add_doors(benchmark: Benchmark, found: dict[int, Trainee]) -> None:
    campaigns = doors_of(benchmark)
    memberships = Membership.objects.filter(campaign__in=campaigns, annotator__in=found)
    by_place = {(one.campaign_id, one.annotator_id): one for one in memberships}
    for trainee in found.values():
        trainee.doors = [
            Door(one, by_place.get((one.pk, trainee.annotator.pk)), trainee.answers)
            for one in campaigns
        ]


# --- Guidelines -----------------------------------------------------------------------------


def guidelines_of(benchmark: Benchmark) -> QuerySet[Guideline]:
    """All versions, newest first."""
    found = Guideline.objects.filter(benchmark=benchmark)
    # Grouped, rows lose the order of their model.
    return found.annotate(n_pictures=Count("pictures")).order_by("-version")
