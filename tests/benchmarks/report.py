"""The report of a benchmark: times next to each other, their limits, and a printed table."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Protocol

# The largest accepted factor by which a time grows with ten times the captions.
GROWTH_LIMIT = 11.0


@dataclass(frozen=True, slots=True)
class Row:
    """One time. ratio: relative to the first row of the group. limit: in milliseconds, or None."""

    group: str
    name: str
    ms: float
    ratio: float
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class Growth:
    """The factor by which the time grows with ten times the captions."""

    group: str
    name: str
    ratio: float


@dataclass(slots=True)
class Report:
    """once: whether each time is measured only once."""

    once: bool = False
    rows: list[Row] = field(default_factory=list)
    growth: list[Growth] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def time(
        self,
        group: str,
        name: str,
        work: Callable[[], Any],
        repeats: int,
        limit: float | None = None,
    ) -> Any:
        """Add a row with the median milliseconds of `work`, and return the last result."""
        print(f"{group}: {name} …", file=sys.stderr)
        seconds = []
        for _ in range(1 if self.once else repeats):
            start = perf_counter()
            result = work()
            seconds.append(perf_counter() - start)
        ms = 1000 * median(seconds)
        first = next((row.ms for row in self.rows if row.group == group), ms)
        self.rows.append(Row(group, name, ms, ms / first, limit))
        return result

    def grow(self, size: str, larger: str) -> None:
        """Compare the rows of Hearth in groups of this size with those of ten times the size."""
        times = {(row.group, row.name): row.ms for row in self.rows}
        for (group, name), ms in times.items():
            more = times.get((group.replace(size, larger), name))
            if size in group and more is not None and name.startswith("Hearth"):
                self.growth.append(Growth(group, name, more / ms))

    def check(self, name: str, value: float | None, expected: float, tolerance: float) -> None:
        if value is None or abs(value - expected) > tolerance:
            self.failures.append(f"{name}: {value}, expected {expected}")

    def load(self, package: str) -> Any:
        """Return the package. If it is not installed, add a note and return None."""
        try:
            return importlib.import_module(package)
        except ImportError:
            self.notes.append(f"{package} is not installed and was skipped")
            return None


def print_table(report: Report) -> None:
    width = max(len(row.name) for row in report.rows)
    for place, row in enumerate(report.rows):
        if place == 0 or report.rows[place - 1].group != row.group:
            print(f"\n{row.group:<{width}}  {'ms':>10}  {'ratio':>8}  {'limit':>8}")
        print(f"{row.name:<{width}}  {row.ms:>10,.1f}  {row.ratio:>8,.1f}{limit_cell(row)}")
    print_growth(report)
    print()
    for line in (*report.notes, *(f"DIFFERS: {failure}" for failure in report.failures)):
        print(line)


def limit_cell(row: Row) -> str:
    if row.limit is None:
        return ""
    return f"  {row.limit:>8,.0f}" + ("" if row.ms < row.limit else "  MISSED")


def print_growth(report: Report) -> None:
    """Print the factors by which times grow with ten times the captions."""
    if report.growth:
        print(f"\n{'ten times the captions':<82}  {'times':>8}  {'limit':>8}")
    for growth in report.growth:
        mark = "" if growth.ratio <= GROWTH_LIMIT else "  MISSED"
        name = f"{growth.group}: {growth.name}"
        print(f"{name:<82}  {growth.ratio:>8.1f}  {GROWTH_LIMIT:>8.0f}{mark}")


class Measure(Protocol):
    """Measures on the files in a folder, or on drawn input, and returns a report."""

    def __call__(self, folder: Path | None, /, *, tiny: bool) -> Report: ...


def run_program(
    description: str, measure: Measure, show: Callable[[Any], None] = print_table
) -> int:
    """Run a benchmark with the options `--data`, `--tiny` and `--json`. Return its exit code.

    show: prints a report, unless it is printed as JSON.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--data", type=Path, help="folder with the MSVD files; by default, input is drawn"
    )
    parser.add_argument(
        "--tiny", action="store_true", help="use a small input, to check that it runs"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    report = measure(arguments.data, tiny=arguments.tiny)
    if arguments.json:
        print(json.dumps(asdict(report)))
    else:
        show(report)
    return 1 if report.failures else 0
