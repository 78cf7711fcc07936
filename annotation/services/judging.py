"""Taking judgments and escalations: each function is one short transaction."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction

from annotation.enums import (
    STATES_FROM_LABELS,
    AssignmentState,
    CampaignState,
    EscalationKind,
    JudgmentState,
    TaskState,
)
from annotation.models import (
    Annotator,
    Assignment,
    Campaign,
    Escalation,
    Guideline,
    Judgment,
    JudgmentTask,
)
from annotation.selectors.guidelines import find_past_guideline
from annotation.services.members import count_answer, is_paused, pause_inaccurate_annotator
from annotation.services.seats import Seats, locked_tasks, lowest_free, renew_carried, settle_task
from config.accounts.roles import is_annotator
from config.shared.errors import Conflict, InvalidInput, NotFound, NotPermitted
from config.shared.prepared import Given, Prepared

GIVEN_UP = (AssignmentState.EXPIRED, AssignmentState.RELEASED)
STATE_AFTER_ESCALATION = {
    EscalationKind.UNSURE: TaskState.ESCALATED,
    EscalationKind.CANNOT_PLAY: TaskState.UNPLAYABLE,
}

_locked_task = Prepared(
    lambda: locked_tasks(JudgmentTask.objects.filter(assignments=Given("assignment")))
)
_end_lease = Prepared(
    lambda: Assignment.objects.filter(pk=Given("pk")),
    state=AssignmentState.DONE,
    slot=Given("slot"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a person said of a pair, and how they came to say it.

    `viewing` is what the browser saw of them at work, `missing` the parts of the caption that
    they marked as missing in the video. A second answer to a pair only counts if it `corrects`.
    `guideline` is the version on their screen, 0 for the default text. If it is None, the
    campaign's version at the time of storing counts.
    """

    label: int
    client_key: uuid.UUID
    seconds: float | None = None
    viewing: dict[str, Any] | None = None
    missing: list[str] | None = None
    corrects: bool = True
    guideline: int | None = None


@dataclass(frozen=True, slots=True)
class Submitted:
    """A stored judgment; `created` is False where this very answer was stored before."""

    judgment: Judgment
    created: bool


def submit_judgment(*, assignment_id: int, annotator: Annotator, answer: Answer) -> Submitted:
    """Store one answer and settle the task; the judgment is on disk when this returns.

    An answer whose slot was filled by another meanwhile is kept as surplus and not counted, and
    so is one of a person who was deactivated. A second answer of the same annotator corrects the
    first. Raises `NotFound` for an assignment that is not the annotator's, `Conflict` where the
    client key was used for another label, and where the pair was answered before and this is no
    correction, or its gold label has been told, and `InvalidInput` for a label that is not on the
    scale or a guideline version that the campaign has not had.
    """
    try:
        return _submit(assignment_id, annotator, answer)
    except (IntegrityError, Conflict) as error:
        stored = Judgment.objects.filter(annotator=annotator, client_key=answer.client_key).first()
        if stored is not None:
            return _repeated(stored, assignment_id, answer.label)
        if isinstance(error, Conflict):
            raise
        # Another answer to the task came between our look and our writing.
        return _submit(assignment_id, annotator, answer)


