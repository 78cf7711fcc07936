"""Reading campaigns, their progress, and the judgments as arrays."""

from __future__ import annotations

import datetime
from collections import Counter
from dataclasses import dataclass
from string import ascii_uppercase

import numpy as np
import numpy.typing as npt
from django.db.models import Case, Count, Exists, OuterRef, Q, QuerySet, Subquery, Sum, Value, When
from django.db.models.functions import Coalesce

from annotation.enums import (
    SETTLED_BY_LABELS,
    CampaignKind,
    CampaignState,
    JudgmentState,
    TaskState,
)
from annotation.models import (
    AT_DESK,
    IS_AT_DESK,
    Adjudication,
    Annotator,
    Assignment,
    Campaign,
    Escalation,
    Guideline,
    Judgment,
    JudgmentTask,
    Membership,
    Withdrawal,
)
from config.accounts.roles import ALL, Scopes
from config.shared.bulk import read_columns
from config.shared.errors import NotFound
from config.shared.prepared import Given, PreparedRead
from pooling.models import Benchmark, Pair
from pooling.selectors import codes_of

Int64Array = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class JudgmentArrays:
    """The live judgments of a benchmark, ordered by pair, then by annotator and arrival.

    Labels are grades: 0 is not relevant, and 1 the campaign's lowest relevant step.

    codes: int64 [n_pairs] ascending, query number * n_videos + video number.
    pair_of, annotators, labels, ids: [n_judgments]; `pair_of` indexes `codes`.
    annotators: primary keys. ids: primary keys of the judgments. campaigns: of the judgments.
    """

    codes: Int64Array
    pair_of: Int64Array
    annotators: Int64Array
    labels: Int64Array
    ids: Int64Array
    campaigns: Int64Array


@dataclass(frozen=True, slots=True)
class CampaignProgress:
    """Counts of one campaign; `labels` are live judgments, `labels_required` as of now."""

    tasks: int
    settled: int
    conflicted: int
    unplayable: int
    relevant: int
    labels: int
    labels_required: int
    surplus: int

    @property
    def percent(self) -> int:
        return 100 * self.labels // self.labels_required if self.labels_required else 100


@dataclass(frozen=True, slots=True)
class Waiting:
    """A task at the lead's desk: which, as what, and since when."""

    pk: int
    state: str
    since: datetime.datetime


@dataclass(frozen=True, slots=True)
class DeskLabel:
    """An answer as a lead sees it; `who` is a name for this task only."""

    who: str
    text: str
    state: str


@dataclass(frozen=True, slots=True)
class DeskEscalation:
    who: str
    kind: str
    reason: str
    at: datetime.datetime


@dataclass(frozen=True, slots=True)
class DeskCase:
    """All that a lead is shown of one task, in order of arrival."""

    task: JudgmentTask
    labels: list[DeskLabel]
    escalations: list[DeskEscalation]


def campaigns_of(benchmark: Benchmark) -> QuerySet[Campaign]:
    """Rounds of judging and imported judgments; training is not among them."""
    found = Campaign.objects.filter(benchmark=benchmark, kind=CampaignKind.JUDGING)
    return found.select_related("pool", "benchmark")


def open_campaigns(scopes: Scopes = ALL) -> QuerySet[Campaign]:
    found = Campaign.objects.filter(state=CampaignState.OPEN).select_related("benchmark")
    return scopes.limit(found, "benchmark__key")


def get_campaign(pk: int, scopes: Scopes = ALL) -> Campaign:
    """One outside of the scopes is not there: the same error, after the same question."""
    campaign: Campaign | None = _campaign.first(pk=pk)
    if campaign is None or campaign.benchmark.key not in scopes:
        raise NotFound("There is no such campaign.")
    return campaign


# Asked for at each claim.
_campaign = PreparedRead(
    lambda: Campaign.objects.filter(pk=Given("pk")).select_related("benchmark", "guideline")
)


def latest_guideline(benchmark: Benchmark) -> Guideline | None:
    return Guideline.objects.filter(benchmark=benchmark).first()


def taken_pairs(benchmark: Benchmark) -> QuerySet[JudgmentTask]:
    """Tasks of the benchmark's pairs that no further campaign brings again.

    What nobody had judged when its campaign was closed is free: it would wait there for ever.
    """
    tasks = JudgmentTask.objects.filter(campaign__benchmark=benchmark, pair__isnull=False)
    return tasks.exclude(campaign__state=CampaignState.CLOSED, state=TaskState.OPEN, labels_live=0)


def count_new_pairs(benchmark: Benchmark) -> int:
    """How many pairs a campaign would bring that is opened now."""
    pairs = Pair.objects.filter(query__benchmark=benchmark)
    return pairs.count() - taken_pairs(benchmark).values("pair").distinct().count()


def labels_wanted() -> Sum:
    """An aggregate over tasks: the labels they need in all. One that a person decides, or has
    decided, needs no more than it has."""
    wanted = Case(When(state__in=SETTLED_BY_LABELS, then="labels_required"), default="labels_live")
    return Sum(wanted, default=0)


