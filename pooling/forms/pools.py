"""The form that builds a pool."""

from __future__ import annotations

from typing import Any

from django import forms

from config.shared.limits import DEPTH_MAX, SEED_MAX
from pooling.models import Benchmark
from pooling.selectors.runs import find_runs


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
