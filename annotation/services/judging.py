"""Storing judgments and escalations. Each function is one short transaction."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any, cast

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.enums import (
    STATES_FROM_LABELS,
    AssignmentState,
    CampaignState,
    EscalationKind,
    JudgmentState,
    TaskState,
)
from annotation.models import (
    IN_FORCE,
    Annotator,
    Assignment,
    Campaign,
    Escalation,
    Exclusion,
    GoldItem,
    Guideline,
    Judgment,
    JudgmentTask,
)
from annotation.questions.kind import Value
from annotation.selectors.guidelines import find_past_guideline
from annotation.services.members import (
    count_answer,
    is_paused,
    pause_inaccurate_annotator,
    uncount_answers,
)
from annotation.services.slots import (
    TaskSlots,
    lease_end,
    locked_tasks,
    lowest_free,
    renew_carried,
    update_task_state,
)
from hearth.accounts.roles import is_annotator
from hearth.shared.errors import Conflict, InvalidInput, NotFound, NotPermitted, Outdated
from hearth.shared.metrics import JUDGMENTS
from hearth.shared.prepared import Given, Prepared, sent_together

RELEASED_STATES = (AssignmentState.EXPIRED, AssignmentState.RELEASED)
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
    """An annotator's answer to a task, and facts about how it was made.

    The kind of the question decides whether an answer has a label, a `payload` (by the JSON keys of
    the API), or both.

    `viewing` contains the measurements of the browser, and `missing` the elements of the caption
    that are marked as missing in the video. A second answer to a task is accepted only if
    `corrects` is True. `corrected_key` is the client key of the answer that this one may replace;
    None allows any answer. `guideline` is the version of the guidelines on the screen, 0 for the
    default text; None for the campaign's current version.
    """

    client_key: uuid.UUID
    label: int | None = None
    payload: dict[str, Any] | None = None
    seconds: float | None = None
    viewing: dict[str, Any] | None = None
    missing: list[str] | None = None
    corrects: bool = True
    corrected_key: uuid.UUID | None = None
    guideline: int | None = None


@dataclass(frozen=True, slots=True)
class Submitted:
    """A stored judgment. `created` is False if the same answer was already stored."""

    judgment: Judgment
    created: bool


def submit_judgment(*, assignment_id: int, annotator: Annotator, answer: Answer) -> Submitted:
    """Store one answer and update the task. The judgment is on disk when this returns.

    An answer that comes too late is stored as surplus, which does not count. Examples are answers
    after other annotators filled all slots, after the campaign was closed, and after the annotator
    was deactivated. A second answer of the same annotator replaces the first.

    Raises `NotFound` if the assignment is not the annotator's. Raises `Conflict` if the client key
    was used for another answer, if the annotator has already answered and this is not a correction,
    or if the correct answer has been shown. Raises `Outdated` if the answer to correct was replaced
    in the meantime. Raises `InvalidInput` if the answer does not fit the question or the campaign
    has not had this version of the guidelines.
    """
    submitted = _submit_once(assignment_id, annotator, answer)
    if submitted.created:
        JUDGMENTS.labels(submitted.judgment.state).inc()
    return submitted


def _submit_once(assignment_id: int, annotator: Annotator, answer: Answer) -> Submitted:
    """Store the answer, or return the judgment that is already stored with its client key."""
    try:
        return _submit(assignment_id, annotator, answer)
    except (IntegrityError, Conflict) as error:
        sent = Judgment.objects.filter(annotator=annotator, client_key=answer.client_key)
        stored = sent.select_related("task__campaign__guideline").first()
        if stored is not None:
            return _repeated(stored, assignment_id, answer)
        if isinstance(error, Conflict):
            raise
        # Another answer to the task was stored after this one was checked.
        return _submit(assignment_id, annotator, answer)


@transaction.atomic
def escalate_task(
    *, assignment_id: int, annotator: Annotator, kind: EscalationKind, reason: str = ""
) -> Escalation:
    """Escalate a pair instead of judging it. It leaves the queue until a lead returns it.

    The annotator's lease ends. Their own answer is superseded and no longer counted as work. Labels
    of other annotators stay. A repeated escalation is stored once. A pair that others have settled
    stays settled. A gold item stays in the queue of others unless its video cannot play. In a
    closed campaign, only the lease ends. Raises `NotFound` if the task is not assigned to the
    annotator, `NotPermitted` if they are no longer an annotator of the benchmark, and `Conflict` if
    they have answered it in training.
    """
    task, slots, assignment = _locked_task_of(assignment_id, annotator)
    if _has_left(annotator, task.campaign):
        raise NotPermitted(_("You can no longer judge here."))
    escalation = Escalation.objects.get_or_create(
        task=task, annotator=annotator, kind=kind, withdrawn_at=None, defaults={"reason": reason}
    )[0]
    if task.campaign.state == CampaignState.CLOSED:
        # Judgments of closed campaigns stay. Only the lease ends.
        held = Assignment.objects.filter(pk=assignment.pk, state=AssignmentState.HELD)
        held.update(state=AssignmentState.RELEASED, slot=None)
        return escalation
    own = _current_answer(task, annotator).first()
    if own is not None and task.campaign.is_training:
        raise Conflict(_("You have answered this pair, and its correct answer has been shown."))
    slots.live.pop(annotator.pk, None)
    if own is not None or assignment.state == AssignmentState.HELD:
        Assignment.objects.filter(pk=assignment.pk).update(
            state=AssignmentState.RELEASED, slot=None
        )
    if own is not None:
        Judgment.objects.filter(pk=own.pk).update(state=JudgmentState.SUPERSEDED, slot=None)
        uncount_answers(task.campaign, annotator, 1, is_gold=task.gold_id is not None)
    if task.gold_id is not None and kind == EscalationKind.UNSURE:
        return escalation
    changes: dict[str, Any] = {"labels_live": len(slots.live)}
    if task.state == TaskState.OPEN or (own and task.state in STATES_FROM_LABELS):
        changes |= {"state": STATE_AFTER_ESCALATION[kind], "label": None, "seats_open": 0}
    JudgmentTask.objects.filter(pk=task.pk).update(**changes)
    if own is not None and task.pair_id is not None:
        renew_carried([task.pair_id])
    return escalation


@transaction.atomic
def withdraw_escalation(*, assignment_id: int, annotator: Annotator) -> Assignment:
    """Withdraw the annotator's escalation of a pair, which is assigned to them again.

    An answer that the escalation replaced stays superseded. Others may have filled the slots of the
    pair in the meantime. Then the next answer is surplus. If the pair was not escalated, nothing
    changes. Raises `NotFound` if the task was never assigned to the annotator, `NotPermitted` if
    they can no longer judge, and `Conflict` if a lead has decided on the pair, if another annotator
    has escalated it, too, or if the campaign is closed.
    """
    task, slots, assignment = _locked_task_of(assignment_id, annotator)
    escalations = Escalation.objects.filter(IN_FORCE, task=task)
    own = escalations.filter(annotator=annotator)
    if not own.exists():
        return assignment
    if _has_left(annotator, task.campaign) or is_paused(task.campaign, annotator):
        raise NotPermitted(_("You can no longer judge here."))
    if task.campaign.state == CampaignState.CLOSED:
        raise Conflict(_("The campaign is closed."))
    # A gold item stays open, unless its video cannot play.
    is_at_desk = task.state in STATE_AFTER_ESCALATION.values()
    if not (is_at_desk or task.gold_id) or Exclusion.objects.filter(task=task).exists():
        raise Conflict(_("A lead has decided on this pair."))
    if is_at_desk and escalations.exclude(annotator=annotator).exists():
        raise Conflict(_("Another annotator has escalated this pair, too."))
    own.update(withdrawn_at=timezone.now())
    task.state = TaskState.OPEN
    if task.gold_id is not None:
        task.save(update_fields=["state"])
    update_task_state(task, slots)
    task.refresh_from_db(fields=["seats_open"])
    _hold_again(task, slots, assignment)
    return assignment


def _hold_again(task: JudgmentTask, slots: TaskSlots, assignment: Assignment) -> None:
    """Assign a task to the annotator again, in a free slot if there is one."""
    if task.gold_id is None and not task.seats_open:
        assignment.state = AssignmentState.EXPIRED
    else:
        assignment.state = AssignmentState.HELD
    if assignment.state == AssignmentState.HELD and task.gold_id is None:
        assignment.slot = lowest_free(row.slot for row in slots.assignments)
    Assignment.objects.filter(pk=assignment.pk).update(
        state=assignment.state, slot=assignment.slot, lease_expires_at=lease_end()
    )
    update_task_state(task, TaskSlots(task))


@transaction.atomic
def _submit(assignment_id: int, annotator: Annotator, answer: Answer) -> Submitted:
    task, slots, assignment = _locked_task_of(assignment_id, annotator)
    campaign = task.campaign
    value = campaign.question_kind.parse(task, answer)
    if task.gold_id is not None:
        return _submit_gold(task, assignment, answer, value)
    _check_replaces(slots.live.get(annotator.pk), answer, is_final=False)
    slot = _slot_for(assignment, task, slots)
    state = JudgmentState.SURPLUS if slot is None else JudgmentState.LIVE
    judgment = _create_judgment(task, annotator, answer, value, state=state, slot=slot)
    if slot is not None:
        slots.live[annotator.pk] = judgment
    first = assignment.state != AssignmentState.DONE
    with sent_together():
        if slot is not None or first:
            # A surplus answer fills no slot, but it ends the lease.
            assignment.state, assignment.slot = AssignmentState.DONE, slot
            _end_lease.update(pk=assignment.pk, slot=slot)
        if first:
            # The membership is written after the lease, as in a claim, so that a concurrent claim
            # by the same annotator cannot deadlock.
            count_answer(campaign, annotator, is_gold=False)
        update_task_state(task, slots)
    if slot is not None and not first and task.pair_id is not None:
        # A confirmation in another campaign may have counted the label that this answer replaces.
        renew_carried([task.pair_id])
    return Submitted(judgment, created=True)


def _submit_gold(
    task: JudgmentTask, assignment: Assignment, answer: Answer, value: Value
) -> Submitted:
    """Store an answer to a gold item. It is correct or wrong, and never counted as a label."""
    campaign, annotator = task.campaign, assignment.annotator
    earlier = _current_answer(task, annotator).first()
    _check_replaces(earlier, answer, is_final=campaign.is_training)
    late = _is_late(task, assignment)
    if earlier is not None and not late:
        Judgment.objects.filter(pk=earlier.pk).update(state=JudgmentState.SUPERSEDED)
    judgment = _create_judgment(
        task,
        annotator,
        answer,
        value,
        state=JudgmentState.SURPLUS if late else JudgmentState.GOLD,
        is_right=campaign.question_kind.is_right(campaign, cast(GoldItem, task.gold), value),
    )
    first = assignment.state != AssignmentState.DONE
    if first:
        Assignment.objects.filter(pk=assignment.pk).update(state=AssignmentState.DONE)
    pause_inaccurate_annotator(campaign, annotator)
    if first:
        count_answer(campaign, annotator, is_gold=True)
    return Submitted(judgment, created=True)


def _check_replaces(earlier: Judgment | None, answer: Answer, *, is_final: bool) -> None:
    """Raise an error if the answer must not replace the annotator's current answer to the pair."""
    if earlier is None:
        return
    if is_final or not answer.corrects:
        raise Conflict(_("You have answered this pair before. That answer counts."))
    if answer.corrected_key not in (None, earlier.client_key):
        raise Outdated(_("You have changed this answer in another window. That answer counts."))


