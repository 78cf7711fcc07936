"""Reading campaigns, their progress, and the judgments as arrays."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

import numpy as np
import numpy.typing as npt
from django.core.cache import cache
from django.db.models import (
    Case,
    Count,
    Exists,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    Value,
    When,
)
from django.db.models.functions import Coalesce

from annotation.core.consensus import NO_LABEL, OutcomeCounts, State, resolve
from annotation.core.first_labels import PLANNED_IN_FILES, first_answers, label_places
from annotation.enums import (
    SETTLED_BY_LABELS,
    CampaignKind,
    CampaignState,
    JudgmentState,
    TaskState,
)
from annotation.models import (
    AT_DESK,
    DECIDED,
    IS_AT_DESK,
    Adjudication,
    Annotator,
    Assignment,
    Campaign,
    Escalation,
    Exclusion,
    Guideline,
    Judgment,
    JudgmentTask,
    Membership,
    Withdrawal,
)
from config.accounts.roles import ALL, Scopes
from config.shared.bulk import read_columns
from config.shared.errors import NotFound
from pooling.core.equal_texts import unit_codes
from pooling.core.pool import union_codes
from pooling.models import Benchmark, Pool
from pooling.selectors import codes_of, first_equal_captions, pair_arrays

Int64Array = npt.NDArray[np.int64]
OWN_CAPTION = -1
NEW_COUNTS_FOR = 24 * 3600  # seconds


@dataclass(frozen=True, slots=True)
class JudgmentArrays:
    """The live judgments of a benchmark, ordered by pair, then by annotator and arrival.

    Labels are grades: 0 is not relevant, and 1 the campaign's lowest relevant step.

    codes: int64 [n_pairs] ascending, query number * n_videos + video number.
    pair_of, annotators, labels, ids: [n_judgments]; `pair_of` indexes `codes`.
    annotators: primary keys. ids: primary keys of the judgments. campaigns: of the judgments.
    is_first: bool [n_judgments], one of the planned labels of its task, and not asked for because
    others differed; in imported files, the first two labels of a pair.
    waits: bool [n_judgments], whether the task waits for a further label or for a lead.
    units: the text and video of its task, as `pooling.core.equal_texts.unit_codes` returns them, or
    `OWN_CAPTION` if the label holds for no other caption.
    n_grades: the number of grades on the longest scale of the campaigns that have judgments.
    """

    codes: Int64Array
    pair_of: Int64Array
    annotators: Int64Array
    labels: Int64Array
    ids: Int64Array
    campaigns: Int64Array
    is_first: npt.NDArray[np.bool_]
    waits: npt.NDArray[np.bool_]
    units: Int64Array
    n_grades: int


@dataclass(frozen=True, slots=True)
class CampaignProgress:
    """Counts of one campaign.

    Numbers of pairs: `pairs`, `outcomes` and `relevant`; a task counts once for each equal caption.
    Numbers of tasks: `tasks` and `unplayable`. `labels` are live judgments, `labels_required` is
    the current number.
    """

    tasks: int
    pairs: int
    outcomes: OutcomeCounts
    unplayable: int
    relevant: int
    labels: int
    labels_required: int
    surplus: int

    @property
    def percent(self) -> int:
        """The share of settled pairs, rounded down, so that only all of them are 100 %."""
        return 100 * self.outcomes.settled // self.pairs if self.pairs else 100


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskGroup:
    """The number of tasks that are alike, and the number of pairs for which their labels hold."""

    state: str
    label: int | None = None
    labels_live: int
    labels_required: int = 0
    tasks: int = 0
    pairs: int

    @property
    def outcomes(self) -> OutcomeCounts:
        if self.state in DECIDED or self.state == TaskState.CONFLICTED:
            return OutcomeCounts(**{self.state: self.pairs})
        return OutcomeCounts(pending=self.pairs if self.labels_live else 0)

    @property
    def labels_wanted(self) -> int:
        """Return the number of labels that these tasks need.

        If a person decides a task, or has decided it, it needs no more labels than it has.
        """
        by_labels = self.state in SETTLED_BY_LABELS
        return self.tasks * (self.labels_required if by_labels else self.labels_live)


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


def confirming_campaigns(benchmark: Benchmark) -> list[int]:
    """Return the primary keys of the campaigns that request second labels of positives."""
    found = Campaign.objects.filter(benchmark=benchmark, confirms=True)
    return list(found.values_list("pk", flat=True))


def confirmed_pairs(benchmark: Benchmark) -> Int64Array:
    """Codes of the pairs that a second label was asked for, int64 [n]."""
    campaigns = Campaign.objects.filter(benchmark=benchmark, confirms=True)
    tasks = JudgmentTask.objects.filter(campaign__in=campaigns)
    if not campaigns.exists():
        return np.empty(0, np.int64)
    return codes_of(benchmark, *read_columns(tasks, "pair__query_id", "pair__video_id"))


def open_campaigns(scopes: Scopes = ALL) -> QuerySet[Campaign]:
    found = Campaign.objects.filter(state=CampaignState.OPEN).select_related("benchmark")
    return scopes.limit(found, "benchmark__key")


def get_campaign(pk: int, scopes: Scopes = ALL) -> Campaign:
    """One outside of the scopes is not there: the same error, after the same question."""
    campaign = Campaign.objects.filter(pk=pk).select_related("benchmark", "guideline").first()
    if campaign is None or campaign.benchmark.key not in scopes:
        raise NotFound("There is no such campaign.")
    return campaign


def latest_guideline(benchmark: Benchmark) -> Guideline | None:
    return Guideline.objects.filter(benchmark=benchmark).first()


def find_past_guideline(campaign: Campaign, version: int) -> tuple[bool, Guideline | None]:
    """Return whether the campaign has had this version of the guidelines, and the version's row.

    Version 0, the default text, has no row. A campaign begins with the newest version at its
    opening, and takes each later one while it is not closed.
    """
    versions = Guideline.objects.filter(benchmark=campaign.benchmark_id)
    newer = versions.filter(version__gt=version, created_at__lte=campaign.created_at)
    if version >= campaign.guideline_version or newer.exists():
        return False, None
    found = versions.filter(version=version).first()
    return found is not None or version == 0, found


def last_guideline_version(campaign: Campaign, annotator: Annotator) -> int | None:
    """Return the version of the annotator's last answer in the benchmark; None without one."""
    answers = Judgment.objects.filter(
        annotator=annotator, task__campaign__benchmark=campaign.benchmark_id
    )
    last = answers.order_by("-created_at").values_list("guideline__version").first()
    return None if last is None else last[0] or 0


