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

    Each has the label of the answer as `own_label` and its `client_key` as `own_key`. In an
    ordering study, the label is the number of the order.
    """
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
        "task__pair__query",
        "task__pair__video",
        "task__gold__query",
        "task__gold__video",
        "task__ordering_video",
    )
    if campaign.is_ordering:
        assignments = assignments.prefetch_related(
            "task__ordering_captions__query", "task__gold__captions__query"
        )
    by_task = {assignment.task_id: assignment for assignment in assignments}
    answered = []
    for judgment in judgments:
        assignment = by_task[judgment.task_id]
        assignment.own_label = judgment.label  # type: ignore[attr-defined]
        assignment.own_key = judgment.client_key  # type: ignore[attr-defined]
        answered.append(assignment)
    return answered
