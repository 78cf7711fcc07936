"""Texts about intervals, and the resampling units that intervals are based on."""

from __future__ import annotations

from typing import Annotated, TypedDict

import numpy as np

from evaluation.core.arrays import IntArray
from evaluation.core.people.alpha import Interval
from evaluation.core.statistics.resampling import PAIRED, PERCENTILE, WILSON, T
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.rows import Shown

METHODS = {
    WILSON: "Wilson",
    PAIRED: "paired shares",
    PERCENTILE: "bootstrap",
    T: "t",
}
FEWEST_SYSTEMS = 5
NO_TAU = (
    f"Kendall’s tau is shown for {FEWEST_SYSTEMS} or more systems. With fewer, it can have only a "
    "few values."
)

INTERVALS_NOTE = (
    "Intervals of C@k are Wilson’s. Intervals of differences of C@k are Bonett and Price’s "
    "(“paired shares”). The width of both is above zero, even if C@k is 100 %. If videos are "
    "resampled, these intervals use an effective number of captions: the number of independent "
    "captions that would have the same variance. "
    "All other intervals are percentiles of resampled means (“bootstrap”). For few videos, these "
    "percentiles are widened with Student’s t distribution, and for fewer than six videos, t "
    "intervals replace them. "
    "Intervals show how a score varies with the captions or videos, not with the annotators."
)


class Units(TypedDict):
    """The resampling unit of a result, and the number of units, as fields of `Resampled`."""

    unit: str
    units: int


def resampled_by(inputs: Inputs, unit: str) -> Units:
    """Return the resampling unit and the number of units."""
    clusters = inputs.clusters(unit)
    number = inputs.space.n_queries if clusters is None else len(np.unique(clusters))
    return {"unit": inputs.resampling_unit(unit), "units": number}


def method_of(interval: Interval) -> str | None:
    """Return the method of an interval as JSON; null if the interval is undefined."""
    return None if interval.low is None else interval.method


def method_title(method: str | None) -> str | None:
    return None if method is None else METHODS[method]


Method = Annotated[str | None, Shown("Interval by", write=method_title)]


def hides_tau(n_systems: int) -> bool:
    """Return whether Kendall's tau is hidden, because it compares too few systems."""
    return n_systems < FEWEST_SYSTEMS


def tau_note(n_systems: int) -> str:
    """Return the reason why a table of rankings has no tau, or an empty text."""
    return NO_TAU if 1 < n_systems < FEWEST_SYSTEMS else ""


def count_units(clusters: IntArray | None, rows: IntArray) -> int:
    """Return the number of resampling units of some queries. rows: the numbers of the queries."""
    return len(rows) if clusters is None else len(np.unique(clusters[rows]))