def _is_late(task: JudgmentTask, assignment: Assignment) -> bool:
    """Return whether an answer to a gold item is surplus, by the same rules as for a pair."""
    campaign, annotator = task.campaign, assignment.annotator
    return (
        campaign.state == CampaignState.CLOSED
        or task.state != TaskState.OPEN
        or _has_left(annotator, campaign)
        or (assignment.state in RELEASED_STATES and is_paused(campaign, annotator))
        or _was_escalated(task, assignment)
    )


def _was_escalated(task: JudgmentTask, assignment: Assignment) -> bool:
    """Return whether the annotator escalated the pair.

    If a lead returns the pair to the queue, only other annotators can judge it.
    """
    return (
        assignment.state == AssignmentState.RELEASED
        and Escalation.objects.filter(
            IN_FORCE, task=task, annotator=assignment.annotator_id
        ).exists()
    )


def _create_judgment(
    task: JudgmentTask, annotator: Annotator, answer: Answer, value: Value, **outcome: Any
) -> Judgment:
    judgment = Judgment.objects.create(
        task=task,
        annotator=annotator,
        label=value.label,
        payload=value.payload,
        seconds=answer.seconds,
        viewing=answer.viewing,
        missing=answer.missing,
        client_key=answer.client_key,
        guideline=_guideline_shown(task.campaign, answer.guideline),
        **outcome,
    )
    task.campaign.question_kind.keep(judgment, value)
    return judgment