def campaign_progress(campaign: Campaign) -> CampaignProgress:
    """One pass over the campaign's tasks: linear in their number."""
    tasks = JudgmentTask.objects.filter(campaign=campaign, pair__isnull=False)
    ended = Q(state__in=[TaskState.RESOLVED, TaskState.ADJUDICATED])
    counts = tasks.aggregate(
        tasks=Count("pk"),
        settled=Count("pk", filter=ended),
        conflicted=Count("pk", filter=Q(state=TaskState.CONFLICTED)),
        unplayable=Count("pk", filter=Q(state=TaskState.UNPLAYABLE)),
        relevant=Count("pk", filter=Q(label__gte=campaign.threshold)),
        labels=Sum("labels_live", default=0),
        labels_required=labels_wanted(),
    )
    surplus = Judgment.objects.filter(
        task__campaign=campaign, task__gold=None, state=JudgmentState.SURPLUS
    )
    return CampaignProgress(**counts, surplus=surplus.count())


def judged_by(campaign: Campaign, annotator: Annotator) -> int:
    """How many answers the annotator has given in the campaign, to gold among them."""
    found = Membership.objects.filter(campaign=campaign, annotator=annotator).first()
    return found.answered if found else 0


# An answer to gold that stands and says something: not to an item that was found to be no good.
IS_ANSWER = Q(state=JudgmentState.GOLD, task__gold__retired_at=None)


def gold_answers(membership: Membership) -> QuerySet[Judgment]:
    """A member's answers to the gold of the campaign that count now, newest first: those since a
    lead let them go on."""
    answers = Judgment.objects.filter(
        IS_ANSWER, annotator=membership.annotator_id, task__campaign=membership.campaign_id
    )
    if membership.forgiven_at:
        answers = answers.filter(created_at__gt=membership.forgiven_at)
    return answers.order_by("-created_at", "-pk")


def training_answers(benchmark: int, annotator: Annotator) -> QuerySet[Judgment]:
    """The annotator's answers in training for a benchmark (its primary key) to what is not
    retired, newest first."""
    return Judgment.objects.filter(
        IS_ANSWER,
        annotator=annotator,
        task__campaign__benchmark=benchmark,
        task__campaign__kind=CampaignKind.TRAINING,
    ).order_by("-created_at", "-pk")


def outcomes(answers: QuerySet[Judgment]) -> list[bool]:
    """Which of the answers to gold are right, in their order."""
    return [bool(is_right) for is_right in answers.values_list("is_right", flat=True)]


def last_judged(campaign: Campaign, annotator: Annotator, count: int) -> list[Assignment]:
    """The annotator's own last answers, newest first, each with its label as `own_label`."""
    judgments = list(
        Judgment.objects.filter(
            annotator=annotator,
            task__campaign=campaign,
            state__in=[JudgmentState.LIVE, JudgmentState.GOLD],
        ).order_by("-created_at", "-pk")[:count]
    )
    assignments = Assignment.objects.filter(
        annotator=annotator, task__in=[judgment.task_id for judgment in judgments]
    ).select_related(
        "task__pair__query", "task__pair__video", "task__gold__query", "task__gold__video"
    )
    by_task = {assignment.task_id: assignment for assignment in assignments}
    found = []
    for judgment in judgments:
        assignment = by_task[judgment.task_id]
        assignment.own_label = judgment.label  # type: ignore[attr-defined]
        found.append(assignment)
    return found


def tasks_at_desk(campaign: Campaign) -> QuerySet[JudgmentTask]:
    """Tasks that wait for a lead: found by an index of their own, however many others there are."""
    return JudgmentTask.objects.filter(IS_AT_DESK, campaign=campaign, exclusion__isnull=True)


def desk_queue(campaign: Campaign) -> list[Waiting]:
    """What waits for a lead, the longest first; linear in what waits.

    A conflict waits since its last counted label, an escalated or unplayable pair since it was
    handed on, one whose video was known to be broken since the campaign was opened.
    """
    labelled = Judgment.objects.filter(task=OuterRef("pk"), state=JudgmentState.LIVE)
    handed_on = Escalation.objects.filter(task=OuterRef("pk"))
    last_label, last_escalation = (
        Subquery(events.order_by("-created_at").values("created_at")[:1])
        for events in (labelled, handed_on)
    )
    since = Coalesce(
        Case(When(state=TaskState.CONFLICTED, then=last_label), default=last_escalation),
        Value(campaign.created_at),
    )
    rows = tasks_at_desk(campaign).annotate(since=since).order_by("since", "pk")
    return [Waiting(*row) for row in rows.values_list("pk", "state", "since")]


def desk_counts(queue: list[Waiting]) -> list[tuple[TaskState, int]]:
    """How many wait, for each state in which a task can."""
    counts = Counter(waiting.state for waiting in queue)
    return [(state, counts[state]) for state in AT_DESK]


