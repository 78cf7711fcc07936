"""What an estimate is: its value and interval, the method with its assumptions, or a refusal."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

Z: Final = 1.959964
"""Normal quantile of 95 %."""

LOOKING_ALPHA, END_ALPHA = 0.02, 0.035
"""Errors of the sequence that is shown while people judge, and of the interval at the end.

Both are right together with 95 %."""

Z_AT_END: Final = 2.108
"""Normal quantile of the interval at the end."""

FEWEST_CAPTIONS: Final = 30

FEWEST_SURPRISES: Final = 10
"""The least number of captions that a machine predicts wrongly by more than one half, for C@k."""


class Method(Enum):
    """An estimator: its text, and what its interval assumes."""

    WILSON = (
        "undecided captions, Wilson",
        "Captions were drawn at random without replacement among those that no label decides, and "
        "all pairs of the drawn captions were judged.",
    )
    STRATA = (
        "undecided captions in strata of a machine",
        "Captions were drawn at random in strata that were fixed before the draw.",
    )
    DIFFERENCE = (
        "difference estimator, t",
        "Captions were drawn at random without replacement, and the machine did not change after "
        "the draw.",
    )
    JACKKNIFE = (
        "delete-one-video jackknife, t",
        "Videos are a random sample of those for which the score is meant.",
    )
    TWO_STRATA = (
        "strata of undecided captions, square-and-add",
        "Captions were drawn at random among those undecided for the first system, for the second, "
        "and for both.",
    )
    SEQUENCE = (
        "prior-posterior-ratio sequence",
        "Captions finish in the drawn order. The interval holds at any time, and whenever judging "
        "stops.",
    )
    MEAN_SEQUENCE = (
        "time-uniform normal sequence",
        "Captions finish in the drawn order. The interval is approximate, and holds at any time.",
    )
    CORRECTED = (
        "corrected for wrong labels by pair",
        "Wrong labels of different pairs are independent.",
    )

    def __init__(self, text: str, assumption: str) -> None:
        self.text, self.assumption = text, assumption


class Refusal(Enum):
    """Why there is no estimate."""

    NOT_DRAWN = "The judged captions are not a sample that Hearth drew."
    MACHINE_CHANGED = (
        "The machine is not the one whose predictions were stored before the judging. Draw "
        "captions with this machine."
    )
    FEW_CAPTIONS = f"Fewer than {FEWEST_CAPTIONS} captions are judged."
    UNJUDGED = "Pairs of drawn captions are unjudged, so there are only bounds."
    STOPPED_EARLY = (
        "The judging of a caption stopped at its first relevant pair. This is enough for C@k only."
    )
    NO_DOUBLE_LABELS = (
        "The correction for wrong labels needs pairs that were labelled twice before the draw."
    )
    EARLIER_VERSION = "The draw was made by an earlier version, which did not store what is needed."


@dataclass(frozen=True, slots=True)
class Estimate:
    """A score from n captions of a population, or the reason why there is none.

    value, low, high: None if it is refused. population: the number of captions among which the n
    were drawn.
    """

    method: Method
    value: float | None
    low: float | None
    high: float | None
    n: int
    population: int
    refusal: Refusal | None = None

    @classmethod
    def refused(cls, method: Method, reason: Refusal, n: int, population: int) -> Estimate:
        return cls(method, None, None, None, n, population, reason)

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2
