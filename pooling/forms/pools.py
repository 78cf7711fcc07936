"""The form that builds a pool."""

from __future__ import annotations

from typing import Any

from django import forms

from hearth.shared.option_fields import OptionsForm
from hearth.shared.options import SEED_MAX
from pooling.core.pool_options import PoolRequest
from pooling.models import Benchmark
from pooling.selectors.runs import find_runs


class PoolForm(OptionsForm[PoolRequest]):
    action = PoolRequest

    # Scripts can use negative seeds.
    seed = forms.IntegerField(label="Seed", initial=0, min_value=0, max_value=SEED_MAX)

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        names = [(name, name) for name in benchmark.proxies.values_list("name", flat=True)]
        runs = [
            (run.name, f"{run.name} ({run.direction}, depth {run.depth})")
            for run in find_runs(benchmark, upper_bounds=True)
        ]
        offered = {"runs": runs, "proxy": [("", "None"), *names]}
        super().__init__(*args, offered=offered, **kwargs)
        if not names:
            del self.fields["proxy"], self.fields["proxy_from"]
        for name, most in (("sample", benchmark.n_queries), ("video_sample", benchmark.n_videos)):
            field: forms.IntegerField = self.fields[name]  # type: ignore[assignment]
            field.max_value = most
            field.widget.attrs["max"] = most

    def clean_sample(self) -> int | None:
        return self._check_sample("sample", "captions")

    def clean_video_sample(self) -> int | None:
        return self._check_sample("video_sample", "videos")

    def _check_sample(self, name: str, noun: str) -> int | None:
        sample: int | None = self.cleaned_data[name]
        maximum = self.fields[name].max_value  # type: ignore[attr-defined]
        if sample is not None and sample > maximum:
            raise forms.ValidationError(
                f"The sample must not exceed the {maximum:,} {noun} of the benchmark."
            )
        return sample
