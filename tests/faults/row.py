"""The result of a drill, and the report of all drills."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """Counts of one drill on one database.

    tried: number of faults. acknowledged: number of answers or uploads that the site confirmed.
    stored: number of answers or uploads in the database afterwards. lost: number of confirmed ones
    that are missing or wrong. doubled: number that are stored more than once. note: other
    observations.
    """

    drill: str
    database: str
    tried: int
    acknowledged: int
    stored: int
    lost: int
    doubled: int
    note: str = ""

    @property
    def holds(self) -> bool:
        return self.lost == self.doubled == 0 and self.stored >= self.acknowledged > 0


HEAD = ("Drill", "Database", "Tried", "Acknowledged", "Stored", "Lost", "Doubled", "Seconds")


def table(rows: Iterable[tuple[Row, float]]) -> str:
    """Return a Markdown table of rows with their durations in seconds."""
    cells: list[Sequence[object]] = [HEAD, ["---"] * 2 + ["---:"] * 6]
    for row, seconds in rows:
        counts = (row.tried, row.acknowledged, row.stored, row.lost, row.doubled)
        cells.append(
            [row.drill, row.database, *(f"{count:,}" for count in counts), f"{seconds:.0f}"]
        )
    return markdown(cells)


def markdown(lines: Iterable[Sequence[object]]) -> str:
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)
