"""Files of judgments: the parsed values, and every error with its line."""

from __future__ import annotations

import datetime
import gzip
import hashlib
from pathlib import Path

import pytest

from annotation.core.readers.judgments import JudgmentsFile, JudgmentsOf, parse_judgments
from hearth.shared.errors import InvalidInput

HEADER = "caption_id,video_id,annotator,label\n"
NOW = datetime.datetime(2026, 3, 1, 12, tzinfo=datetime.UTC)


def parse(folder: Path, content: str | bytes, labels: tuple[int, ...] = (0, 1)) -> JudgmentsFile:
    path = folder / "judgments.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return parse_judgments(
        path,
        JudgmentsOf(
            query_numbers={"q0": 0, "q1": 1},
            video_numbers={"v0": 0, "v1": 1},
            now=NOW,
            labels=labels,
        ),
        source="j.csv",
    )


@pytest.mark.parametrize(
    ("time", "is_refused"),
    [
        ("2026-03-01T12:00:00Z", False),
        ("2026-03-01T13:00:00+01:00", False),
        ("2026-03-01T12:00:01Z", True),
        ("2026-03-01T13:00:00", True),
        ("2099-12-31T23:59:59Z", True),
        ("9999-12-31T23:59:59-12:00", True),
    ],
)
def test_a_time_after_now_is_refused_with_its_line(
    tmp_path: Path, time: str, is_refused: bool
) -> None:
    header = HEADER.replace("label", "label,judged_at")
    content = f"{header}q0,v0,a,1,2025-01-01T00:00:00Z\nq0,v1,a,1,{time}\n"
    if not is_refused:
        assert parse(tmp_path, content).times[1] == NOW.timestamp()
        return
    with pytest.raises(InvalidInput) as refused:
        parse(tmp_path, content)
    assert str(refused.value) == (
        f"j.csv, line 3: the time {time!r} is later than now; a time without an offset is UTC"
    )


@pytest.mark.parametrize("part", [1, 3, 20_000])
def test_judgments_keep_their_order_and_annotators_are_sorted(
    tmp_path: Path, part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.core.readers.judgments.ROWS_PER_PART", part)
    content = (
        "label,annotator,video_id,caption_id\n"
        "1,zoë,v1,q0\nirrelevant,bob b,v1,q0\n0,zoë,v0,q1\nrelevant,Al,v0,q1\n"
    )
    judgments = parse(tmp_path, gzip.compress(content.encode()))

    assert judgments.queries.tolist() == [0, 0, 1, 1]
    assert judgments.videos.tolist() == [1, 1, 0, 0]
    assert judgments.annotator_keys == ("Al", "bob b", "zoë")
    assert judgments.annotators.tolist() == [2, 1, 2, 0]
    assert judgments.labels.tolist() == [1, 0, 0, 1]
    assert judgments.sha256 == hashlib.sha256(content.encode()).hexdigest()


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("q9,v0,a,1", "unknown caption 'q9'"),
        ("q0,v9,a,1", "unknown video 'v9'"),
        ("q0,v 0,a,1", "the video key 'v 0' has a space, which separates columns in a TREC file"),
        ("q0,v0,,1", "the annotator is empty"),
        (
            "q0,v0,a\x1b[1m,1",
            "the annotator 'a\\x1b[1m' has a control character or line separator",
        ),
        ("q0,v0,a", "the row has 3 columns, but the header has 4"),
        ("q0,v1,a,0", "annotator 'a' already judged this pair in line 2"),
        *[
            (
                f"q0,v0,a,{label}",
                f"the label must be one of 0, 1, irrelevant, relevant, not {label!r}"
                + ("; the scale “Graded relevance” has labels from 0 to 3" if label == "2" else ""),
            )
            for label in ("2", "", " 1", "1.5", "١", "yes", "-1", "RELEVANT")
        ],
    ],
)
def test_bad_row_is_refused(tmp_path: Path, row: str, reason: str) -> None:
    content = f"{HEADER}q0,v1,a,1\nq0,v1,b,1\n\n{row}\nq1,v1,b,1\n"
    with pytest.raises(InvalidInput) as refused:
        parse(tmp_path, content)
    assert str(refused.value) == f"j.csv, line 5: {reason}"


def test_first_of_several_repeated_rows_is_named(tmp_path: Path) -> None:
    rows = "q1,v1,a,1\nq0,v0,a,1\nq1,v1,a,1\nq0,v0,a,1\n"
    with pytest.raises(InvalidInput) as refused:
        parse(tmp_path, HEADER + rows)
    assert str(refused.value) == "j.csv, line 4: annotator 'a' already judged this pair in line 2"


def test_graded_scale_takes_its_numbers_only(tmp_path: Path) -> None:
    assert parse(tmp_path, HEADER + "q0,v0,a,3\n", (0, 1, 2, 3)).labels.tolist() == [3]
    with pytest.raises(InvalidInput) as refused:
        parse(tmp_path, HEADER + "q0,v0,a,relevant\n", (0, 1, 2, 3))
    assert (
        str(refused.value) == "j.csv, line 2: the label must be one of 0, 1, 2, 3, not 'relevant'"
    )


def test_header_alone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse(tmp_path, HEADER)
    assert str(refused.value) == "j.csv, line 1: the file has a header but no judgments"
