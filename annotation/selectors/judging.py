"""An annotator's answers and escalations in a campaign."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.enums import JudgmentState
from annotation.models import (
    IN_FORCE,
    Annotator,
    Assignment,
    Campaign,
    Escalation,
    Judgment,
    Membership,
)


def judged_by(campaign: Campaign, annotator: Annotator) -> int:
    """Return the number of the annotator's answers in the campaign, including gold items."""
    membership = Membership.objects.filter(campaign=campaign, annotator=annotator).first()
    return membership.answered if membership else 0


def last_judged(campaign: Campaign, annotator: Annotator, count: int) -> list[Assignment]:
    """Return the assignments of the annotator's last answers, newest first.

    Each has the answer as `own`.
    """
    judgments = list(
        Judgment.objects.filter(
            annotator=annotator,
            task__campaign=campaign,
            state__in=[JudgmentState.LIVE, JudgmentState.GOLD],
        )
        .order_by("-created_at", "-pk")
        .prefetch_related(*campaign.question_kind.answer_relations)[:count]
    )
    return _with_own(campaign, annotator, judgments)


def last_escalated(campaign: Campaign, annotator: Annotator, count: int) -> list[Assignment]:
    """Return the assignments of the annotator's last escalations in force, newest first.

    Each has the escalation as `own`.
    """
    escalations = Escalation.objects.filter(IN_FORCE, annotator=annotator, task__campaign=campaign)
    newest = {row.task_id: row for row in escalations.order_by("created_at", "pk")}
    return _with_own(campaign, annotator, [*newest.values()][::-1][:count])


def _with_own(
    campaign: Campaign, annotator: Annotator, own: Sequence[Judgment | Escalation]
) -> list[Assignment]:
    """Return the assignments of the tasks of these rows, each with its row as `own`."""
    assignments = Assignment.objects.filter(
        annotator=annotator, task__in=[row.task_id for row in own]
    )
    kind = campaign.question_kind
    shown = [f"task__{name}" for name in (*kind.shown, "gold__query", "gold__video")]
    assignments = assignments.select_related(*shown).prefetch_related(*kind.prefetched)
    by_task = {assignment.task_id: assignment for assignment in assignments}
    found = []
    for row in own:
        assignment = by_task[row.task_id]
        assignment.own = row  # type: ignore[attr-defined]
        found.append(assignment)
    return found
