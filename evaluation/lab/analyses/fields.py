"""Form fields that several analyses have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from django import forms

from evaluation.core.relevance.measures import Measure, parse_measure
from evaluation.lab.analyses.inputs import AUTO, CAPTIONS, VIDEOS
from hearth.shared.errors import InvalidInput

MEASURES_MAX = 20


NUMBERS_MAX = 12


SPLIT, UNIT, PROXIES, DIRECTION = "split", "unit", "proxies", "direction"
STUDIES = "studies"


SEED_MAX = 2**31 - 1


MEASURES_HELP = (
    "C@5: share of captions with a positive in the top 5. Also R@5, P@5, AP, RR, nDCG@10."
)


class ResamplingOptions(TypedDict):
    """Values of the fields for resampling. confidence: 0 to 1."""

    unit: str
    confidence: float
    resamples: int
    seed: int


class MeasureField(forms.CharField):
    """The name of one measure."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            **{
                "label": "Measure",
                "initial": "C@5",
                "max_length": 30,
                "help_text": MEASURES_HELP,
                **options,
            }
        )

    def clean(self, value: Any) -> str:
        text = super().clean(value)
        return str(_parse_or_reject(text)) if text else text


def _in_one_line(value: Any) -> Any:
    """Return a list, which the API may send, as the text that a person would type."""
    return " ".join(map(str, value)) if isinstance(value, list) else value


class MeasuresField(forms.CharField):
    """Names of measures, separated by spaces.

    If `shares` is set, measures that are ranks are invalid.
    """

    def __init__(self, *, shares: bool = False, **options: Any) -> None:
        self.shares = shares
        super().__init__(
            **{
                "label": "Measures",
                "initial": "C@1 C@5 C@10 AP",
                "max_length": 300,
                "help_text": f"Separated by spaces. {MEASURES_HELP}",
                **options,
            }
        )

    def clean(self, value: Any) -> list[str]:
        names = super().clean(_in_one_line(value)).split()
        if len(names) > MEASURES_MAX:
            raise forms.ValidationError(f"Enter at most {MEASURES_MAX} measures.")
        found = [str(_parse_or_reject(name)) for name in dict.fromkeys(names)]
        return [_reject_rank(name) for name in found] if self.shares else found


class NumbersField(forms.CharField):
    """Whole numbers from 1, separated by spaces."""

    def __init__(self, *, highest: int, **options: Any) -> None:
        super().__init__(**{"max_length": 100, "help_text": "Separated by spaces.", **options})
        self.highest = highest

    def clean(self, value: Any) -> list[int]:
        words = super().clean(_in_one_line(value)).split()
        if not all(word.isascii() and word.isdigit() for word in words):
            raise forms.ValidationError("Enter whole numbers, separated by spaces.")
        numbers = sorted({int(word) for word in words})
        if len(numbers) > NUMBERS_MAX or not 1 <= numbers[0] <= numbers[-1] <= self.highest:
            raise forms.ValidationError(
                f"Enter at most {NUMBERS_MAX} numbers from 1 to {self.highest:,}."
            )
        return numbers


def _parse_or_reject(name: str) -> Measure:
    try:
        return parse_measure(name)
    except InvalidInput as error:
        raise forms.ValidationError(error.reason) from None


class ShareMeasureField(MeasureField):
    """The name of one measure whose values are shares, from 0 to 1."""

    def clean(self, value: Any) -> str:
        return _reject_rank(super().clean(value))


def _reject_rank(name: str) -> str:
    if parse_measure(name).kind.is_rank:
        raise forms.ValidationError(f"{name} is a rank, not a share. Choose another measure.")
    return name


def split_field() -> forms.ChoiceField:
    """Return the field for the train split.

    Name it `SPLIT` in a form: the form then offers the train splits of the benchmark.
    """
    return forms.ChoiceField(label="Train split")


def proxies_field() -> forms.MultipleChoiceField:
    """Return the field for one or several proxies.

    Name it `PROXIES` in a form: the form then offers the proxies of the benchmark, and
    `question_from_form` replaces an empty selection by the names of all of them.
    """
    return forms.MultipleChoiceField(
        label="Proxies",
        required=False,
        help_text="If none is selected, all proxies are used.",
        widget=forms.CheckboxSelectMultiple,
    )


def studies_field() -> forms.MultipleChoiceField:
    """Return the field for one or several ordering studies.

    Name it `STUDIES` in a form: the form then offers the studies of the benchmark, and
    `question_from_form` replaces an empty selection by all of them. Values are primary keys of
    campaigns, because two campaigns can have the same name.
    """
    return forms.MultipleChoiceField(
        label="Ordering studies",
        required=False,
        help_text="If none is selected, all ordering studies are used.",
        widget=forms.CheckboxSelectMultiple,
    )


def resampling_unit_field(further: Sequence[tuple[str, str]] = ()) -> forms.ChoiceField:
    """Return the field for the resampling unit. further: choices beside the usual ones.

    Name it `UNIT` in a form: `question_from_form` then replaces `AUTO` by the unit that it selects.
    """
    return forms.ChoiceField(
        label="Resampling unit",
        initial=AUTO,
        choices=[
            (AUTO, "automatic"),
            (VIDEOS, "video"),
            (CAPTIONS, "caption"),
            *further,
        ],
        help_text="Automatic: video if a video has several captions, because their scores depend "
        "on each other.",
    )


def resamples_field(initial: int = 10_000) -> forms.IntegerField:
    return forms.IntegerField(label="Resamples", initial=initial, min_value=100, max_value=100_000)


def confidence_field() -> forms.FloatField:
    return forms.FloatField(
        label="Confidence",
        initial=0.95,
        min_value=0.5,
        max_value=0.999,
        help_text="From 0.5 to 0.999. For example, 0.95 gives 95\N{NO-BREAK SPACE}% intervals.",
    )


def depth_field(initial: int = 10) -> forms.IntegerField:
    return forms.IntegerField(
        label="Depth",
        initial=initial,
        min_value=1,
        max_value=1000,
        help_text="Only the top N results of each list are used.",
    )


def seed_field() -> forms.IntegerField:
    return forms.IntegerField(
        label="Seed",
        initial=0,
        min_value=0,
        max_value=SEED_MAX,
        help_text="The same seed draws the same samples.",
    )
