"""The form that builds a pool."""

from __future__ import annotations

from typing import Any

from django import forms

from hearth.shared.limits import DEPTH_MAX, SEED_MAX
from pooling.core.pool_options import PROXY_FROM, SIMILARITY, PoolOptions
from pooling.enums import Originals
from pooling.models import Benchmark
from pooling.selectors.pool_plan import SIMILAR_MAX
from pooling.selectors.runs import find_runs

OTHER_FIELDS = ("sample", "video_sample", "seed", "originals", "similar", "similar_from")
PROXY_FIELDS = ("proxy", "proxy_from")
PREVIEW_FIELDS = ("rate", "seconds")


class PoolForm(forms.Form):
    depth = forms.IntegerField(
        label="Depth",
        min_value=1,
        max_value=DEPTH_MAX,
        initial=10,
        help_text="The number of items to pool from the top of each ranked list.",
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
    video_sample = forms.IntegerField(
        label="Sample of videos",
        min_value=1,
        required=False,
        help_text="Number of videos to pool, drawn with the seed; by default, all videos.",
    )
    seed = forms.IntegerField(label="Seed", initial=0, min_value=0, max_value=SEED_MAX)
    originals = forms.ChoiceField(
        label="Original positives",
        choices=Originals.choices,
        initial=Originals.RANKED,
        required=False,
        widget=forms.RadioSelect,
    )
    similar = forms.IntegerField(
        label="Similar captions",
        min_value=1,
        max_value=SIMILAR_MAX,
        required=False,
        help_text="The number of similar texts per caption. The original positives of the captions "
        "with these texts are also pooled for this caption. Texts are similar if they share rare "
        "words. With this option, the preview runs as a job, because it takes up to a minute.",
    )
    similar_from = forms.FloatField(
        label="Lowest similarity",
        initial=SIMILARITY,
        min_value=0.01,
        max_value=1,
        required=False,
        help_text="From 0 to 1; equal texts have 1.",
    )
    proxy = forms.ChoiceField(
        label="Proxy",
        required=False,
        help_text="Adds each pair with a high value, even if no run ranks it.",
    )
    proxy_from = forms.FloatField(
        label="Lowest value",
        initial=PROXY_FROM,
        min_value=0.01,
        max_value=1,
        required=False,
        help_text="From 0 to 1. The page of the proxy shows how many pairs reach each value.",
    )
    budget = forms.IntegerField(
        label="Maximum new pairs",
        min_value=1,
        max_value=2**31 - 1,
        required=False,
        help_text="If there are more new pairs, the pool keeps those that the largest number of "
        "systems rank. Among pairs with equal numbers, the best rank in any run decides, then the "
        "value by the proxy if one is selected, and then the seed.",
    )
    rate = forms.FloatField(
        label="Cost per hour",
        min_value=0,
        max_value=1_000_000,
        required=False,
        help_text="Only the preview uses it. It can be in any currency.",
    )
    seconds = forms.FloatField(
        label="Seconds per answer",
        min_value=0.1,
        max_value=120,
        required=False,
        help_text="Only the preview uses it. By default, it is the median of the recorded times, "
        "or 8 seconds before the first one.",
    )
    expected = forms.RegexField(
        r"\A[0-9a-f]{64}\Z", required=False, widget=forms.HiddenInput, label="Preview"
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["runs"].choices = [  # type: ignore[attr-defined]
            (run.name, f"{run.name} ({run.direction}, depth {run.depth})")
            for run in find_runs(benchmark)
        ]
        names = benchmark.proxies.values_list("name", flat=True)
        self.fields["proxy"].choices = [  # type: ignore[attr-defined]
            ("", "None"),
            *((name, name) for name in names),
        ]
        for name, most in (("sample", benchmark.n_queries), ("video_sample", benchmark.n_videos)):
            field: forms.IntegerField = self.fields[name]  # type: ignore[assignment]
            field.max_value = most
            field.widget.attrs["max"] = most

    def options(self) -> PoolOptions:
        """Return the options of a valid form."""
        return PoolOptions.of(self.cleaned_data)

    def main_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in ("depth", "runs", "budget", "rate", "seconds")]

    def other_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in OTHER_FIELDS]

    def proxy_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in PROXY_FIELDS]

    def shows_others(self) -> bool:
        """Return whether one of `OTHER_FIELDS` has an error or a value that is not its default.

        The page then opens the section with these fields, which is otherwise closed.
        """
        return not self._changed().isdisjoint(OTHER_FIELDS)

    def shows_proxy(self) -> bool:
        """Return whether a proxy is selected, or its fields have an error."""
        return bool(self["proxy"].value()) or not self._changed().isdisjoint(PROXY_FIELDS)

    def _changed(self) -> set[str]:
        return {*self.errors, *self.changed_data} if self.is_bound else set()

    def sent_values(self) -> list[tuple[str, str]]:
        """Return the values of a valid form, for a form that sends the same values again."""
        names = [name for name in self.fields if name not in ("runs", *PREVIEW_FIELDS, "expected")]
        values = [(name, self[name].data or "") for name in names]
        return values + [("runs", run) for run in self.cleaned_data["runs"]]

    def clean_originals(self) -> str:
        return self.cleaned_data["originals"] or Originals.RANKED

    def clean_similar_from(self) -> float:
        return self.cleaned_data["similar_from"] or SIMILARITY

    def clean_proxy_from(self) -> float:
        return self.cleaned_data["proxy_from"] or PROXY_FROM

    def clean_video_sample(self) -> int | None:
        return self._check_sample("video_sample", "videos")

    def clean_sample(self) -> int | None:
        return self._check_sample("sample", "captions")

    def _check_sample(self, name: str, noun: str) -> int | None:
        sample: int | None = self.cleaned_data[name]
        maximum = self.fields[name].max_value  # type: ignore[attr-defined]
        if sample is not None and sample > maximum:
            raise forms.ValidationError(
                f"The sample must not exceed the {maximum:,} {noun} of the benchmark."
            )
        return sample