def _guideline_shown(campaign: Campaign, version: int | None) -> Guideline | None:
    """Return the guidelines under which the answer was made."""
    if version is None or version == campaign.guideline_version:
        return campaign.guideline
    is_known, guideline = find_past_guideline(campaign, version)
    if not is_known:
        message = _("This campaign has not had version {version} of the guidelines.")
        raise InvalidInput(message.format(version=version))
    return guideline


def _current_answer(task: JudgmentTask, annotator: Annotator) -> Any:
    """Return the annotator's current answer to a task as a queryset, empty if there is none."""
    current = [JudgmentState.LIVE, JudgmentState.GOLD]
    return Judgment.objects.filter(task=task, annotator=annotator, state__in=current)


def _has_left(annotator: Annotator, campaign: Campaign) -> bool:
    """Return whether the person is no longer an annotator of the benchmark."""
    user = annotator.user
    return user is not None and not is_annotator(user, campaign.benchmark.key)


def _locked_task_of(
    assignment_id: int, annotator: Annotator
) -> tuple[JudgmentTask, TaskSlots, Assignment]:
    """Lock and return the task of the annotator's assignment, with its slots.

    No other transaction can change its leases and labels until this one ends.
    """
    task: JudgmentTask | None = _locked_task.first(assignment=assignment_id)
    if task is not None:
        slots = TaskSlots(task)
        assignment = slots.of(annotator)
        if assignment is not None and assignment.pk == assignment_id:
            assignment.annotator = annotator
            return task, slots, assignment
    raise NotFound(_("This task is not assigned to you."))


