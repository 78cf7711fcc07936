"""What the results of analyses have in common: tables, charts and texts, and their resampling."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

from evaluation.core.statistics.resampling import FEW_CLUSTERS
from evaluation.lab.analyses.charts import Chart
from evaluation.lab.analyses.inputs import BOTH_SIDES, CAPTIONS, VIDEOS
from evaluation.lab.analyses.rows import Compared, annotated, cells_of, columns_of
from evaluation.lab.analyses.tables import Table
from hearth.shared.words import counted

UNIT_NAMES = {CAPTIONS: "caption", VIDEOS: "video", BOTH_SIDES: "video"}


def _tabled(result: Any) -> dict[str, tuple[type, Tabled]]:
    """Return the class of the rows and the table of each annotated field or property, by name."""
    return {
        name: (get_args(hint)[0], note) for name, (hint, note) in annotated(result, Tabled).items()
    }


class _Words(dict[str, Any]):
    """The attributes of a result, and with `confidence` also {interval} and {level}."""

    def __init__(self, result: Result) -> None:
        super().__init__()
        self.result = result
        if hasattr(result, "confidence"):
            self["level"] = f"{100 * result.confidence:g} %"
            self["interval"] = f"{self['level']} interval"

    def __missing__(self, name: str) -> Any:
        return getattr(self.result, name)


@dataclass(frozen=True, slots=True)
class Tabled:
    """An annotation of rows of a result that are a table. They are a field, or a property.

    In all texts, `{name}` is replaced by an attribute of the result. columns, without: as in
    `columns_of`. is_optional: whether the table is left out if it has no rows.
    """

    name: str
    title: str
    note: str = ""
    columns: str = ""
    without: str = ""
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """The result of an analysis. Subclasses add the fields of its JSON object."""

    def tables(self) -> list[Table]:
        """Return the tables of the fields and then of the properties, in their order."""
        found = []
        for name, (row, tabled) in _tabled(type(self)).items():
            rows = getattr(self, name)
            if rows or not tabled.is_optional:
                title, note, without = (
                    text.format_map(self.words)
                    for text in (tabled.title, tabled.note, tabled.without)
                )
                found.append(
                    self.table(
                        tabled.name,
                        title,
                        row,
                        rows,
                        note=note,
                        columns=tabled.columns,
                        without=without.split(),
                    )
                )
        return found

    def charts(self) -> list[Chart]:
        return []

    def findings(self) -> list[str]:
        """Return the findings, which are shown above the result. One paragraph each."""
        return []

    def warnings(self) -> list[str]:
        """Return warnings, which are shown above the result. One sentence each."""
        return []

    @property
    def words(self) -> Mapping[str, Any]:
        """The words that replace names in the titles of columns."""
        return _Words(self)

    def table(
        self,
        name: str,
        title: str,
        row: type,
        rows: Sequence[Any],
        *,
        note: str = "",
        columns: str = "",
        without: Iterable[str] = (),
        compared: Mapping[str, Compared] | None = None,
    ) -> Table:
        """Return a table of dataclasses of the type `row`.

        columns, without: as in `columns_of`. compared: that of `Column`, by the names of columns.
        """
        shown = columns_of(row, self.words, columns, without)
        links = compared or {}
        shown = [replace(one, compared=links.get(one.key, one.compared)) for one in shown]
        return Table(name, title, shown, [cells_of(one) for one in rows], note)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampled(Result):
    """A result that depends on the resampling unit.

    unit: the resampling unit, `captions` or `videos`
    units: number of resampling units
    """

    unit: str
    units: int

    @property
    def by_video(self) -> bool:
        return self.unit == VIDEOS

    def few_units_warnings(self) -> list[str]:
        """Return a warning if there are few videos or captions to resample."""
        if self.units >= FEW_CLUSTERS:
            return []
        name = UNIT_NAMES[self.unit]
        return [
            f"Only {counted(self.units, name)} can be resampled. The intervals are corrected for "
            f"this, but they are wide, and a single {name} can change them considerably."
        ]

    def few_in_part_warnings(self, units: int, part: str, figure: str) -> list[str]:
        """Return a warning if the part of the data that a figure uses has few videos or captions.

        units: number of resampling units in the part; no warning if it is 0, because the figure is
        then undefined. part, figure: noun phrases for the data of the part and for the figure.
        """
        if not 0 < units < FEW_CLUSTERS:
            return []
        name = UNIT_NAMES[self.unit]
        return [
            f"{part} belong to only {counted(units, name)}. The interval of {figure} is wide, and "
            f"a single {name} can change it considerably."
        ]

    def few_measured_warnings(self, what: str) -> list[str]:
        """Return a warning if a figure without a corrected interval has few videos or captions.

        what: the name of the figure.
        """
        if self.units >= FEW_CLUSTERS:
            return []
        number = counted(self.units, UNIT_NAMES[self.unit])
        return [f"The {what} is uncertain: it is measured on only {number}."]

    def few_in_groups_warnings(self, units: Iterable[tuple[str, int]], what: str) -> list[str]:
        """Return a warning if some groups have few videos or captions.

        units: the name of each group, and the number of its resampling units. what: the noun for a
        group.
        """
        few = {group for group, number in units if 0 < number < FEW_CLUSTERS}
        if not few:
            return []
        name = UNIT_NAMES[self.unit]
        return [
            f"{counted(len(few), what)} {'has' if len(few) == 1 else 'have'} fewer than "
            f"{FEW_CLUSTERS} {name}s. The intervals are corrected for this, but a single {name} "
            "can change them considerably."
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class WithIntervals(Resampled):
    """A result with intervals.

    confidence: that of all intervals, 0 to 1
    """

    confidence: float
