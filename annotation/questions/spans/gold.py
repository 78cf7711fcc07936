"""Gold items with spans, for training and control."""

from __future__ import annotations

from django import forms

from annotation.core.readers.gold import EXPLANATION_LENGTH
from annotation.core.spans import TOLERANCE, InvalidSpans, canonical, tolerance_fault
from annotation.enums import GoldUse
from annotation.models import GoldItem
from annotation.policies import check_can_lead
from annotation.services.gold import Gold, add_gold
from hearth.accounts.actors import Actor
from hearth.shared.errors import InvalidInput
from pooling.models import Benchmark, Query, Video


def add_gold_spans(
    *,
    benchmark: Benchmark,
    caption: str,
    video: str,
    spans: list[tuple[float, float]],
    by: Actor,
    use: GoldUse = GoldUse.TRAINING,
    tolerance: float = TOLERANCE,
    explanation: str = "",
) -> GoldItem:
    """Add a gold item whose correct answer is relevant at these spans, or not relevant without any.

    An answer is right if its label is, and if its spans and the correct ones overlap by at least
    the tolerance. caption, video: keys. spans: in seconds. Raises `InvalidInput` if a value is not
    valid, and `Conflict` if the pair has a gold item with spans.
    """
    check_can_lead(by, benchmark)
    if fault := tolerance_fault(tolerance):
        raise InvalidInput(fault)
    query = Query.objects.filter(benchmark=benchmark, key=caption).first()
    shown = Video.objects.filter(benchmark=benchmark, key=video).first()
    if query is None or shown is None:
        noun, key = ("caption", caption) if query is None else ("video", video)
        raise InvalidInput(f"The benchmark has no {noun} {key!r}.")
    try:
        rows = canonical(spans, shown.duration)
    except InvalidSpans as error:
        raise InvalidInput(error.fault.value) from None
    gold = Gold(
        query=query.number,
        video=shown.number,
        is_relevant=bool(rows),
        explanation=explanation,
        answer={"tolerance": tolerance},
        rows=rows,
    )
    add_gold(benchmark=benchmark, use=use, gold=[gold], by=by, question="spans")
    return GoldItem.objects.get(query=query, video=shown, question="spans")


class GoldSpansForm(forms.Form):
    """A pair, and the spans at which its caption is relevant."""

    caption = forms.CharField(label="Caption", help_text="The key of the caption.")
    video = forms.CharField(label="Video", help_text="The key of the video.")
    spans = forms.CharField(
        label="Correct spans",
        required=False,
        help_text="Start and end in seconds, one span per line. Empty: not relevant.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    tolerance = forms.FloatField(
        label="Minimum overlap",
        initial=TOLERANCE,
        min_value=0.05,
        max_value=1,
        help_text="The least overlap of the answer and the correct spans (tIoU of all spans).",
    )
    use = forms.ChoiceField(
        label="Use", choices=GoldUse.choices, initial=GoldUse.TRAINING, widget=forms.RadioSelect
    )
    explanation = forms.CharField(
        label="Explanation",
        required=False,
        max_length=EXPLANATION_LENGTH,
        widget=forms.Textarea(attrs={"rows": 2, "dir": "auto"}),
    )
