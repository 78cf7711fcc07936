"""A measure as a value that prints, parses and hashes, and what is known about each kind.

A text consists of the name, the cutoff and the parameters: `C@10`, `AP(found)@5`,
`nDCG@10(gain=linear)`, `R@1(tIoU>=0.5)`. Equal measures have equal texts, so the text of a measure
is its key in results, its head in tables and its name in commands, as in ir_measures (MacAvaney,
Macdonald and Ounis, Streamlining Evaluation with ir-measures, ECIR 2022).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.relevance.strata import NEEDS_STRATA
from hearth.shared.errors import InvalidInput

if TYPE_CHECKING:
    from evaluation.core.graded.scoring import GradedLists
    from evaluation.core.moments.lists import MomentLists
    from evaluation.core.pools.extremes import Extremes, Sides
    from evaluation.core.relevance.scoring import ListStatistics

_MAX_CUTOFF: Final = 999_999
# A cutoff has no leading zero, so that equal measures have equal texts. The pattern is [0-9],
# because \d also matches digits of other scripts.
_TEXT: Final = re.compile(r"([A-Za-z]+(?:\([a-z]+\))?)(?:@([1-9][0-9]{0,5}))?(?:\(([^()]+)\))?")
_PARAMETER: Final = re.compile(r"([A-Za-z]+)(>=|>|=)([a-z]+|[0-9.]+)")

NO_QUERIES: Final = "no queries"


@dataclass(frozen=True, slots=True)
class Score:
    """A mean over `n` queries, or the reason why it is undefined. Exactly one of the two is set."""

    value: float | None
    n: int
    undefined: str | None = None


class Cutoff(Enum):
    """Whether a measure has a cutoff k, written `@k`."""

    NONE = ""
    ALLOWED = "[@k]"
    NEEDED = "@k"


class Parameter(NamedTuple):
    """A parameter of a measure, for example `gain=linear` or `tIoU>=0.5`."""

    name: str
    sign: str
    value: str | float

    def __str__(self) -> str:
        if isinstance(self.value, str):
            return f"{self.name}{self.sign}{self.value}"
        return f"{self.name}{self.sign}{np.format_float_positional(self.value, trim='-')}"


@dataclass(frozen=True, slots=True)
class Declared:
    """A parameter that a kind of measure takes.

    values: the words that it can be; without words, it is a number from 0 to 1. signs: `=`, or `>=`
    and `>` for a threshold that is reached or exceeded. needs: what a measure with this parameter
    is computed from, if labels of whole videos are not enough.
    """

    values: tuple[str, ...] = ()
    signs: tuple[str, ...] = ("=",)
    needs: str | None = None

    def accepts(self, parameter: Parameter) -> bool:
        value = parameter.value
        is_valid = isinstance(value, float) and 0 <= value <= 1
        return parameter.sign in self.signs and (value in self.values if self.values else is_valid)

    @property
    def text(self) -> str:
        return self.signs[0] + ("|".join(self.values) or "x")


class Kind:
    """What is known about the measures of one name. A new measure is an object of a subclass.

    A subclass overrides the functions that it can compute. `can` returns whether it does.

    parameters: the parameters by name. is_rank: whether values are ranks, where less is better,
    instead of shares from 0 to 1. divides_by_all: whether more relevant pairs outside of the list
    lower the value. counts_judged: whether the value depends on which pairs are judged, and not on
    their labels. grades_hits: whether graded relevance needs an item of relevance 1. bounded:
    whether unjudged moments give an upper bound. needs: what is needed instead of labels.
    """

    cutoff: Cutoff = Cutoff.ALLOWED
    parameters: Mapping[str, Declared] = {}
    is_rank = divides_by_all = counts_judged = grades_hits = bounded = False
    needs: str | None = None

    def __init__(self, name: str) -> None:
        self.name = name

    def score(self, lists: ListStatistics, measure: Measure) -> FloatArray:
        """Return the values of a block of B queries by their labels, float64 [B]."""
        raise NotImplementedError

    def mean(self, values: FloatArray, not_retrieved: int) -> Score:
        """Return the value of a run from those of its queries, of which there is at least one.

        not_retrieved: the number of queries whose list contains no positive.
        """
        return Score(float(values.mean()), len(values))

    def sides(self, block: Extremes, measure: Measure) -> Sides:
        """Return bounds for unjudged pairs. Override it if another positive can lower the value."""
        raise NotImplementedError

    def expect(self, chance: FloatArray, outside: IntArray, measure: Measure) -> FloatArray:
        """Return the expected values of B queries, float64 [B].

        chance: [depth, B], the probability that the video at a rank is relevant. outside: [B], the
        number of positives that are not in the list.
        """
        raise NotImplementedError

    def correct(self, t: FloatArray, measure: Measure) -> FloatArray:
        """Return the polynomial of `corrected_scores`, float64 [B].

        t: [depth, B], an unbiased estimate of the relevance of the video at each rank.
        """
        raise NotImplementedError

    def square(self, t: FloatArray, measure: Measure) -> FloatArray:
        """Return the polynomial of the square, float64 [B]. t: [cutoff, B], as for `correct`."""
        raise NotImplementedError

    def grade(self, lists: GradedLists, measure: Measure) -> FloatArray:
        """Return the values of a block of B queries by graded relevance, float64 [B]."""
        raise NotImplementedError

    def locate(self, lists: MomentLists, measure: Measure) -> FloatArray:
        """Return the values of the queries by spans of videos, float64 [n_queries]."""
        raise NotImplementedError

    def can(self, name: str) -> bool:
        """Return whether this kind computes a function, for example `expect`."""
        return getattr(type(self), name) is not getattr(Kind, name)

    @property
    def text(self) -> str:
        """The name with the possible cutoff."""
        return self.name + self.cutoff.value


class DividedKind(Kind):
    """A measure that is a sum over the relevant pairs of the top k, times h(N).

    N is the number of relevant pairs: of all pairs, or without `divides_by_all` of the top k.
    with_above: whether a rank counts once more for each relevant pair above it, as in AP. is_ideal:
    whether h(N) is 1 / (DCG of the ideal list) instead of 1 / N.
    """

    divides_by_all = True
    with_above = is_ideal = False

    def weights(self, ranks: IntArray) -> FloatArray:
        """Return the weight of each rank, float64 [k]."""
        return np.ones(len(ranks))


KINDS: Final[dict[str, Kind]] = {}
"""All kinds of measures by name. `register` adds a kind."""


def register(*kinds: Kind) -> None:
    """Add kinds of measures. Raises ValueError if a name exists or cannot be parsed."""
    for kind in kinds:
        match = _TEXT.fullmatch(kind.name)
        if kind.name in KINDS or match is None or match.groups()[1:] != (None, None):
            raise ValueError(f"{kind.name} is not the name of a new measure")
        KINDS[kind.name] = kind


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure: the name of its kind, the cutoff k >= 1 if it has one, and its parameters.

    Raises InvalidInput if there is no such kind, or if the cutoff or a parameter is missing, not
    allowed or out of bounds.
    """

    name: str
    cutoff: int | None = None
    parameters: tuple[Parameter, ...] = ()

    def __post_init__(self) -> None:
        if self.name not in KINDS:
            raise InvalidInput(f"unknown measure {str(self)!r}; known measures: {_known()}")
        cutoff = self.kind.cutoff
        if self.cutoff is None:
            if cutoff is Cutoff.NEEDED:
                raise InvalidInput(f"measure {self.name!r} needs a cutoff, as in '{self.name}@10'")
        elif cutoff is Cutoff.NONE:
            raise InvalidInput(f"measure {self.name!r} takes no cutoff")
        elif not 1 <= self.cutoff <= _MAX_CUTOFF:
            raise InvalidInput(f"the cutoff of {str(self)!r} is outside of 1 to {_MAX_CUTOFF}")
        ordered = tuple(sorted(self.parameters, key=lambda found: found.name))
        object.__setattr__(self, "parameters", ordered)
        declared, names = self.kind.parameters, [found.name for found in self.parameters]
        if len(set(names)) < len(names) or any(
            found.name not in declared or not declared[found.name].accepts(found)
            for found in self.parameters
        ):
            known = ", ".join(name + found.text for name, found in declared.items()) or "none"
            raise InvalidInput(f"wrong parameters of {str(self)!r}; known parameters: {known}")

    @property
    def kind(self) -> Kind:
        return KINDS[self.name]

    @property
    def needs(self) -> str | None:
        """What the measure needs instead of labels of whole videos, or None."""
        declared = (self.kind.parameters[found.name].needs for found in self.parameters)
        return self.kind.needs or next(filter(None, declared), None)

    def parameter(self, name: str) -> str | float | None:
        """Return the value of a parameter, or None if it is not set."""
        return next((found.value for found in self.parameters if found.name == name), None)

    def reads(self, depth: int) -> int:
        """Return the number of ranks that the measure reads in lists of this depth.

        A page shows each score with Judged@k for this number as k. For lists of depth 20, AP and
        C@30 are both shown with Judged@20. For truncated lists, pass the depth after truncation.
        """
        return depth if self.cutoff is None else min(self.cutoff, depth)

    def __str__(self) -> str:
        cutoff = "" if self.cutoff is None else f"@{self.cutoff}"
        inside = ",".join(map(str, self.parameters))
        return f"{self.name}{cutoff}" + (f"({inside})" if inside else "")


