"""The question whether a caption is relevant to a video, and at which times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from django.db.models import F, Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.core.spans import (
    TOLERANCE,
    InvalidSpans,
    Span,
    SpanFault,
    SpanOutcomes,
    canonical,
    resolve_spans,
    set_tiou,
    tolerance_fault,
)
from annotation.enums import Only, Scale
from annotation.questions.kind import Int64Array, Link, Recorded, Value, Words
from annotation.questions.label.kind import LabelKind, resolve_labels
from annotation.questions.spans.answers import TaskAnswers, task_answers
from annotation.questions.spans.models import AnswerSpan, spans_of
from annotation.questions.spans.room import ROOM
from hearth.shared.errors import InvalidInput
from hearth.shared.options import OptionFault
from pooling.selectors.arrays import query_keys, video_keys

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.models import Adjudication, Campaign, GoldItem, Judgment, JudgmentTask
    from annotation.services.policy import Policy
    from pooling.models import Benchmark

FAULTS = {
    SpanFault.NUMBER: _("A time must be a finite number of seconds."),
    SpanFault.MANY: _("An answer can have at most 20 spans."),
    SpanFault.NEGATIVE: _("A span must not start before the video."),
    SpanFault.ORDER: _("A span must end after its start."),
    SpanFault.LATE: _("A span must not end after the video."),
    SpanFault.OVERLAP: _("The spans must not overlap."),
}


class SpansKind(LabelKind):
    """The label is in `Judgment.label`, and the spans are rows of `AnswerSpan`.

    The payload, if there is one, is {"marks": …, "shift": …}: the times at which the person pressed
    keys while the video played, and the reaction time by which they were shifted.
    """

    name = "spans"
    fields = ("spans", "marks", "shift")
    room = ROOM
    campaigns = "spans"
    has_checklist = False
    asks = "Is the caption relevant, and where in the video?"
    takes_all = False
    words = Words(
        study="campaign",
        studies="campaigns",
        item="pair",
        items="pairs",
        answer="label",
        answers="labels",
        controls="control pairs",
        heading="Answers",
        proxy="ordered the pairs of the campaign",
        no_control="control pairs with spans. Add control pairs with spans first.",
        no_pairs="No pair of {benchmark} is left to ask about. By default, only pooled pairs with "
        "a relevant label are asked about. Ask about all pooled pairs instead, or build a pool.",
    )
    prefetched = (
        "task__pair__video__segmentation__scenes",
        "task__gold__video__segmentation__scenes",
    )
    answer_relations = ("spans",)
    desk_template = "annotation/questions/spans/_desk.html"
    summary_template = "annotation/questions/spans/_summary.html"
    guideline = "annotation/questions/spans/_guideline.html"
    gold_page = Link("gold-spans", "Add a gold item with spans")
    gold_relations = ("spans",)
    heads = ("caption_id", "video_id", "annotator", "label", "start", "end")

    # --- The API -----------------------------------------------------------------------------

    def item_fields(self) -> dict[str, Any]:
        from annotation.questions.spans.fields import cuts_field

        return super().item_fields() | {"cuts": cuts_field()}

    def answer_fields(self, of: str = "") -> dict[str, Any]:
        from annotation.questions.spans.fields import MarksField, SpansField, shift_field

        return super().answer_fields(of) | {
            "spans": SpansField(source=f"{of}payload.spans"),
            "marks": MarksField(source=f"{of}payload.marks"),
            "shift": shift_field(source=f"{of}payload.shift"),
        }

    def feedback(self, judgment: Judgment) -> dict[str, Any]:
        gold = cast("GoldItem", judgment.task.gold)
        correct = spans_of(gold)
        overlap = set_tiou(spans_of(judgment), correct)
        return super().feedback(judgment) | {
            "spans": [span.seconds for span in correct],
            "overlap": round(overlap, 3),
            "tolerance": tolerance_of(gold),
        }

    # --- Answers -----------------------------------------------------------------------------

    @property
    def needed(self) -> str:
        return gettext("This campaign needs a label, and spans if the caption is relevant.")

    def parse(self, task: JudgmentTask, answer: Recorded) -> Value:
        payload = dict(answer.payload or {})
        if answer.label not in task.campaign.labels or not set(payload) <= set(self.fields):
            raise InvalidInput(self.needed)
        sent = payload.pop("spans", None) or []
        marks = payload.get("marks")
        if marks is not None and len(marks) != len(sent):
            raise InvalidInput(gettext("The marks must be as many as the spans."))
        spans = self._checked(task, answer.label, sent)
        if marks:
            # The marks are stored in the order of the spans.
            payload["marks"] = [marks[place] for place in np.lexsort(np.array(sent).T[::-1])]
        return Value(answer.label, payload or None, spans)

    def _checked(
        self, task: JudgmentTask, label: int, sent: Sequence[Sequence[float]]
    ) -> tuple[Span, ...]:
        if not task.campaign.is_relevant(label):
            if sent:
                raise InvalidInput(gettext("A caption that is not relevant has no spans."))
            return ()
        if not sent:
            raise InvalidInput(gettext("A relevant caption needs at least one span."))
        try:
            return canonical(sent, task.video.duration if task.video else None)
        except InvalidSpans as error:
            raise InvalidInput(str(FAULTS[error.fault])) from None

    def same(self, stored: Judgment, answer: Recorded) -> bool:
        """Return whether label and rounded spans are those that are stored."""
        value = self.parse(stored.task, answer)
        return (stored.label, spans_of(stored)) == (value.label, value.rows)

    def keep(self, stored: Judgment | Adjudication, value: Value) -> None:
        _store(
            "judgment" if stored._meta.model_name == "judgment" else "ruling", stored, value.rows
        )

    def keep_gold(self, item: GoldItem, rows: Sequence[Span]) -> None:
        _store("gold", item, rows)

    def gold_fault(self, rows: Sequence[Span], seconds: float | None) -> str | None:
        try:
            canonical([span.seconds for span in rows or ()], seconds)
        except InvalidSpans as error:
            return error.fault.value
        return None

    def is_right(self, campaign: Campaign, gold: GoldItem, answer: Recorded) -> bool:
        """Return whether the label is right, and the spans overlap enough with the correct ones."""
        if not super().is_right(campaign, gold, answer):
            return False
        spans = cast(Value, answer).rows
        return not gold.is_relevant or set_tiou(spans, spans_of(gold)) >= tolerance_of(gold)

    def words_of(self, campaign: Campaign, answer: Recorded) -> str:
        spans = spans_of(cast("Judgment | Adjudication", answer))
        times = ", ".join(f"{span.start / 1000:.1f}–{span.end / 1000:.1f} s" for span in spans)
        label = super().words_of(campaign, answer)
        return f"{label}, {times}" if times else label

    def ruling(self, task: JudgmentTask, label: int, text: str) -> Value:
        """Return a ruling. text: its spans, one per line, such as `12.3 - 15.84`."""
        spans = parse_spans(text) if task.campaign.is_relevant(label) else []
        return Value(label, rows=self._checked(task, label, spans))

    def case(self, task: JudgmentTask) -> Any:
        from annotation.questions.spans.desk import timeline_of

        return timeline_of(task)

    # --- Opening -----------------------------------------------------------------------------

    def pairs_taken(self, taken: QuerySet[JudgmentTask]) -> QuerySet[JudgmentTask]:
        return taken.filter(campaign__question=self.name)

    def pairs_wanted(self, benchmark: Benchmark, options: dict[str, Any]) -> Int64Array | None:
        from annotation.selectors.tasks import relevant_text_pairs

        return relevant_text_pairs(benchmark) if options["only"] == Only.RELEVANT else None

    def opened_with(self, policy: Policy, **own: Any) -> dict[str, Any]:
        if policy.scale != Scale.BINARY:
            raise OptionFault(
                "scale", "A campaign that asks where needs the scale relevant or not."
            )
        if policy.checklist:
            raise OptionFault("checklist", "A campaign that asks where has no checklist.")
        tolerance = float(own.get("tolerance", TOLERANCE))
        if reason := tolerance_fault(tolerance):
            raise OptionFault("tolerance", reason)
        return {"tolerance": tolerance, "only": str(own.get("only", Only.RELEVANT))}

    def settings(self, campaign: Campaign) -> list[tuple[str, str]]:
        return [
            ("Minimum overlap of two spans", f"{campaign.options['tolerance']:g}"),
            ("Pairs asked about", Only(campaign.options["only"]).label),
        ]

    # --- Outcomes ----------------------------------------------------------------------------

    def answers_of(self, campaign: Campaign, judgments: Sequence[Judgment]) -> Any:
        ordered = sorted(judgments, key=lambda judgment: judgment.pk)
        rows = ((0, judgment.pk, cast(int, judgment.label)) for judgment in ordered)
        return task_answers(campaign, rows, 1)

    def read(self, campaign: Campaign, judgments: QuerySet[Judgment], tasks: Int64Array) -> Any:
        from hearth.shared.bulk import Among, read_columns

        found = judgments.filter(Among("task_id", tasks)).order_by("pk")
        of_task, ids, labels = read_columns(found, "task_id", "pk", "label")
        places = np.searchsorted(tasks, of_task)
        rows = zip(places.tolist(), ids.tolist(), labels.tolist(), strict=True)
        return task_answers(campaign, rows, len(tasks))

    def outcomes(
        self,
        campaign: Campaign,
        answers: Any,
        planned: Int64Array,
        carried: Int64Array,
        *,
        closed: bool,
    ) -> SpanOutcomes:
        """Return whether and where. No label is carried into a campaign that asks where."""
        found = cast(TaskAnswers, answers)
        whether = resolve_labels(campaign, found.counts, planned, closed=closed)
        return resolve_spans(
            whether,
            found.spans,
            labels_max=whether.n_labels if closed else campaign.labels_max,
            threshold=campaign.threshold,
            tolerance=campaign.options["tolerance"],
        )

    # --- Pages and files ---------------------------------------------------------------------

    def summary(self, campaign: Campaign) -> Any:
        from annotation.questions.spans.agreement import summarise

        return summarise(campaign)

    def agreement(self, benchmark: Benchmark) -> dict[str, Any] | None:
        from annotation.questions.spans.agreement import summarise_all

        found = summarise_all(benchmark)
        return None if found is None else asdict(replace(found, people=[]))

    def rows(self, campaign: Campaign) -> Iterator[tuple[Any, ...]]:
        """Yield a row for each span, and one without times for each answer that is not relevant.

        Annotators have numbers from 1 that are valid only in this file.
        """
        from annotation.enums import JudgmentState
        from annotation.models import Judgment

        queries, videos = query_keys(campaign.benchmark), video_keys(campaign.benchmark)
        counted = Judgment.objects.filter(
            Q(task__pair__isnull=False), task__campaign=campaign, state=JudgmentState.LIVE
        )
        numbers: dict[int, int] = {}
        for query, video, annotator, label, start, end in counted.order_by(
            "task__position", "pk", "spans__place"
        ).values_list(
            "task__pair__query__number",
            "task__pair__video__number",
            "annotator_id",
            "label",
            F("spans__start"),
            F("spans__end"),
        ):
            number = numbers.setdefault(annotator, len(numbers) + 1)
            times = (None, None) if start is None else (start / 1000, end / 1000)
            yield queries[query], videos[video], number, label, *times


def _store(owner: str, stored: Any, spans: Sequence[Span]) -> None:
    AnswerSpan.objects.bulk_create(
        AnswerSpan(**{owner: stored}, place=place, start=span.start, end=span.end)
        for place, span in enumerate(spans)
    )


def parse_spans(text: str) -> list[tuple[float, float]]:
    """Read spans from a text such as `12.3-15.84; 20-25.5`, in seconds. Raises `InvalidInput`."""
    found = []
    for part in text.replace("–", "-").replace(";", "\n").replace(",", "\n").split("\n"):
        if not part.strip():
            continue
        try:
            start, end = map(float, part.split("-"))
        except ValueError:
            message = gettext("{text} is not a span. Write its start and end, such as 12.3 - 15.8.")
            raise InvalidInput(message.format(text=part.strip()[:40])) from None
        found.append((start, end))
    return found


def tolerance_of(gold: GoldItem) -> float:
    return float((gold.answer or {}).get("tolerance", TOLERANCE))


KIND = SpansKind()