def taken_pairs(benchmark: Benchmark) -> QuerySet[JudgmentTask]:
    """Tasks of the benchmark's pairs that no further campaign brings again.

    What nobody had judged when its campaign was closed is free: it would wait there for ever.
    """
    tasks = JudgmentTask.objects.filter(campaign__benchmark=benchmark, pair__isnull=False)
    return tasks.exclude(campaign__state=CampaignState.CLOSED, state=TaskState.OPEN, labels_live=0)


@dataclass(frozen=True, slots=True, eq=False)
class NewTasks:
    """The tasks that a campaign would have if it opened now, [n_tasks] each, ascending by `units`.

    pair_ids, codes: the pair that represents the task; annotators read its caption. units: the text
    and the video. n_pairs: the number of pairs for which a label would hold. pairs: codes of all
    pooled pairs that would be judged, [n_pairs]. pair_task: the task of each.
    """

    pair_ids: Int64Array
    codes: Int64Array
    units: Int64Array
    n_pairs: Int64Array
    pairs: Int64Array
    pair_task: Int64Array


def new_tasks(benchmark: Benchmark) -> NewTasks:
    """Return one task for each text and video among the pooled pairs that no campaign holds.

    A pair is held by a task of its own, or by a task for an equal caption and the same video.
    """
    n_videos, first_equal = benchmark.n_videos, first_equal_captions(benchmark)
    pairs = pair_arrays(benchmark)
    taken = taken_pairs(benchmark).annotate(held=Coalesce("unit", Value(OWN_CAPTION)))
    taken_ids, taken_units = read_columns(taken, "pair_id", "held")
    units = unit_codes(pairs.codes, first_equal, n_videos)
    is_new = ~(np.isin(pairs.ids, taken_ids) | np.isin(units, taken_units))
    codes, units = pairs.codes[is_new], units[is_new]
    order = np.argsort(units, kind="stable")
    firsts = np.flatnonzero(np.diff(units[order], prepend=-1))
    chosen = order[firsts]  # the pair of the first pooled caption of each unit
    return NewTasks(
        pair_ids=pairs.ids[is_new][chosen],
        codes=codes[chosen],
        units=units[chosen],
        n_pairs=pairs_per_unit(benchmark, units[chosen]),
        pairs=codes,
        pair_task=np.searchsorted(units[chosen], units),
    )