def parse_measure(text: str) -> Measure:
    """Return the measure with this text. This is the inverse of `str`. The case must match.

    Raises InvalidInput if there is no such measure.
    """
    match = _TEXT.fullmatch(text)
    if match is None:
        raise InvalidInput(f"unknown measure {text!r}; known measures: {_known()}")
    name, cutoff, inside = match.groups()
    parameters = [_PARAMETER.fullmatch(part) for part in inside.split(",")] if inside else []
    found = tuple(_parameter(*part.groups()) for part in parameters if part)
    if len(found) < len(parameters):
        raise InvalidInput(f"unknown measure {text!r}; known measures: {_known()}")
    return Measure(name, int(cutoff) if cutoff else None, found)


def _parameter(name: str, sign: str, value: str) -> Parameter:
    try:
        return Parameter(name, sign, float(value))
    except ValueError:
        return Parameter(name, sign, value)


def check_labels_suffice(measure: Measure, *, has_strata: bool = False) -> None:
    """Raise InvalidInput if a measure cannot be computed from labels of whole videos.

    has_strata: whether the strata of their pool are known.
    """
    if measure.needs and not (has_strata and measure.needs == NEEDS_STRATA):
        raise InvalidInput(f"measure {str(measure)!r} needs {measure.needs}")


def names_that_can(function: str) -> tuple[str, ...]:
    """Return the names of the measures that compute a function of `Kind`."""
    return tuple(name for name, kind in KINDS.items() if kind.can(function))


def _known() -> str:
    return ", ".join(kind.text for kind in KINDS.values() if not kind.needs)
