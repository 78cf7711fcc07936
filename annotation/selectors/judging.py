"""An annotator's answers in a campaign."""

from __future__ import annotations

from annotation.enums import JudgmentState
from annotation.models import Annotator, Assignment, Campaign, Judgment, Membership


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
    assignments = Assignment.objects.filter(
        annotator=annotator, task__in=[judgment.task_id for judgment in judgments]
    )
    kind = campaign.question_kind
    shown = [f"task__{name}" for name in (*kind.shown, "gold__query", "gold__video")]
    assignments = assignments.select_related(*shown).prefetch_related(*kind.prefetched)
    by_task = {assignment.task_id: assignment for assignment in assignments}
    answered = []
    for judgment in judgments:
        assignment = by_task[judgment.task_id]
        assignment.own = judgment  # type: ignore[attr-defined]
        answered.append(assignment)
    return answered
