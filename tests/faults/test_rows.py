"""The table in docs/fault-tests.md has a row for every fault, and its tests and drills exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.faults.__main__ import DRILLS

TESTS = Path(__file__).resolve().parent.parent
PAGE = TESTS.parent / "docs" / "fault-tests.md"
NUMBERS = {"F": range(1, 14), "C": range(1, 15), "S": [14], "R": range(1, 7)}
ROW = re.compile(r"\| ([A-Z]\d+) \| ([^|]+) \| ([^|]+) \|")
NAMED = re.compile(r"(drill )?`([^`]+)`")

ROWS = [found for line in PAGE.read_text().splitlines() if (found := ROW.fullmatch(line))]


def exists(test: str) -> bool:
    path, _, name = test.partition("::")
    module = ast.parse((TESTS / path).read_text())
    return any(isinstance(one, ast.FunctionDef) and one.name == name for one in module.body)


def test_every_fault_has_a_row() -> None:
    expected = [f"{kind}{n}" for kind, numbers in NUMBERS.items() for n in numbers]
    assert [row[1] for row in ROWS] == expected


def test_every_drill_has_a_row() -> None:
    named = {name for row in ROWS for is_drill, name in NAMED.findall(row[3]) if is_drill}
    assert named == set(DRILLS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[1])
def test_the_tests_of_a_row_exist(row: re.Match[str]) -> None:
    named = NAMED.findall(row[3])
    assert named
    assert [name for is_drill, name in named if not is_drill and not exists(name)] == []
