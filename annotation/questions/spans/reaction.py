"""The reaction time of a person, by which marks that are made while a video plays are shifted."""

from __future__ import annotations

from statistics import median

from annotation.core.spans import Span, milliseconds, tiou
from annotation.enums import CampaignKind, JudgmentState
from annotation.models import Annotator, Judgment
from annotation.questions.spans.models import spans_of

# Fewer marks do not measure a person.
MARKS_LEAST = 4
MARKS_MOST = 60
# Another distance from the correct edge is no reaction, but another opinion about the edge.
SECONDS_MOST = 1.5


def reaction_time(annotator: Annotator) -> float | None:
    """Return the median time from a known change to the person's mark, in seconds, or None.

    It is computed from the person's last answers in training, whose correct edges are known.
    """
    answers = Judgment.objects.filter(
        annotator=annotator,
        state=JudgmentState.GOLD,
        payload__marks__isnull=False,
        task__campaign__question="spans",
        task__campaign__kind=CampaignKind.TRAINING,
    ).order_by("-pk")
    delays: list[float] = []
    for answer in answers.select_related("task__gold").prefetch_related(
        "spans", "task__gold__spans"
    )[:MARKS_MOST]:
        correct = spans_of(answer.task.gold) if answer.task.gold else ()
        delays += delays_of(spans_of(answer), (answer.payload or {})["marks"], correct)
    return measured(delays[:MARKS_MOST])


def delays_of(
    spans: tuple[Span, ...], marks: list[list[float | None]], correct: tuple[Span, ...]
) -> list[float]:
    """Return the seconds from each known edge to the mark of the span that overlaps it most."""
    delays = []
    for span, pair in zip(spans, marks, strict=True):
        nearest = max(correct, key=lambda other: tiou(span, other), default=None)
        if nearest is None or not tiou(span, nearest):
            continue
        for mark, edge in zip(pair, nearest, strict=True):
            if mark is not None:
                delays.append((milliseconds(mark) - edge) / 1000)
    return delays


def measured(delays: list[float]) -> float | None:
    """Return the reaction time from delays, between 0 and `SECONDS_MOST`, or None if too few."""
    near = [delay for delay in delays if abs(delay) <= SECONDS_MOST]
    return max(0.0, round(median(near), 3)) if len(near) >= MARKS_LEAST else None
