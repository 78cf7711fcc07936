"""docs/fault-tests.md has a row for every fault, and its tests, drills and targets exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.faults.__main__ import DRILLS

TESTS = Path(__file__).resolve().parent.parent
PAGE = TESTS.parent / "docs" / "fault-tests.md"
MAKEFILE = (TESTS.parent / "Makefile").read_text()
# The letters of the groups of faults, each with the number of its last row.
LAST = {"F": 13, "C": 14, "U": 14, "V": 6, "T": 3, "S": 20, "R": 6, "N": 10}
ROW = re.compile(r"\| ([A-Z]\d+) \| ([^|]+) \| ([^|]+) \|")
NAMED = re.compile(r"(drill |target )?`([^`]+)`")

ROWS = [found for line in PAGE.read_text().splitlines() if (found := ROW.fullmatch(line))]


def exists(kind: str, found: str) -> bool:
    """Return whether a drill, a target of the Makefile or a test exists."""
    if kind == "drill ":
        return found in DRILLS
    if kind == "target ":
        return re.search(f"^{found}:", MAKEFILE, re.M) is not None
    path, _, name = found.partition("::")
    return re.search(rf"^def {name}\(", (TESTS / path).read_text(), re.M) is not None


def test_every_fault_has_a_row() -> None:
    expected = [f"{kind}{n}" for kind, last in LAST.items() for n in range(1, last + 1)]
    assert [row[1] for row in ROWS] == expected


def test_every_drill_has_a_row() -> None:
    named = {name for row in ROWS for kind, name in NAMED.findall(row[3]) if kind == "drill "}
    assert named == set(DRILLS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[1])
def test_the_tests_of_a_row_exist(row: re.Match[str]) -> None:
    named = NAMED.findall(row[3])
    assert named
    assert [name for kind, name in named if not exists(kind, name)] == []