def _repeated(stored: Judgment, assignment_id: int, answer: Answer) -> Submitted:
    same_task = Assignment.objects.filter(
        pk=assignment_id, annotator=stored.annotator_id, task=stored.task_id
    ).exists()
    kind = stored.task.campaign.question_kind
    if not same_task or not kind.same(stored, answer):
        raise Conflict(_("This answer was already stored with another label."))
    return Submitted(stored, created=False)


def _slot_for(assignment: Assignment, task: JudgmentTask, slots: TaskSlots) -> int | None:
    """Return the slot for the answer, or None if the answer is surplus.

    If the answer corrects an earlier one, the earlier answer loses its slot to the new answer.
    """
    if (
        task.campaign.state == CampaignState.CLOSED
        or task.state not in STATES_FROM_LABELS
        or _has_left(assignment.annotator, task.campaign)
        or _was_escalated(task, assignment)
    ):
        return None
    earlier = slots.live.get(assignment.annotator_id)
    if earlier is not None:
        Judgment.objects.filter(pk=earlier.pk).update(state=JudgmentState.SUPERSEDED, slot=None)
        return earlier.slot
    if task.state == TaskState.OPEN and assignment.state == AssignmentState.HELD:
        return assignment.slot
    # Only an open task has free slots. A paused annotator's assignments were released.
    if (
        not task.seats_open
        or is_paused(task.campaign, assignment.annotator)
        or _was_withdrawn(assignment)
    ):
        return None
    return lowest_free(row.slot for row in slots.assignments)


def _was_withdrawn(assignment: Assignment) -> bool:
    """Return whether a lead withdrew the annotator's judgment. Then only others judge the pair."""
    if assignment.state == AssignmentState.EXPIRED:
        return False
    return Judgment.objects.filter(
        task=assignment.task_id,
        annotator=assignment.annotator_id,
        state=JudgmentState.WITHDRAWN,
    ).exists()
