"""The errors of a run file, by line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hearth.shared.errors import InvalidInput, Problem
from pooling.core.problems import PROBLEMS_MAX
from pooling.core.readers.runs import read_run

QUERIES = {f"c{number}": number for number in range(40)}
VIDEOS = {f"v{number}": number for number in range(40)}


def problems_of(path: Path, text: str) -> tuple[Problem, ...]:
    path.write_text(text)
    with pytest.raises(InvalidInput) as refused:
        read_run(path, query_numbers=QUERIES, video_numbers=VIDEOS, source="a.run")
    error = refused.value
    assert (error.source, error.reason, error.line) == (
        "a.run",
        error.problems[0].reason,
        error.problems[0].line,
    )
    return error.problems


def test_a_trec_file_has_all_its_errors_by_line(tmp_path: Path) -> None:
    lines = [
        "c0 Q0 v0 1 9 t",
        "c0 Q0 v0 2 8 t",
        "",
        "c0 Q0 v99 3 7 t",
        "c1 Q0 v1 1 9",
        "c1 Q0 v1 x 9 t",
        "c1 Q0 v1 2 nan t",
        "c2 Q0 v1 2 1e99 t",
        "c2 Q0 v1 2 3 t",
        "c2 Q0 v1 2 3 t",
    ]
    assert problems_of(tmp_path / "a.run", "\n".join(lines)) == (
        Problem("the same caption and video as in line 1", 2),
        Problem("unknown video 'v99'", 4),
        Problem("the line has 5 columns instead of 6", 5),
        Problem("the rank 'x' is not an integer of at most nine digits", 6),
        Problem("the score 'nan' is not a finite decimal number", 7),
        Problem("the score '1e99' is beyond the range of 32-bit numbers", 8),
        Problem("the same caption and video as in line 9", 10),
    )


def test_errors_before_unreadable_bytes_are_reported_too(tmp_path: Path) -> None:
    # The reader reads blocks of 256 KiB, so the unreadable byte is in a later block.
    text = "c9 Q0 v99 1 9 t\n" + "c1 Q0 v1 1 9 t\n" * 20_000 + "\0\n"
    found = problems_of(tmp_path / "a.run", text)
    assert found[0] == Problem("unknown video 'v99'", 1)


def test_errors_of_scattered_lists(tmp_path: Path) -> None:
    lines = ["c0 Q0 v0 1 9 t", "c1 Q0 v0 1 9 t", "c0 Q0 v1 1 9 t", "c1 Q0 v0 1 9 t", "c1 Q0 t"]
    assert problems_of(tmp_path / "a.run", "\n".join(lines)) == (
        Problem("the same caption and video as in line 2", 4),
        Problem("the line has 3 columns instead of 6", 5),
    )


def test_reading_stops_after_a_hundred_errors(tmp_path: Path) -> None:
    found = problems_of(tmp_path / "a.run", "c0 Q0 v99 1 9 t\n" * 1000)
    assert [problem.line for problem in found] == list(range(1, PROBLEMS_MAX + 1))


def test_a_json_file_has_all_its_errors(tmp_path: Path) -> None:
    lists = {"c0": ["v0", "v99"], "c1": ["v0"], "x": ["v0"], "c2": ["v1", "v1"]}
    assert problems_of(tmp_path / "a.json", json.dumps(lists)) == (
        Problem("caption 'c0': unknown video 'v99'"),
        Problem("unknown caption 'x'"),
        Problem("caption 'c2' has video 'v1' twice"),
    )
    assert problems_of(tmp_path / "a.json", '{"c0": ["v99"],') == (
        Problem("caption 'c0': unknown video 'v99'"),
        Problem(
            "the file is not JSON: Expecting property name enclosed in double quotes (column 16)", 1
        ),
    )
