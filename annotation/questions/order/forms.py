"""The forms that open an ordering study and add a control order."""

from __future__ import annotations

from typing import Any

from django import forms

from annotation.core.readers.gold import EXPLANATION_LENGTH
from annotation.questions.order.orders import CAPTIONS
from annotation.questions.order.study import NewStudy
from hearth.shared.option_fields import OptionsForm


class NewStudyForm(OptionsForm[NewStudy]):
    """The proxy that chooses the captions, and the options of the study."""

    action = NewStudy
    field_order = ("proxy", "videos", "labels_each", "levels", "name", "joining", "seed")


class GoldOrderForm(forms.Form):
    """A video and five captions, with the step of each caption."""

    video = forms.CharField(
        label="Video",
        help_text="The key of the video. Captions are also entered by their keys.",
    )
    explanation = forms.CharField(
        label="Explanation",
        required=False,
        max_length=EXPLANATION_LENGTH,
        help_text="For leads: why the order is certain.",
        widget=forms.Textarea(attrs={"rows": 2, "dir": "auto"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        steps = [(step, str(step + 1)) for step in range(CAPTIONS)]
        for number in range(CAPTIONS):
            self.fields[f"caption_{number}"] = forms.CharField(label=f"Caption {number + 1}")
            self.fields[f"step_{number}"] = forms.TypedChoiceField(
                label=f"Step of caption {number + 1}", choices=steps, coerce=int, initial=number
            )

    def rows(self) -> list[tuple[forms.BoundField, forms.BoundField]]:
        """Return the fields of each caption."""
        return [(self[f"caption_{number}"], self[f"step_{number}"]) for number in range(CAPTIONS)]

    def order(self) -> dict[str, Any]:
        """Return the video, captions, steps and explanation of a valid form."""
        data, numbers = self.cleaned_data, range(CAPTIONS)
        return {
            "video": data["video"],
            "captions": [data[f"caption_{number}"] for number in numbers],
            "steps": [data[f"step_{number}"] for number in numbers],
            "explanation": data["explanation"],
        }
