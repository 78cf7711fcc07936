"""The filters of captions, videos and pairs. Pages, files and the API share them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from evaluation.catalogue.enums import JudgedPairs, PairOutcome, Positives
from evaluation.models import DRAFT, LabelSet, LabelSource
from evaluation.release.selectors import ORIGINAL, latest_draft
from pooling.enums import MediaState
from pooling.models import KEY_LENGTH, Benchmark, Tag

SEARCH_LENGTH = 100
MAX_WORDS = 10**6
MAX_SECONDS = 10**6


class LabelForm(forms.Form):
    """The labels by which pairs are counted as judged."""

    labels = forms.ChoiceField(label="Labels", required=False)

    def __init__(self, data: Mapping[str, Any], *, benchmark: Benchmark) -> None:
        super().__init__(data)
        self.benchmark = benchmark
        self.sources = _label_sources(benchmark)
        self._offer("labels", [(name, _title(source)) for name, source in self.sources.items()])

    def _offer(self, name: str, choices: list[tuple[str, str]]) -> None:
        field: forms.ChoiceField = self.fields[name]  # type: ignore[assignment]
        field.choices = choices

    @property
    def source(self) -> LabelSource | None:
        """The selected labels of a valid form. By default the newest; None if there are none."""
        return self.sources[self.cleaned_data["labels"] or next(iter(self.sources))]

    @property
    def source_title(self) -> str:
        return _title(self.source)


class FilterForm(LabelForm):
    """A filter. An empty field does not limit the rows."""

    def __init__(self, data: Mapping[str, Any], *, benchmark: Benchmark) -> None:
        super().__init__(data, benchmark=benchmark)
        if "tag" in self.fields:
            names = Tag.objects.filter(benchmark=benchmark).values_list("name", flat=True)
            self._offer("tag", [("", "any"), *((name, name) for name in names)])
        self.order_fields(["q", *(name for name in self.fields if name not in ("q", "labels"))])

    @property
    def options(self) -> dict[str, Any]:
        """The values of a valid form, without the labels."""
        return {name: value for name, value in self.cleaned_data.items() if name != "labels"}

    @property
    def is_filtering(self) -> bool:
        return any(self.data.get(name) for name in self.fields if name != "labels")

    @property
    def folded_fields(self) -> list[forms.BoundField]:
        """The fields that the page shows below "More filters".

        These are all fields except the search and fields with fewer than two choices.
        """
        return [
            self[name]
            for name, field in self.fields.items()
            if name != "q" and len(getattr(field, "choices", "two")) > 1
        ]

    @property
    def has_folded_values(self) -> bool:
        return bool(self.errors) or any(field.data for field in self.folded_fields)

    def clean(self) -> dict[str, Any]:
        least, most = self.cleaned_data.get("least"), self.cleaned_data.get("most")
        if least is not None and most is not None and least > most:
            self.add_error("most", "The maximum must not be below the minimum.")
        return self.cleaned_data


def _choice(label: str, choices: list[tuple[str, str]]) -> forms.ChoiceField:
    return forms.ChoiceField(label=label, choices=[("", "any"), *choices], required=False)


def _search(help_text: str) -> forms.CharField:
    return forms.CharField(
        label="Find",
        required=False,
        max_length=SEARCH_LENGTH,
        help_text=help_text,
        error_messages={"max_length": f"Search for at most {SEARCH_LENGTH} characters."},
    )


class CaptionFilter(FilterForm):
    """Selects captions."""

    q = _search("Captions that contain all these words or parts of words, in text or key.")
    least = forms.IntegerField(
        label="Minimum words", min_value=0, max_value=MAX_WORDS, required=False
    )
    most = forms.IntegerField(
        label="Maximum words", min_value=0, max_value=MAX_WORDS, required=False
    )
    positives = _choice("Original positives", Positives.choices)
    judged = _choice("Judged pairs", JudgedPairs.choices)
    tag = forms.ChoiceField(label="Tag", required=False)


class VideoFilter(FilterForm):
    """Selects videos."""

    q = _search("Videos whose key contains all these words or parts of words.")
    state = _choice("State", MediaState.choices)
    least = forms.FloatField(
        label="Minimum seconds", min_value=0, max_value=MAX_SECONDS, required=False
    )
    most = forms.FloatField(
        label="Maximum seconds", min_value=0, max_value=MAX_SECONDS, required=False
    )
    captions = _choice("Captions", Positives.choices)
    judged = _choice("Judged pairs", JudgedPairs.choices)
    tag = forms.ChoiceField(
        label="Tag",
        required=False,
        help_text="Videos that are an original positive of a caption with this tag.",
    )


class PairFilter(FilterForm):
    """Selects pooled pairs."""

    caption_id = forms.CharField(
        label="Caption id", required=False, max_length=KEY_LENGTH, strip=False
    )
    video_id = forms.CharField(label="Video id", required=False, max_length=KEY_LENGTH, strip=False)
    outcome = _choice("Outcome", PairOutcome.choices)

    @property
    def options(self) -> dict[str, Any]:
        """The values of a valid form; captions and videos as their numbers."""
        return {
            "query": self.cleaned_data["caption_id"],
            "video": self.cleaned_data["video_id"],
            "outcome": self.cleaned_data["outcome"],
        }

    def clean_caption_id(self) -> int | None:
        return self._number("caption_id", self.benchmark.queries)

    def clean_video_id(self) -> int | None:
        return self._number("video_id", self.benchmark.videos)

    def _number(self, name: str, rows: Any) -> int | None:
        key = self.cleaned_data[name]
        if not key:
            return None
        number: int | None = rows.filter(key=key).values_list("number", flat=True).first()
        if number is None:
            raise forms.ValidationError(f"{self.benchmark.key} has no such {name}.")
        return number


def _label_sources(benchmark: Benchmark) -> dict[str, LabelSource | None]:
    """Return the labels that can be selected, by their names.

    Label sets come first, the newest first, and then the draft.
    """
    sets = LabelSet.objects.filter(benchmark=benchmark).defer("agreement")
    found: dict[str, LabelSource | None] = {str(source.reference): source for source in sets}
    if (draft := latest_draft(benchmark)) is not None:
        found[DRAFT] = draft
    return found or {ORIGINAL: None}


def _title(source: LabelSource | None) -> str:
    if source is None:
        return "No labels yet"
    return source.title if isinstance(source, LabelSet) else f"{source.title}, not published"