def get_desk_case(pk: int) -> DeskCase:
    """One task at the desk with every answer and escalation, under pseudonyms.

    Pseudonyms go by arrival within the task, so that they tell nothing across tasks.
    """
    tasks = JudgmentTask.objects.select_related(
        "campaign", "pair__query", "pair__video", "gold__query", "gold__video"
    )
    task = tasks.filter(pk=pk).first()
    if task is None:
        raise NotFound("There is no such pair.")
    judgments = list(Judgment.objects.filter(task=task).order_by("created_at", "pk"))
    escalations = list(Escalation.objects.filter(task=task).order_by("created_at", "pk"))
    arrived: list[Judgment | Escalation] = [*judgments, *escalations]
    arrived.sort(key=lambda event: event.created_at)
    people = dict.fromkeys(event.annotator_id for event in arrived)
    names = {person: pseudonym(place) for place, person in enumerate(people)}
    texts = task.campaign.labels
    return DeskCase(
        task,
        [DeskLabel(names[one.annotator_id], texts[one.label], one.state) for one in judgments],
        [
            DeskEscalation(
                names[one.annotator_id], one.get_kind_display(), one.reason, one.created_at
            )
            for one in escalations
        ],
    )


def pseudonym(place: int) -> str:
    """Annotator A … Annotator Z, then AA, AB …, for places from 0."""
    letters = ""
    place += 1
    while place:
        place, letter = divmod(place - 1, len(ascii_uppercase))
        letters = ascii_uppercase[letter] + letters
    return f"Annotator {letters}"


def judgment_arrays(benchmark: Benchmark) -> JudgmentArrays:
    """All live judgments of the benchmark's campaigns; linear in their number but for sorting."""
    queries, videos, campaigns, annotators, labels, ids = read_columns(
        Judgment.objects.filter(task__campaign__benchmark=benchmark, state=JudgmentState.LIVE),
        "task__pair__query_id",
        "task__pair__video_id",
        "task__campaign_id",
        "annotator_id",
        "label",
        "pk",
    )
    codes = codes_of(benchmark, queries, videos)
    order = np.lexsort((ids, annotators, codes))
    codes = codes[order]
    first = np.diff(codes, prepend=-1) != 0
    return JudgmentArrays(
        codes=codes[first],
        pair_of=np.cumsum(first) - 1,
        annotators=annotators[order],
        labels=_grades(benchmark, labels, campaigns)[order],
        ids=ids[order],
        campaigns=campaigns[order],
    )


def labels_moment(benchmark: Benchmark) -> list[int]:
    """Numbers that are others whenever the labels of the benchmark may be others: its last label,
    how many rulings, how many labels a lead took back, and how many pairs were handed on, which
    takes a label back, too. The first two are 0 where there are no labels."""
    newest = newest_judgment(benchmark)
    rulings = Adjudication.objects.filter(task__campaign__benchmark=benchmark)
    taken_back = Withdrawal.objects.filter(campaign__benchmark=benchmark)
    withdrawn: int = taken_back.aggregate(n=Sum("judgments", default=0))["n"]
    handed_on = Escalation.objects.filter(task__campaign__benchmark=benchmark)
    return [newest.pk if newest else 0, rulings.count(), withdrawn, handed_on.count()]


def newest_judgment(benchmark: Benchmark) -> Judgment | None:
    """The label that came last of those that count; answers to gold are none."""
    labelled = JudgmentTask.objects.filter(campaign__benchmark=benchmark, labels_live__gt=0)
    if not labelled.exists():  # else all judgments of others would be looked through
        return None
    # Backwards from the end of the table, and no further than to the first that fits; of a join,
    # SQLite would read all judgments and sort them.
    of_benchmark = JudgmentTask.objects.filter(pk=OuterRef("task"), campaign__benchmark=benchmark)
    made = Judgment.objects.filter(Exists(of_benchmark), state=JudgmentState.LIVE)
    return made.only("created_at").order_by("-pk").first()


def adjudicated(benchmark: Benchmark) -> tuple[Int64Array, Int64Array]:
    """Codes of the pairs that a lead has ruled on, in the order of the rulings, and the labels."""
    rulings = Adjudication.objects.filter(task__campaign__benchmark=benchmark)
    queries, videos, labels, campaigns = read_columns(
        rulings.order_by("pk"),
        "task__pair__query_id",
        "task__pair__video_id",
        "label",
        "task__campaign_id",
    )
    return codes_of(benchmark, queries, videos), _grades(benchmark, labels, campaigns)


def _grades(benchmark: Benchmark, labels: Int64Array, campaigns: Int64Array) -> Int64Array:
    """Labels of campaigns with thresholds of their own on one scale, int64 [n]: what is below the
    threshold is 0, the threshold 1."""
    raised = Campaign.objects.filter(benchmark=benchmark, threshold__gt=1)
    for campaign, threshold in raised.values_list("pk", "threshold"):
        shifted = np.maximum(labels - (threshold - 1), 0)
        labels = np.where(campaigns == campaign, shifted, labels)
    return labels
