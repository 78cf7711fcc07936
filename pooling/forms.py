"""Forms for runs, pools and metadata. The services check the values."""

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

FORMAT_CHOICES = [("auto", "Detect from the content")] + [
    (name, {"trec": "TREC run", "json": "JSON", "npy": "NumPy matrix (.npy)"}.get(name, name))
    for name in FORMATS
]

CSV_HELP = "A CSV file, which can be compressed with gzip."


class RunUploadForm(forms.Form):
    file = forms.FileField(label="File", help_text="A text file can be compressed with gzip.")
    system = forms.CharField(
        label="System",
        max_length=NAME_LENGTH,
        help_text="The retrieval model that produced the run.",
        widget=forms.TextInput(attrs={"list": "known-systems", "autocomplete": "off"}),
    )
    name = forms.CharField(
        label="Name of the run",
        max_length=NAME_LENGTH,
        required=False,
        help_text="Needed only if the system has several runs; by default, the name of the system.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    format = forms.ChoiceField(label="Format", choices=FORMAT_CHOICES, initial="auto")
    depth = forms.IntegerField(
        label="Maximum depth",
        min_value=1,
        max_value=DEPTH_MAX,
        required=False,
        help_text="Videos kept per caption; by default, the whole list or the top 100 of a matrix.",
    )

    def clean_system(self) -> str:
        return _printable(self.cleaned_data["system"])

    def clean_name(self) -> str:
        return _printable(self.cleaned_data["name"])


class TrainCaptionsForm(forms.Form):
    file = forms.FileField(label="File", help_text=CSV_HELP)
    name = forms.CharField(
        label="Name of the split",
        max_length=NAME_LENGTH,
        required=False,
        help_text=f"Needed only if there are several splits, such as 7k; by default, {TRAIN}.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def clean_name(self) -> str:
        return _printable(self.cleaned_data["name"])


class TagsForm(forms.Form):
    file = forms.FileField(label="File", help_text=CSV_HELP)


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
        help_text="The number of videos that each run adds per caption.",
    )
    runs = forms.MultipleChoiceField(
        label="Runs",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="If no run is selected, all runs are pooled.",
    )
    sample = forms.IntegerField(
        label="Sample of captions",
        min_value=1,
        required=False,
        help_text="Number of captions to pool, drawn with the seed; by default, all captions.",
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
        maximum = self.fields["sample"].max_value  # type: ignore[attr-defined]
        if sample is not None and sample > maximum:
            raise forms.ValidationError(
                f"The sample must not exceed the {maximum:,} captions of the benchmark."
            )
        return sample


def _printable(text: str) -> str:
    if not text.isprintable():
        raise forms.ValidationError("Use only printable characters.")
    return text
