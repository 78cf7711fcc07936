"""The form that plans and opens an ordering study."""

from __future__ import annotations

from typing import Any

from django import forms

from annotation.core.orderings import Levels
from annotation.enums import Joining
from annotation.forms.fields import number_field
from annotation.services import StudyOptions
from annotation.services.orderings import LABELS_LEAST, VIDEOS_MAX
from annotation.services.policy import LABELS_MOST
from hearth.shared.options import SEED_MAX
from pooling.models import Benchmark


class OrderingForm(forms.Form):
    """The proxy that chooses the captions, and the options of the study."""

    proxy = forms.ChoiceField(
        label="Proxy",
        help_text="The values of this proxy decide which five captions of the benchmark are shown "
        "with each video. Annotators do not see the proxy.",
    )
    videos = number_field("Videos", 100, min_value=1, max_value=VIDEOS_MAX)
    labels_each = number_field(
        "Orders per video",
        3,
        min_value=LABELS_LEAST,
        max_value=LABELS_MOST,
        help_text="Each order comes from a different annotator. Wray et al. (2021) used three.",
    )
    levels = forms.ChoiceField(
        label="Quartiles over",
        choices=[
            (
                Levels.CAPTIONS,
                "All captions, as in Wray et al. (2021): some of the five can have equal values",
            ),
            (Levels.VALUES, "The distinct values: the five captions have five different values"),
        ],
        initial=Levels.CAPTIONS,
        widget=forms.RadioSelect,
    )
    name = forms.CharField(
        label="Name",
        required=False,
        max_length=150,
        help_text="Annotators see this name, so it must not contain the name of the proxy.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "dir": "auto"}),
    )
    joining = forms.ChoiceField(
        label="Who may judge",
        choices=Joining.choices,
        initial=Joining.ALL,
        widget=forms.RadioSelect,
    )
    seed = forms.IntegerField(
        label="Seed",
        initial=0,
        min_value=0,
        max_value=SEED_MAX,
        help_text="The seed draws the videos, decides between captions with equal values, and "
        "arranges the captions on the screen.",
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = benchmark.proxies.order_by("name").values_list("name", flat=True)
        self.fields["proxy"].choices = [(name, name) for name in names]  # type: ignore[attr-defined]

    def options(self) -> StudyOptions:
        """Return the options of a valid form."""
        data = self.cleaned_data
        return StudyOptions(
            videos=data["videos"],
            levels=Levels(data["levels"]),
            labels_each=data["labels_each"],
            seed=data["seed"],
        )

    def sent_values(self) -> list[tuple[str, str]]:
        """Return the values of a valid form, for hidden fields that send them again."""
        return [(name, self[name].data or "") for name in self.fields]
