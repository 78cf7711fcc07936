"""The shape of what comes in for runs and pools. What it means is checked by the services."""

from __future__ import annotations

from typing import Any

from django import forms

from config.shared.limits import DEPTH_MAX, SEED_MAX
from pooling.core.run_file import FORMATS
from pooling.enums import EqualTexts
from pooling.models import Benchmark
from pooling.selectors import find_runs
from pooling.services.metadata import TRAIN
from pooling.services.names import NAME_LENGTH

FORMAT_CHOICES = [("auto", "Told by the content")] + [
    (name, {"trec": "TREC run", "json": "JSON", "npy": "NumPy matrix (.npy)"}.get(name, name))
    for name in FORMATS
]


class RunUploadForm(forms.Form):
    file = forms.FileField(label="File", help_text="Text may be gzipped.")
    system = forms.CharField(
        label="System",
        max_length=NAME_LENGTH,
        help_text="The retrieval model that made the run.",
        widget=forms.TextInput(attrs={"list": "known-systems", "autocomplete": "off"}),
    )
    name = forms.CharField(
        label="Name of the run",
        max_length=NAME_LENGTH,
        required=False,
        help_text="The system's name, unless it has several runs here.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    format = forms.ChoiceField(label="Format", choices=FORMAT_CHOICES, initial="auto")
    depth = forms.IntegerField(
        label="Keep the top",
        min_value=1,
        max_value=DEPTH_MAX,
        required=False,
        help_text="Videos per caption. Empty: all of a list, the top 100 of a matrix.",
    )

    def clean_system(self) -> str:
        return _printable(self.cleaned_data["system"])

    def clean_name(self) -> str:
        return _printable(self.cleaned_data["name"])


class TrainCaptionsForm(forms.Form):
    file = forms.FileField(label="File", help_text="CSV, may be gzipped.")
    name = forms.CharField(
        label="Name of the split",
        max_length=NAME_LENGTH,
        required=False,
        help_text=f"Such as 7k, where systems were trained on several. Empty: {TRAIN}.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def clean_name(self) -> str:
        return _printable(self.cleaned_data["name"])


class TagsForm(forms.Form):
    file = forms.FileField(label="File", help_text="CSV, may be gzipped.")


class EqualTextsForm(forms.Form):
    rule = forms.ChoiceField(
        label="Rule for equal texts",
        choices=EqualTexts.choices,
        widget=forms.RadioSelect,
    )


class PoolForm(forms.Form):
    depth = forms.IntegerField(
        label="Depth",
        min_value=1,
        max_value=DEPTH_MAX,
        initial=10,
        help_text="So many videos of each run's list are to be judged.",
    )
    runs = forms.MultipleChoiceField(
        label="Runs",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None chosen: all of them.",
    )
    sample = forms.IntegerField(
        label="Sample of captions",
        min_value=1,
        required=False,
        help_text="Pool only so many captions, drawn by the seed. Empty: all.",
    )
    seed = forms.IntegerField(label="Seed", initial=0, min_value=0, max_value=SEED_MAX)

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["runs"].choices = [  # type: ignore[attr-defined]
            (run.name, f"{run.name} (depth {run.depth})") for run in find_runs(benchmark)
        ]
        sample: forms.IntegerField = self.fields["sample"]  # type: ignore[assignment]
        sample.max_value = benchmark.n_queries
        sample.widget.attrs["max"] = benchmark.n_queries

    def clean_sample(self) -> int | None:
        sample: int | None = self.cleaned_data["sample"]
        most = self.fields["sample"].max_value  # type: ignore[attr-defined]
        if sample is not None and sample > most:
            raise forms.ValidationError(f"The benchmark has {most:,} captions.")
        return sample


def _printable(text: str) -> str:
    if not text.isprintable():
        raise forms.ValidationError("Only printable characters.")
    return text
