"""The answers to a task on one timeline, for leads."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.core.spans import where
from annotation.enums import JudgmentState
from annotation.models import Judgment, JudgmentTask
from annotation.questions.spans.cuts import cuts_of
from annotation.questions.spans.models import spans_of

# The drawing is this wide, and a row this high.
WIDTH, ROW = 1000, 26
BAR = 16


@dataclass(frozen=True, slots=True)
class Bar:
    """A span in the drawing: its edge and width, and its times as text."""

    x: float
    width: float
    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """An answer in the drawing. y: its upper edge."""

    name: str
    y: int
    bars: list[Bar]

    @property
    def bar_y(self) -> int:
        return self.y + (ROW - BAR) // 2


@dataclass(frozen=True, slots=True)
class SpanCase:
    """The spans of a task. unsettled: what a lead decides. suggested: spans for the ruling.

    cuts: the times of scene cuts in seconds.
    """

    rows: list[Row]
    seconds: float
    unsettled: str
    suggested: str
    cuts: list[float]

    @property
    def height(self) -> int:
        return ROW * len(self.rows)


def timeline_of(task: JudgmentTask) -> SpanCase:
    """Return the spans of a task's current answers in order of arrival, and of their outcome."""
    from annotation.selectors.desk import pseudonym

    live = Judgment.objects.filter(task=task, state__in=[JudgmentState.LIVE, JudgmentState.GOLD])
    everyone = Judgment.objects.filter(task=task).order_by("created_at", "pk")
    names = dict.fromkeys(everyone.values_list("annotator_id", flat=True))
    places = {annotator: place for place, annotator in enumerate(names)}
    answers = [
        (pseudonym(places[judgment.annotator_id]), spans_of(judgment))
        for judgment in live.order_by("pk").prefetch_related("spans")
    ]
    marked = [spans for _, spans in answers if spans]
    last = max((span.end for spans in marked for span in spans), default=0) / 1000
    seconds = max(last, (task.video.duration if task.video else None) or 0)
    settled = where(marked, task.campaign.options.get("tolerance", 1)) if marked else ()
    rows = [*answers, ("Agreed", settled)] if settled else answers
    return SpanCase(
        rows=[
            Row(name, ROW * place, [_bar(span, seconds) for span in spans])
            for place, (name, spans) in enumerate(rows)
            if spans
        ],
        seconds=seconds,
        unsettled=""
        if task.label is None
        else "All agree that the caption is relevant. It is not settled at which times.",
        suggested="\n".join(f"{s.start / 1000:g} - {s.end / 1000:g}" for s in settled),
        cuts=cuts_of(task.video),
    )


def _bar(edges: tuple[int, ...], seconds: float) -> Bar:
    start, end = edges[0] / 1000, edges[1] / 1000
    scale = WIDTH / seconds
    return Bar(round(start * scale, 2), round((end - start) * scale, 2), f"{start:g}–{end:g} s")