def pairs_per_unit(benchmark: Benchmark, units: Int64Array) -> Int64Array:
    """Return the number of pairs for which a label of each text and video holds, int64 [n].

    This is one for each caption with the text, without those that have a task for their caption
    alone.
    units: int64 [n], as `unit_codes` returns them.
    """
    n_videos, first_equal = benchmark.n_videos, first_equal_captions(benchmark)
    sizes = np.bincount(first_equal, minlength=benchmark.n_queries)
    alone = taken_pairs(benchmark).filter(unit=None)
    queries, videos = read_columns(alone, "pair__query_id", "pair__video_id")
    codes = union_codes([codes_of(benchmark, queries, videos)])
    held = np.sort(unit_codes(codes, first_equal, n_videos))
    n_held = np.searchsorted(held, units, "right") - np.searchsorted(held, units)
    return sizes[units // n_videos] - n_held


@dataclass(frozen=True, slots=True)
class NewCounts:
    """The number of tasks that a campaign would have if it opened now, and of their pairs."""

    tasks: int
    pairs: int


def count_new_tasks(benchmark: Benchmark) -> NewCounts:
    return new_counts([benchmark])[benchmark.pk]


def new_counts(benchmarks: Iterable[Benchmark]) -> dict[int, NewCounts]:
    """Return the same for many benchmarks, by primary key, with three queries in total.

    The counts are kept until a pool, a campaign or the end of a campaign changes them.
    """
    keys = _keys_of_new_counts(benchmarks)
    kept: dict[str, NewCounts] = cache.get_many(keys.values())
    found = {}
    for benchmark, key in keys.items():
        if key not in kept:
            tasks = new_tasks(benchmark)
            kept[key] = NewCounts(len(tasks.codes), int(tasks.n_pairs.sum()))
            cache.set(key, kept[key], NEW_COUNTS_FOR)
        found[benchmark.pk] = kept[key]
    return found


def _keys_of_new_counts(benchmarks: Iterable[Benchmark]) -> dict[Benchmark, str]:
    """Return a name for each benchmark that changes whenever its new tasks may change."""
    is_closed = Q(state=CampaignState.CLOSED)
    campaigns = (
        Campaign.objects.order_by()
        .values_list("benchmark")
        .annotate(newest=Max("pk"), closed=Count("pk", filter=is_closed))
    )
    pools = dict(Pool.objects.order_by().values_list("benchmark").annotate(Max("pk")))
    done = Withdrawal.objects.filter(done_at__isnull=False).order_by()
    withdrawn = dict(done.values_list("campaign__benchmark").annotate(Count("pk")))
    rounds = {pk: f"{newest}-{closed}" for pk, newest, closed in campaigns}
    return {
        one: f"new-{one.pk}-{one.equal_texts}-{pools.get(one.pk)}-{rounds.get(one.pk)}"
        f"-{withdrawn.get(one.pk)}"
        for one in benchmarks
    }


def task_groups(campaigns: Iterable[Campaign]) -> dict[int, list[TaskGroup]]:
    """Return the tasks of campaigns, without gold, in groups, by the campaign's primary key.

    This is one pass over the tasks.
    """
    found: dict[int, list[TaskGroup]] = {campaign.pk: [] for campaign in campaigns}
    tasks = JudgmentTask.objects.filter(campaign__in=found, pair__isnull=False)
    columns = ("state", "label", "labels_live", "labels_required", "tasks", "pairs")
    rows = tasks.order_by().values("campaign_id", *columns[:4])
    for row in rows.annotate(tasks=Count("pk"), pairs=Sum("n_pairs")):
        group = TaskGroup(**{name: row[name] for name in columns})
        found[row["campaign_id"]].append(group)
    for campaign, group in left_out_groups(tasks):
        found[campaign.pk].append(group)
    return found


def left_out_groups(tasks: QuerySet[JudgmentTask]) -> list[tuple[Campaign, TaskGroup]]:
    """Groups that move each labelled task that a lead has left out from pending to the outcome of
    its labels, because no further label will come; with the task's campaign."""
    left_out = list(
        tasks.filter(exclusion__isnull=False, labels_live__gt=0).select_related("campaign")
    )
    labels: dict[int, list[int]] = {
        task.pk: [] if task.carried is None else [task.carried] for task in left_out
    }
    live = Judgment.objects.filter(task__in=labels, state=JudgmentState.LIVE)
    for task_id, label in live.values_list("task_id", "label"):
        labels[task_id].append(label)
    return [
        (task.campaign, group)
        for task in left_out
        for group in _settled_left_out(task, labels[task.pk])
    ]


def _settled_left_out(task: JudgmentTask, labels: list[int]) -> list[TaskGroup]:
    campaign, given = task.campaign, np.array([len(labels)])
    counts = np.bincount(labels, minlength=len(campaign.labels)).reshape(1, -1)
    found = resolve(counts, given, labels_max=given, threshold=campaign.threshold)
    label = int(found.labels[0])
    return [
        TaskGroup(state=task.state, labels_live=task.labels_live, pairs=-task.n_pairs),
        TaskGroup(
            state=State(found.states[0]).name.lower(),
            label=None if label == NO_LABEL else label,
            labels_live=task.labels_live,
            pairs=task.n_pairs,
        ),
    ]


def campaign_progress(campaign: Campaign) -> CampaignProgress:
    surplus = Judgment.objects.filter(
        task__campaign=campaign, task__gold=None, state=JudgmentState.SURPLUS
    )
    return progress_of(campaign, task_groups([campaign])[campaign.pk], surplus.count())


def progress_of(campaign: Campaign, groups: Sequence[TaskGroup], surplus: int) -> CampaignProgress:
    """Return the progress of a campaign from all its tasks in groups."""
    is_relevant = [
        group.label is not None and campaign.is_relevant(group.label) for group in groups
    ]
    return CampaignProgress(
        tasks=sum(group.tasks for group in groups),
        pairs=sum(group.pairs for group in groups),
        outcomes=outcomes_of_groups(groups),
        unplayable=sum(group.tasks for group in groups if group.state == TaskState.UNPLAYABLE),
        relevant=sum(group.pairs for group, yes in zip(groups, is_relevant, strict=True) if yes),
        labels=sum(group.tasks * group.labels_live for group in groups),
        labels_required=sum(group.labels_wanted for group in groups),
        surplus=surplus,
    )


def outcomes_of_groups(groups: Iterable[TaskGroup]) -> OutcomeCounts:
    return sum((group.outcomes for group in groups), OutcomeCounts())


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
    known = list(campaigns_of(benchmark))
    live = _live_judgments(known)
    present = set(np.unique(live.campaigns).tolist())
    return by_pair(
        codes_of(benchmark, live.queries, live.videos),
        n_grades=max([2, *(_grades_of(one) for one in known if one.pk in present)]),
        annotators=live.annotators,
        labels=_grades(benchmark, live.labels, live.campaigns),
        ids=live.ids,
        campaigns=live.campaigns,
        # A second label that confirms a positive is requested because of the first label.
        is_first=are_first_labels(known, live.ids, live.tasks, live.annotators, live.planned)
        & ~np.isin(live.campaigns, [one.pk for one in known if one.confirms]),
        waits=np.isin(live.tasks, waiting_tasks(known)),
        units=live.units,
    )


def by_pair(
    codes: Int64Array,
    *,
    n_grades: int,
    annotators: Int64Array,
    ids: Int64Array,
    **columns: npt.NDArray[Any],
) -> JudgmentArrays:
    """Return the judgments in the order of `JudgmentArrays`. Columns may have any order."""
    order = np.lexsort((ids, annotators, codes))
    codes = codes[order]
    first = np.diff(codes, prepend=-1) != 0
    columns |= {"annotators": annotators, "ids": ids}
    return JudgmentArrays(
        codes=codes[first],
        pair_of=np.cumsum(first) - 1,
        n_grades=n_grades,
        **{name: column[order] for name, column in columns.items()},
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Live:
    """Columns of the judgments that count, int64 [n] each; `planned`: see `are_first_labels`."""

    queries: Int64Array
    videos: Int64Array
    annotators: Int64Array
    labels: Int64Array
    ids: Int64Array
    tasks: Int64Array
    campaigns: Int64Array
    planned: Int64Array
    units: Int64Array


def _live_judgments(campaigns: list[Campaign]) -> _Live:
    """Return the live judgments. Columns with one value for all rows are not read, to save time."""
    if not campaigns:
        return _Live(*(np.empty(0, np.int64) for _ in range(9)))
    imported = [one.pk for one in campaigns if one.is_imported]
    further = ["task__campaign_id"] if len(campaigns) != 1 else []
    further += ["task__labels_planned"] if len(imported) < len(campaigns) else []
    shared = JudgmentTask.objects.filter(campaign__in=campaigns, unit__isnull=False)
    further += ["unit"] if shared.exists() else []
    live = Judgment.objects.filter(task__campaign__in=campaigns, state=JudgmentState.LIVE)
    queries, videos, annotators, labels, ids, tasks, *more = read_columns(
        live.annotate(unit=Coalesce("task__unit", Value(OWN_CAPTION))),
        "task__pair__query_id",
        "task__pair__video_id",
        "annotator_id",
        "label",
        "pk",
        "task_id",
        *further,
    )
    read = dict(zip(further, more, strict=True))
    of_campaign = read.get("task__campaign_id")
    if of_campaign is None:
        of_campaign = np.full(len(ids), campaigns[0].pk, np.int64)
    planned = read.get("task__labels_planned")
    if planned is None:
        planned = np.full(len(ids), PLANNED_IN_FILES, np.int64)
    elif imported:
        planned = np.where(np.isin(of_campaign, imported), PLANNED_IN_FILES, planned)
    units = read.get("unit")
    if units is None:
        units = np.full(len(ids), OWN_CAPTION, np.int64)
    return _Live(queries, videos, annotators, labels, ids, tasks, of_campaign, planned, units)


def waiting_tasks(campaigns: Iterable[Campaign]) -> Int64Array:
    """Primary keys of labelled tasks that wait for a further label or for a lead.

    A task that a lead has left out waits for nothing.
    """
    undecided = [TaskState.OPEN, TaskState.ESCALATED, TaskState.UNPLAYABLE]
    # With a key that does not exist, for an empty list cannot be read as columns.
    keys = [0, *(campaign.pk for campaign in campaigns)]
    tasks = JudgmentTask.objects.filter(
        campaign__in=keys, state__in=undecided, labels_live__gt=0, exclusion=None
    )
    (ids,) = read_columns(tasks, "pk")
    return ids


def are_first_labels(
    campaigns: list[Campaign],
    ids: Int64Array,
    tasks: Int64Array,
    annotators: Int64Array,
    planned: Int64Array,
) -> npt.NDArray[np.bool_]:
    """Return which of the campaigns' live judgments are among the first labels of their tasks,
    bool [n].

    ids, tasks, annotators: int64 [n], primary keys. planned: int64 [n], the number of labels of the
    task that no disagreement requested; `PLANNED_IN_FILES` for imported labels.
    """
    is_first = np.ones(len(ids), np.bool_)
    # Most tasks have one label, which needs no sorting.
    _, of_task, sizes = np.unique(tasks, return_inverse=True, return_counts=True)
    several = np.flatnonzero(sizes[of_task.reshape(-1)] > 1)
    came = ids[several]
    here = [one.pk for one in campaigns if not one.is_imported]
    if here and len(several):
        came = first_answers((came, tasks[several], annotators[several]), _corrected(here))
    is_first[several] = label_places(tasks[several], came) < planned[several]
    return is_first


def _corrected(campaigns: list[int]) -> tuple[Int64Array, Int64Array, Int64Array]:
    """Return keys, tasks and annotators of the answers that were later corrected or escalated."""
    found = Judgment.objects.filter(
        task__campaign__in=campaigns, task__gold=None, state=JudgmentState.SUPERSEDED
    )
    ids, tasks, annotators = read_columns(found, "pk", "task_id", "annotator_id")
    return ids, tasks, annotators


def labels_moment(benchmark: Benchmark) -> list[int]:
    """Numbers that are others whenever the labels of the benchmark may be others: its last label,
    how many rulings, how many labels a lead took back, and how many pairs were handed on, which
    takes a label back, too. The first two are 0 where there are no labels."""
    newest = newest_judgment(benchmark)
    rulings = Adjudication.objects.filter(task__campaign__benchmark=benchmark)
    taken_back = Withdrawal.objects.filter(campaign__benchmark=benchmark)
    withdrawn: int = taken_back.aggregate(n=Sum("judgments", default=0))["n"]
    handed_on = Escalation.objects.filter(task__campaign__benchmark=benchmark)
    left_out = Exclusion.objects.filter(task__campaign__benchmark=benchmark)
    closed = Campaign.objects.filter(benchmark=benchmark, state=CampaignState.CLOSED)
    return [
        newest.pk if newest else 0,
        rulings.count(),
        withdrawn,
        handed_on.count(),
        left_out.count(),
        closed.count(),
    ]


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


@dataclass(frozen=True, slots=True)
class Rulings:
    """Pairs that a lead has ruled on, in the order of the rulings, [n] each.

    codes, labels (grades) and units are as in `JudgmentArrays`.
    """

    codes: Int64Array
    labels: Int64Array
    units: Int64Array


def adjudicated(benchmark: Benchmark) -> Rulings:
    rulings = Adjudication.objects.filter(task__campaign__benchmark=benchmark)
    rulings = rulings.annotate(unit=Coalesce("task__unit", Value(OWN_CAPTION)))
    queries, videos, labels, campaigns, units = read_columns(
        rulings.order_by("pk"),
        "task__pair__query_id",
        "task__pair__video_id",
        "label",
        "task__campaign_id",
        "unit",
    )
    codes = codes_of(benchmark, queries, videos)
    return Rulings(codes, _grades(benchmark, labels, campaigns), units)


def _grades_of(campaign: Campaign) -> int:
    """Return the number of grades: not relevant, and the steps from the threshold on."""
    return len(campaign.labels) - campaign.threshold + 1


def _grades(benchmark: Benchmark, labels: Int64Array, campaigns: Int64Array) -> Int64Array:
    """Labels of campaigns with thresholds of their own on one scale, int64 [n]: what is below the
    threshold is 0, the threshold 1."""
    raised = Campaign.objects.filter(benchmark=benchmark, threshold__gt=1)
    for campaign, threshold in raised.values_list("pk", "threshold"):
        shifted = np.maximum(labels - (threshold - 1), 0)
        labels = np.where(campaigns == campaign, shifted, labels)
    return labels