@transaction.atomic
def escalate_task(
    *, assignment_id: int, annotator: Annotator, kind: EscalationKind, reason: str = ""
) -> Escalation:
    """Hand a pair on instead of judging it; it leaves the queue until a lead has seen to it.

    The annotator's lease ends, and their own label, if they gave one, is taken back; those of
    others stay. Said twice, it is one escalation. A pair that others have settled stays settled;
    gold stays with others, unless its video cannot play. Raises `NotFound` for a task that is not
    theirs, `Conflict` where they have answered it in training.
    """
    task, seats, assignment = _locked_task_of(assignment_id, annotator)
    if _has_left(annotator, task.campaign):
        raise NotPermitted("You do not judge here any more.")
    escalation, _ = Escalation.objects.get_or_create(
        task=task, annotator=annotator, kind=kind, defaults={"reason": reason}
    )
    if task.campaign.state == CampaignState.CLOSED:
        # What was judged there stays; only the lease ends.
        held = Assignment.objects.filter(pk=assignment.pk, state=AssignmentState.HELD)
        held.update(state=AssignmentState.RELEASED, slot=None)
        return escalation
    own = _answers_of(task, annotator).first()
    if own is not None and task.campaign.is_training:
        raise Conflict("You have answered this pair, and its answer has been told.")
    seats.live.pop(annotator.pk, None)
    if own is not None or assignment.state == AssignmentState.HELD:
        Assignment.objects.filter(pk=assignment.pk).update(
            state=AssignmentState.RELEASED, slot=None
        )
    if own is not None:
        Judgment.objects.filter(pk=own.pk).update(state=JudgmentState.SUPERSEDED, slot=None)
    if task.gold_id is not None and kind == EscalationKind.UNSURE:
        return escalation
    changes: dict[str, Any] = {"labels_live": len(seats.live)}
    if task.state == TaskState.OPEN or (own and task.state in STATES_FROM_LABELS):
        changes |= {"state": STATE_AFTER_ESCALATION[kind], "label": None, "seats_open": 0}
    JudgmentTask.objects.filter(pk=task.pk).update(**changes)
    if own is not None and task.pair_id is not None:
        renew_carried([task.pair_id])
    return escalation


@transaction.atomic
def _submit(assignment_id: int, annotator: Annotator, answer: Answer) -> Submitted:
    task, seats, assignment = _locked_task_of(assignment_id, annotator)
    campaign = task.campaign
    if answer.label not in campaign.labels:
        raise InvalidInput(f"{answer.label} is not on the scale of this campaign")
    if task.gold_id is not None:
        return _submit_gold(task, assignment, answer)
    if annotator.pk in seats.live and not answer.corrects:
        raise Conflict("You have answered this pair before; that answer stands.")
    slot = _slot_for(assignment, task, seats)
    state = JudgmentState.SURPLUS if slot is None else JudgmentState.LIVE
    judgment = _stored(task, annotator, answer, state=state, slot=slot)
    if slot is not None:
        seats.live[annotator.pk] = judgment
    first = assignment.state != AssignmentState.DONE
    if slot is not None or first:
        # A surplus answer fills no slot, but it ends the lease.
        assignment.state, assignment.slot = AssignmentState.DONE, slot
        _end_lease.update(pk=assignment.pk, slot=slot)
    if first:
        # After the lease: a claim by the same person at the same moment writes in this order.
        count_answer(campaign, annotator, is_gold=False)
    settle_task(task, seats)
    if slot is not None and not first and task.pair_id is not None:
        renew_carried([task.pair_id])  # a correction: a confirmation may rest on the label
    return Submitted(judgment, created=True)


def _submit_gold(task: JudgmentTask, assignment: Assignment, answer: Answer) -> Submitted:
    """An answer to gold: right or wrong, and never counted."""
    campaign, annotator = task.campaign, assignment.annotator
    earlier = _answers_of(task, annotator).first()
    if earlier is not None and (campaign.is_training or not answer.corrects):
        raise Conflict("You have answered this pair before; that answer stands.")
    late = _is_late(task, assignment)
    if earlier is not None and not late:
        Judgment.objects.filter(pk=earlier.pk).update(state=JudgmentState.SUPERSEDED)
    gold = task.gold
    is_right = gold is not None and campaign.is_relevant(answer.label) == gold.is_relevant
    judgment = _stored(
        task,
        annotator,
        answer,
        state=JudgmentState.SURPLUS if late else JudgmentState.GOLD,
        is_right=is_right,
    )
    first = assignment.state != AssignmentState.DONE
    if first:
        Assignment.objects.filter(pk=assignment.pk).update(state=AssignmentState.DONE)
    pause_inaccurate_annotator(campaign, annotator)
    if first:
        count_answer(campaign, annotator, is_gold=True)
    return Submitted(judgment, created=True)


def _is_late(task: JudgmentTask, assignment: Assignment) -> bool:
    """Whether an answer to gold is kept as surplus: where one to a pair would be."""
    campaign, annotator = task.campaign, assignment.annotator
    return (
        campaign.state == CampaignState.CLOSED
        or task.state != TaskState.OPEN
        or _has_left(annotator, campaign)
        or (assignment.state in GIVEN_UP and is_paused(campaign, annotator))
        or _was_handed_on(task, assignment)
    )


