"""Options that several analyses have, and the form fields that follow from declared options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Self, TypedDict, get_args, get_type_hints

import numpy as np
from django import forms

from evaluation.core.arrays import IntArray
from evaluation.core.relevance.measures import parse_measure
from evaluation.lab.analyses.inputs import AUTO, CAPTIONS, VIDEOS, Inputs
from hearth.shared.errors import InvalidInput
from hearth.shared.option_fields import form_field
from hearth.shared.options import Declared, Entry, Option, options_of

MEASURES_MAX, NUMBERS_MAX = 20, 12
SPLIT, UNIT, PROXIES, DIRECTION, STUDIES = "split", "unit", "proxies", "direction", "studies"
MEASURES_HELP = (
    "C@5: share of captions with a positive in the top 5. Also R@5, P@5, AP, RR, nDCG@10."
)


@dataclass(frozen=True, slots=True)
class Parsed:
    """An annotation of an option that a person types as a text, such as a list of measures.

    parse: returns the value of a text. Raises `InvalidInput` if it is not valid.
    """

    parse: Callable[[str], Any]


def parse_measures(text: str, *, shares: bool = False) -> list[str]:
    """Return the measures of a text. shares: whether measures that are ranks are invalid."""
    names = dict.fromkeys(text.split())
    if len(names) > MEASURES_MAX:
        raise InvalidInput(f"Enter at most {MEASURES_MAX} measures.")
    measures = [str(parse_measure(name)) for name in names]
    return [_check_share(name) for name in measures] if shares else measures


def parse_share_measure(text: str) -> str:
    """Return the name of a measure whose values are shares, from 0 to 1."""
    return _check_share(str(parse_measure(text)))


def _check_share(name: str) -> str:
    if parse_measure(name).kind.is_rank:
        raise InvalidInput(f"{name} is a rank, not a share. Choose another measure.")
    return name


def numbers_to(highest: int) -> Parsed:
    """Return the annotation of whole numbers from 1 to `highest`, separated by spaces."""

    def parse(text: str) -> list[int]:
        words = text.split()
        if not all(word.isascii() and word.isdigit() for word in words):
            raise InvalidInput("Enter whole numbers, separated by spaces.")
        numbers = sorted({int(word) for word in words})
        if len(numbers) > NUMBERS_MAX or not 1 <= numbers[0] <= numbers[-1] <= highest:
            raise InvalidInput(f"Enter at most {NUMBERS_MAX} numbers from 1 to {highest:,}.")
        return numbers

    return Parsed(parse)


_MEASURES = Option("Measures", f"Separated by spaces. {MEASURES_HELP}", length=300)
Measures = Annotated[tuple[str, ...], _MEASURES, Parsed(parse_measures)]
ShareMeasures = Annotated[
    tuple[str, ...], _MEASURES, Parsed(lambda text: parse_measures(text, shares=True))
]
ShareMeasure = Annotated[
    str, Option("Measure", MEASURES_HELP, length=30), Parsed(parse_share_measure)
]
Depth = Annotated[
    int, Option("Depth", "Only the top N results of each list are used.", low=1, high=1000)
]
Seed = Annotated[
    int, Option("Seed", "The same seed draws the same samples.", low=0, high=2**31 - 1)
]
Confidence = Annotated[
    float,
    Option(
        "Confidence",
        "From 0.5 to 0.999. For example, 0.95 gives 95\N{NO-BREAK SPACE}% intervals.",
        low=0.5,
        high=0.999,
    ),
]
NumberOfResamples = Annotated[int, Option("Resamples", low=100, high=100_000)]
UNITS = {AUTO: "automatic", VIDEOS: "video", CAPTIONS: "caption"}
Unit = Annotated[
    str,
    Option(
        "Resampling unit",
        "Automatic: video if a video has several captions, because their scores depend on each "
        "other.",
        choices=UNITS,
    ),
]
# The form offers the proxies, ordering studies and train splits of the benchmark. `question`
# replaces an empty selection by all proxies or studies. Studies are primary keys of campaigns,
# because two campaigns can have the same name.
Proxies = Annotated[
    tuple[str, ...],
    Option("Proxies", "If none is selected, all proxies are used.", entry=Entry.CHECKBOXES),
]
Studies = Annotated[
    tuple[str, ...],
    Option(
        "Ordering studies",
        "If none is selected, all ordering studies are used.",
        entry=Entry.CHECKBOXES,
    ),
]
Split = Annotated[str, Option("Train split", entry=Entry.OFFERED)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of an analysis. A subclass declares them.

    Fields without an `Option` are not entered: `filled` computes them. They are left out of JSON if
    they are None.
    """

    def filled(self, inputs: Inputs) -> Self:
        """Replace empty options by values, so that a result names everything that it used."""
        return self

    def check(self) -> None:
        """Raise `OptionFault` if options contradict each other."""


class Drawing(TypedDict):
    """How samples are drawn: keyword arguments for all resampling functions of the core."""

    resamples: int
    confidence: float
    clusters: IntArray | None
    rng: np.random.Generator


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampling(Options):
    """Options of an analysis that resamples captions or videos."""

    unit: Unit = AUTO
    confidence: Confidence = 0.95
    resamples: NumberOfResamples = 10_000
    seed: Seed = 0

    def drawing(self, inputs: Inputs) -> Drawing:
        """Return how samples of captions or videos are drawn, from the beginning of the seed."""
        return {
            "resamples": self.resamples,
            "confidence": self.confidence,
            "clusters": inputs.clusters(self.unit),
            "rng": np.random.default_rng(self.seed),
        }


class ParsedField(forms.CharField):
    """A text of which `parse` makes the value. The API may send the words as a list."""

    def __init__(self, parse: Callable[[str], Any], **options: Any) -> None:
        super().__init__(**options)
        self.parse = parse

    def clean(self, value: Any) -> Any:
        text = super().clean(" ".join(map(str, value)) if isinstance(value, list) else value)
        try:
            return self.parse(text)
        except InvalidInput as error:
            raise forms.ValidationError(error.reason) from None


def form_fields(options: type[Options]) -> dict[str, forms.Field]:
    """Return the form fields of declared options: first those of the class, then inherited ones."""
    hints = get_type_hints(options, include_extras=True)
    bases = [getattr(base, "__dataclass_fields__", {}) for base in options.__mro__[1:]]
    ordered = sorted(options_of(options), key=lambda one: sum(one.name in base for base in bases))
    return {declared.name: _field(declared, get_args(hints[declared.name])) for declared in ordered}


def _field(declared: Declared, notes: tuple[Any, ...]) -> forms.Field:
    field = form_field(declared)
    parsed = next((note for note in reversed(notes) if isinstance(note, Parsed)), None)
    default = declared.default
    if parsed is None:
        field.initial = None if default == () else field.initial
        return field
    return ParsedField(
        parsed.parse,
        label=field.label,
        help_text=field.help_text,
        required=field.required,
        initial=" ".join(map(str, default)) if declared.many else default,
        max_length=declared.option.length,
    )
