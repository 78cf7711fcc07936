"""Training queues, the annotators in training, and their answers."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field

from django.db.models import Count, Exists, OuterRef, QuerySet

from annotation.enums import CampaignKind, CampaignState, GoldUse, JudgmentState, TaskState
from annotation.models import (
    Annotator,
    Campaign,
    Escalation,
    GoldItem,
    Judgment,
    JudgmentTask,
    Membership,
    ReviewComment,
)
from annotation.questions.kind import kinds
from annotation.selectors.desk import tasks_at_desk
from annotation.selectors.gold import IS_ANSWER, unsure_escalations
from annotation.selectors.members import CampaignAccess, running_campaigns
from hearth.shared.errors import NotFound
from hearth.shared.numbers import UNDEFINED, ratio
from pooling.models import Benchmark

# The number of last answers shown if no entry requirement sets one.
DEFAULT_LAST = 20


@dataclass(frozen=True, slots=True)
class TrainingQueue:
    """The training in one question. queue: the queue that is not closed, if there is one.

    available: the number of training items. items: that of the items in the queue that annotators
    can get.
    """

    question: str
    available: int
    queue: Campaign | None = None
    items: int = 0
    at_desk: int = 0

    @property
    def title(self) -> str:
        kind = kinds()[self.question]
        return kind.asks or kind.words.study.capitalize()


def training_queues(benchmark: Benchmark) -> list[TrainingQueue]:
    """Return a row for each question that has training items or a queue."""
    items = GoldItem.objects.filter(benchmark=benchmark, use=GoldUse.TRAINING, retired_at=None)
    available = dict(items.order_by().values_list("question").annotate(Count("pk")))
    running = {queue.question: queue for queue in _running_queues(benchmark)}
    return [
        TrainingQueue(
            question,
            available.get(question, 0),
            queue := running.get(question),
            training_items(queue) if queue else 0,
            tasks_at_desk(queue).count() if queue else 0,
        )
        for question in kinds()
        if question in {*available, *running}
    ]


@dataclass(slots=True)
class Trainee:
    """An annotator in training.

    answers: whether each was correct, newest first, without retired items.
    """

    annotator: Annotator
    answers: list[bool] = field(default_factory=list)
    last_at: datetime.datetime | None = None
    # Wrong answers without a comment by a lead, and comments that the annotator has not read.
    uncommented: int = 0
    unread: int = 0
    accesses: list[CampaignAccess] = field(default_factory=list)

    @property
    def right(self) -> int:
        return sum(self.answers)

    @property
    def last(self) -> int:
        """The largest number of last answers that an entry requirement uses."""
        lasts = (access.campaign.gate_last for access in self.accesses)
        return max(lasts, default=0) or DEFAULT_LAST

    @property
    def percent(self) -> str:
        return ratio(self.right, len(self.answers))

    @property
    def recent(self) -> str:
        """The number of correct answers among the last ones, such as "7 of 8"."""
        last = self.answers[: self.last]
        return f"{sum(last)} of {len(last)}" if last else UNDEFINED

    @property
    def opened(self) -> list[Campaign]:
        """The campaigns for which the annotator needs no more training."""
        return [access.campaign for access in self.accesses if not access.needs_training]

    @property
    def is_paused(self) -> bool:
        return any(access.is_paused for access in self.accesses)


def find_training_queue(benchmark: Benchmark, question: str = "") -> Campaign | None:
    """Return a training queue that is not closed, that of a question if one is stated."""
    queues = _running_queues(benchmark)
    return (queues.filter(question=question) if question else queues).first()


def _running_queues(benchmark: Benchmark) -> QuerySet[Campaign]:
    queues = Campaign.objects.filter(benchmark=benchmark, kind=CampaignKind.TRAINING)
    return queues.exclude(state=CampaignState.CLOSED).select_related("benchmark")


def training_items(campaign: Campaign) -> int:
    """Return the number of items of a training queue that annotators can get."""
    return JudgmentTask.objects.filter(
        campaign=campaign, gold__isnull=False, gold__retired_at=None, state=TaskState.OPEN
    ).count()


def trainees(benchmark: Benchmark, only: int | None = None) -> list[Trainee]:
    """Return the benchmark's annotators in training, the most recently active first.

    only: a primary key, to return only this annotator. The running time grows linearly with the
    number of answers. The number of database queries is constant.
    """
    people = Annotator.objects.filter(
        memberships__campaign__benchmark=benchmark,
        memberships__campaign__kind=CampaignKind.TRAINING,
    )
    if only is not None:
        people = people.filter(pk=only)
    found = {person.pk: Trainee(person) for person in people.select_related("user").distinct()}
    _add_answers(benchmark, found)
    _add_comments(benchmark, found)
    _add_accesses(benchmark, found)
    never = datetime.datetime.min.replace(tzinfo=datetime.UTC)
    return sorted(
        found.values(), key=lambda person: (person.last_at or never, person.annotator.pk)
    )[::-1]


def get_trainee(benchmark: Benchmark, annotator: int) -> Trainee:
    """Return one annotator. Raises `NotFound` if they are not in training for the benchmark."""
    found = trainees(benchmark, only=annotator)
    if not found:
        raise NotFound("This annotator is not in training for this benchmark.")
    return found[0]


def training_log(benchmark: Benchmark, annotator: Annotator) -> QuerySet[Judgment]:
    """Return an annotator's answers in training, newest first, with related rows."""
    answers = _training_answers(benchmark).filter(annotator=annotator)
    commented = ReviewComment.objects.filter(judgment=OuterRef("pk"))
    return (
        answers.annotate(is_commented=Exists(commented))
        .select_related("task__campaign", "task__gold__query", "task__gold__video")
        .prefetch_related("comments__lead")
        .order_by("-created_at", "-pk")
    )


def training_escalations(benchmark: Benchmark) -> QuerySet[Escalation]:
    """Return escalations of training items, newest first.

    They are not at the desk, because the correct answers are known.
    """
    escalations = unsure_escalations().filter(
        task__campaign__benchmark=benchmark, task__campaign__kind=CampaignKind.TRAINING
    )
    return escalations.select_related("annotator__user", "task__gold__query")


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


def _add_accesses(benchmark: Benchmark, found: dict[int, Trainee]) -> None:
    campaigns = running_campaigns(benchmark)
    memberships = Membership.objects.filter(campaign__in=campaigns, annotator__in=found)
    by_campaign = {
        (membership.campaign_id, membership.annotator_id): membership for membership in memberships
    }
    for trainee in found.values():
        trainee.accesses = [
            CampaignAccess(
                campaign, by_campaign.get((campaign.pk, trainee.annotator.pk)), trainee.answers
            )
            for campaign in campaigns
        ]
