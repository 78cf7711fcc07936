"""Texts about intervals, and the resampling units that intervals are based on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, TypedDict

import numpy as np

from evaluation.core.arrays import IntArray
from evaluation.core.people.alpha import Interval
from evaluation.core.statistics.resampling import FEW_CLUSTERS, PAIRED, PERCENTILE, WILSON, T
from evaluation.lab.analyses.inputs import BOTH_SIDES, CAPTIONS, VIDEOS, Inputs
from evaluation.lab.analyses.old_results import Resampled, Row
from evaluation.lab.analyses.rows import Shown
from evaluation.lab.analyses.tables import Column
from hearth.shared.words import counted

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
NAMES = {CAPTIONS: "caption", VIDEOS: "video", BOTH_SIDES: "video"}

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


class Drawing(TypedDict):
    """How samples are drawn: keyword arguments for all resampling functions of the core."""

    confidence: float
    clusters: IntArray | None
    rng: np.random.Generator


def resampled_by(inputs: Inputs, unit: str) -> Resampled:
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


def interval_title(confidence: float) -> str:
    """Return the heading of a column of intervals. confidence: 0 to 1."""
    return f"{100 * confidence:g} % interval"


def tau_columns(n_systems: int, *columns: Column) -> list[Column]:
    """Return the columns of Kendall's tau, or none of them if it compares too few systems."""
    return list(columns) if n_systems >= FEWEST_SYSTEMS else []


def hides_tau(n_systems: int) -> bool:
    """Return whether Kendall's tau is hidden, because it compares too few systems."""
    return n_systems < FEWEST_SYSTEMS


def tau_note(n_systems: int) -> str:
    """Return the reason why a table of rankings has no tau, or an empty text."""
    return NO_TAU if 1 < n_systems < FEWEST_SYSTEMS else ""


def few_units_warnings(result: Resampled) -> list[str]:
    """Return a warning if the result has few videos or captions to resample."""
    # Results of older code versions do not name their units.
    if result.get("units", FEW_CLUSTERS) >= FEW_CLUSTERS:
        return []
    name = NAMES[result["unit"]]
    return [
        f"Only {counted(result['units'], name)} can be resampled. The intervals are "
        f"corrected for this, but they are wide, and a single {name} can change them considerably."
    ]


def few_in_part_warnings(result: Resampled, units: int, part: str, figure: str) -> list[str]:
    """Return a warning if the part of the data that a figure uses has few videos or captions.

    units: number of resampling units in the part; no warning if it is 0, because the figure is then
    undefined. part: a noun phrase for the data of the part. figure: a noun phrase for the figure.
    """
    if not 0 < units < FEW_CLUSTERS:
        return []
    name = NAMES[result["unit"]]
    return [
        f"{part} belong to only {counted(units, name)}. The interval of {figure} is wide, and "
        f"a single {name} can change it considerably."
    ]


def few_measured_warnings(result: Resampled, what: str) -> list[str]:
    """Return a warning if a figure without a corrected interval has few videos or captions.

    what: the name of the figure.
    """
    units = result.get("units", FEW_CLUSTERS)
    if units >= FEW_CLUSTERS:
        return []
    number = counted(units, NAMES[result["unit"]])
    return [f"The {what} is uncertain: it is measured on only {number}."]


def few_in_groups_warnings(result: Resampled, groups: Iterable[Row], what: str) -> list[str]:
    """Return a warning if some groups have few videos or captions. groups: rows with `units`.

    what: the noun for a group.
    """
    few = {str(row["group"]) for row in groups if 0 < row.get("units", 0) < FEW_CLUSTERS}
    if not few:
        return []
    name = NAMES[result["unit"]]
    return [
        f"{counted(len(few), what)} {'has' if len(few) == 1 else 'have'} fewer than "
        f"{FEW_CLUSTERS} {name}s. The intervals are corrected for this, but a single {name} can "
        "change them considerably."
    ]


def count_units(clusters: IntArray | None, rows: IntArray) -> int:
    """Return the number of resampling units of some queries. rows: the numbers of the queries."""
    return len(rows) if clusters is None else len(np.unique(clusters[rows]))