def _was_handed_on(task: JudgmentTask, assignment: Assignment) -> bool:
    """Whether the person handed the pair on: put back into the queue, it is for others."""
    return (
        assignment.state == AssignmentState.RELEASED
        and Escalation.objects.filter(task=task, annotator=assignment.annotator_id).exists()
    )


def _stored(task: JudgmentTask, annotator: Annotator, answer: Answer, **outcome: Any) -> Judgment:
    return Judgment.objects.create(
        task=task,
        annotator=annotator,
        label=answer.label,
        seconds=answer.seconds,
        viewing=answer.viewing,
        missing=answer.missing,
        client_key=answer.client_key,
        guideline=_guideline_shown(task.campaign, answer.guideline),
        **outcome,
    )


def _guideline_shown(campaign: Campaign, version: int | None) -> Guideline | None:
    """Return the guideline under which the answer was given."""
    if version is None or version == campaign.guideline_version:
        return campaign.guideline
    is_known, guideline = find_past_guideline(campaign, version)
    if not is_known:
        raise InvalidInput(f"this campaign never had version {version} of the guidelines")
    return guideline


def _answers_of(task: JudgmentTask, annotator: Annotator) -> Any:
    """The annotator's standing answer to a task."""
    standing = [JudgmentState.LIVE, JudgmentState.GOLD]
    return Judgment.objects.filter(task=task, annotator=annotator, state__in=standing)


def _has_left(annotator: Annotator, campaign: Campaign) -> bool:
    """Deactivated, or not an annotator of the benchmark any more."""
    user = annotator.user
    return user is not None and not is_annotator(user, campaign.benchmark.key)


def _locked_task_of(
    assignment_id: int, annotator: Annotator
) -> tuple[JudgmentTask, Seats, Assignment]:
    """The task behind the annotator's assignment, locked: nobody changes its leases and labels
    until we are done."""
    task: JudgmentTask | None = _locked_task.first(assignment=assignment_id)
    if task is not None:
        seats = Seats(task)
        assignment = seats.of(annotator)
        if assignment is not None and assignment.pk == assignment_id:
            assignment.annotator = annotator
            return task, seats, assignment
    raise NotFound("This task is not yours to judge.")


def _repeated(stored: Judgment, assignment_id: int, label: int) -> Submitted:
    same_task = Assignment.objects.filter(
        pk=assignment_id, annotator=stored.annotator_id, task=stored.task_id
    ).exists()
    if stored.label != label or not same_task:
        raise Conflict("This answer was stored before, with another label.")
    return Submitted(stored, created=False)


def _slot_for(assignment: Assignment, task: JudgmentTask, seats: Seats) -> int | None:
    """The slot in which the answer counts, freed of the answer it corrects; None: surplus."""
    if (
        task.campaign.state == CampaignState.CLOSED
        or task.state not in STATES_FROM_LABELS
        or _has_left(assignment.annotator, task.campaign)
        or _was_handed_on(task, assignment)
    ):
        return None
    earlier = seats.live.get(assignment.annotator_id)
    if earlier is not None:
        Judgment.objects.filter(pk=earlier.pk).update(state=JudgmentState.SUPERSEDED, slot=None)
        return earlier.slot
    if task.state == TaskState.OPEN and assignment.state == AssignmentState.HELD:
        return assignment.slot
    # Only an open task has seats. What a person held went back when they were paused.
    if (
        not task.seats_open
        or is_paused(task.campaign, assignment.annotator)
        or _was_taken_back(assignment)
    ):
        return None
    return lowest_free(row.slot for row in seats.assignments)


def _was_taken_back(assignment: Assignment) -> bool:
    """A lead has taken back what this person said of the pair: others are to say."""
    if assignment.state == AssignmentState.EXPIRED:
        return False
    return Judgment.objects.filter(
        task=assignment.task_id,
        annotator=assignment.annotator_id,
        state=JudgmentState.WITHDRAWN,
    ).exists()
