"""TREC runs: the order of a run, and the error and line of each bad file."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearth.shared.errors import InvalidInput
from pooling.core import lines, ordering
from pooling.core.keys import NUMBER
from pooling.core.readers.runs.trec import scores_of
from tests.pooling.core.tiny import lists, read, write

GOOD = "q2 Q0 vA 1 0.9 tag\nq2 Q0 vB 2 0.5 tag\nq1\tQ0\tvB\t1\t-1e-3\ttag\n"
BAD_SCORES = "nan inf -Infinity 1_0 ١٢ 0x1 1e . 1,5 --1 None"


def test_run_is_read_unchanged(tmp_path: Path) -> None:
    run = read(write(tmp_path, GOOD))

    assert lists(run) == {
        0: [(2, pytest.approx(0.9)), (1, 0.5)],
        1: [(1, pytest.approx(-0.001))],
    }
    assert (run.depth, run.format, run.tag) == (2, "trec", "tag")
    assert run.sha256 == hashlib.sha256(GOOD.encode()).hexdigest()
    assert run.warnings == ("captions without a ranked list: 1 of 3",)
    assert read(write(tmp_path, gzip.compress(GOOD.encode()))).sha256 == run.sha256


@pytest.mark.parametrize(
    ("rows", "order"),
    [
        (["vA 1 3", "vB 2 2", "vC 3 1"], ["vA", "vB", "vC"]),
        (["vA 1 1", "vB 2 2", "vC 3 3"], ["vC", "vB", "vA"]),  # score before rank
        (["vA 3 1", "vB 1 1.0", "vC 2 1e0"], ["vB", "vC", "vA"]),  # then rank
        (["vC 1 5", "vB 1 5", "vA 1 5"], ["vA", "vB", "vC"]),  # then key, not number
        (["vC 1 -0.0", "vB 1 0", "vA 2 +.0"], ["vB", "vC", "vA"]),
        # These scores are equal in 32 bits but not in 64, so the score decides.
        (["vA 1 0.10000000000000001", "vB 2 0.1000000000000001"], ["vB", "vA"]),
    ],
)
def test_order_is_score_then_rank_then_key(
    tmp_path: Path, rows: list[str], order: list[str]
) -> None:
    content = "".join(f"q2 Q0 {row} tag\n" for row in rows)
    numbers = {"vC": 0, "vB": 1, "vA": 2}

    videos = read(write(tmp_path, content)).videos.tolist()
    cut = read(write(tmp_path, content), depth=1).videos.tolist()

    assert videos == [numbers[key] for key in order]
    assert cut == videos[:1]


@pytest.mark.parametrize("block_bytes", [1, 1 << 20])
def test_warnings_count_captions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block_bytes: int
) -> None:
    monkeypatch.setattr(lines, "BLOCK_BYTES", block_bytes)
    content = (
        "q2 Q0 vA 2 0.9 one\nq2 Q0 vB 1 0.5 one\n"  # the ranks contradict the scores
        "q1 Q0 vA 1 0.9 two\nq1 Q0 vB 1 0.5 one\n"  # a repeated rank
        "q0 Q0 vA 5 0.9 one\nq0 Q0 vB 9 0.5 one\n"  # gaps between ranks are allowed
    )
    assert read(write(tmp_path, content)).warnings == (
        "captions whose ranks contradict the scores: 1",
        "captions with a repeated rank: 1",
        "the file has several run tags; the first is 'one'",
    )


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("q1 Q0 vA 1 0.9", "the line has 5 columns instead of 6"),
        ("q1 Q0 vA 1 0.9 tag more", "the line has 7 columns instead of 6"),
        ("q9 Q0 vA 1 0.9 tag", "unknown caption 'q9'"),
        ("q1 Q0 vX 1 0.9 tag", "unknown video 'vX'"),
        ("q1 Q0 VA 1 0.9 tag", "unknown video 'VA'"),
        *[
            (f"q1 Q0 vA 1 {score} tag", f"the score {score!r} is not a finite decimal number")
            for score in BAD_SCORES.split()
        ],
        ("q1 Q0 vA 1  tag", "the line has 5 columns instead of 6"),  # an empty score
        ("q1 Q0 vA 1 1e999 tag", "the score '1e999' is beyond the range of 32-bit numbers"),
        ("q1 Q0 vA 1 -4e38 tag", "the score '-4e38' is beyond the range of 32-bit numbers"),
        *[
            (
                f"q1 Q0 vA {rank} 1 tag",
                f"the rank {rank!r} is not an integer of at most nine digits",
            )
            for rank in ("1.0", "first", "1_0", "٣", "9999999999")
        ],
        (
            "q1\u2028 Q0 vA 1 1 tag",
            "the caption key 'q1\\u2028' has a control character or line separator",
        ),
        (
            "q1\x85x Q0 vA 1 1 tag",
            "the caption key 'q1\\x85x' has a control character or line separator",
        ),
        (
            "q1\xa0Q0 Q0 vA 1 1 tag",
            "unknown caption 'q1\\xa0Q0'",
        ),  # only some programs treat this as a space
        ("q1\u3000Q0 vA 1 1 tag", "the line has 5 columns instead of 6"),
        ("q1\x0cQ0 vA 1 1 tag", "the line has a control character"),
        ("q1 Q0 vA 1 1 \x1b[31m", "the line has a control character"),
        ("x" * 300 + " Q0 vA 1 1 tag", "the caption key has 300 characters; the maximum is 255"),
    ],
)
@pytest.mark.parametrize("ending", ["", "\nq9 bad as well"])
def test_bad_line_is_refused(tmp_path: Path, line: str, reason: str, ending: str) -> None:
    content = "q2 Q0 vA 1 0.9 tag\n\nq2 Q0 vB 2 0.8 tag\n" + line + "\nq0 Q0 vA 1 1 tag" + ending
    with pytest.raises(InvalidInput) as refused:
        read(write(tmp_path, content))
    assert str(refused.value) == f"a.run, line 4: {reason}"


@given(st.lists(st.text("012.eE+-_na", max_size=5), min_size=1, max_size=3))
def test_scores_are_the_numbers_that_the_pattern_accepts(texts: list[str]) -> None:
    scores = scores_of([text.encode() for text in texts])
    if all(map(NUMBER.fullmatch, texts)) and all(abs(float(text)) < 3e38 for text in texts):
        assert scores is not None
        assert scores.tolist() == [float(text) for text in texts]
    else:
        assert scores is None


def test_truncated_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as plain:
        read(write(tmp_path, GOOD[:-9]))
    with pytest.raises(InvalidInput) as packed:
        read(write(tmp_path, gzip.compress(GOOD.encode())[:-12]))

    assert str(plain.value) == "a.run, line 3: the line has 5 columns instead of 6"
    assert packed.value.reason == "the gzip stream ends early"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("\n\n", "a.run: the run has no ranked list"),
        ("\n \t\n", "a.run, line 2: the line has 0 columns instead of 6"),
    ],
)
def test_run_without_lists_is_refused(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(write(tmp_path, content))
    assert str(refused.value) == message


@pytest.mark.parametrize("block_bytes", [1, 40, 1 << 20])
@pytest.mark.parametrize("grouped", [True, False])
def test_lists_do_not_depend_on_the_block_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block_bytes: int, grouped: bool
) -> None:
    monkeypatch.setattr(lines, "BLOCK_BYTES", block_bytes)
    monkeypatch.setattr(ordering, "RANGES", 2)
    rows = [
        f"{q} Q0 {v} {n} {n % 2} tag\n"
        for q in ("q0", "q2", "q1")
        for n, v in enumerate(("vA", "vB", "vC"))
    ]
    rows = rows if grouped else rows[::3] + rows[1::3] + rows[2::3]

    run = read(write(tmp_path, "".join(rows)))

    assert lists(run) == {query: [(1, 1.0), (2, 0.0), (0, 0.0)] for query in (0, 1, 2)}
    assert run.query_numbers.tolist() == [0, 1, 2]


@pytest.mark.parametrize("block_bytes", [1, 1 << 20])
@pytest.mark.parametrize("between", ["", "\n", "q1 Q0 vA 1 1 tag\n\nq0 Q0 vA 1 1 tag\n"])
def test_repeated_pair_is_found_across_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block_bytes: int, between: str
) -> None:
    monkeypatch.setattr(lines, "BLOCK_BYTES", block_bytes)
    row = "q2 Q0 vA 1 1 tag\n"
    last = 2 + between.count("\n")

    with pytest.raises(InvalidInput) as refused:
        read(write(tmp_path, row + between + row))
    assert str(refused.value) == f"a.run, line {last}: the same caption and video as in line 1"


def test_first_of_several_repeated_lines_is_named(tmp_path: Path) -> None:
    rows = [f"q2 Q0 {video} 1 1 tag\n" for video in ("vA", "vC", "vA", "vC")]
    with pytest.raises(InvalidInput) as refused:
        read(write(tmp_path, "".join(rows)))
    assert str(refused.value) == "a.run, line 3: the same caption and video as in line 1"


def test_depth_below_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(write(tmp_path, GOOD), depth=0)
    assert str(refused.value) == "the depth is 0; it must be at least 1"


def test_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(write(tmp_path, GOOD), format="xml")
    assert str(refused.value) == (
        "unknown format 'xml'; use auto, trec, json, npy, scores, mteb, avs, npz, tvr, tvr-svmr, "
        "tvr-vr, windows, segments, moments"
    )
