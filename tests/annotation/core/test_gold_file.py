"""Files of gold items: the parsed values, and every error with its line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from annotation.core.readers.gold import EXPLANATION_LENGTH, GoldFile, parse_gold
from hearth.shared.errors import InvalidInput

HEADER = "caption_id,video_id,label,explanation\n"


def parse(folder: Path, content: str | bytes) -> GoldFile:
    path = folder / "gold.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return parse_gold(
        path,
        query_numbers={"q0": 0, "q1": 1},
        video_numbers={"v0": 0, "v1": 1},
        source="g.csv",
    )


def test_items_keep_their_order(tmp_path: Path) -> None:
    content = (
        "explanation,label,video_id,caption_id\n"
        '"the circle is blue,\nthe caption says red",0,v1,q0\n'
        "=SUM(1),relevant,v0,q1\n"
        ",irrelevant,v1,q1\n"
    )
    gold = parse(tmp_path, gzip.compress(content.encode()))

    assert gold.queries.tolist() == [0, 1, 1]
    assert gold.videos.tolist() == [1, 0, 1]
    assert gold.relevant.tolist() == [False, True, False]
    assert gold.explanations == ("the circle is blue,\nthe caption says red", "=SUM(1)", "")
    assert gold.lines == (2, 4, 5)
    assert gold.source == "g.csv"


def test_the_explanation_may_be_missing(tmp_path: Path) -> None:
    gold = parse(tmp_path, "caption_id,video_id,label\nq0,v0,1\n")
    assert (gold.relevant.tolist(), gold.explanations) == ([True], ("",))


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + HEADER.encode() + b"q0,v0,1,why\n",
        HEADER.replace("\n", "\r\n").encode() + b"q0,v0,1,why\r\n",
        HEADER.encode() + b"q0,v0,1,why",
    ],
    ids=["byte order mark", "CRLF", "no last newline"],
)
def test_byte_order_marks_and_line_ends_of_editors_are_accepted(
    tmp_path: Path, content: bytes
) -> None:
    gold = parse(tmp_path, content)
    assert (gold.queries.tolist(), gold.explanations) == ([0], ("why",))


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("q9,v0,1,", "unknown caption 'q9'"),
        ("q0,v9,1,", "unknown video 'v9'"),
        (
            "q 0,v0,1,",
            "the caption key 'q 0' has a space, which separates columns in a TREC file",
        ),
        ("q0,v0,1", "the row has 3 columns, but the header has 4"),
        ("q0,v1,1,other words", "the pair is already in line 2"),
        ("q0,v0,1,  ", "the explanation is empty"),
        (
            f"q0,v0,1,{'x' * (EXPLANATION_LENGTH + 1)}",
            "the explanation has 2,001 characters; the maximum is 2,000",
        ),
        *[
            (
                f"q0,v0,{label},",
                f"the label must be one of 1, 0, relevant, irrelevant, not {label!r}",
            )
            for label in ("2", "", " 1", "1.5", "١", "yes", "-1", "RELEVANT", "true")
        ],
    ],
)
def test_bad_row_is_refused(tmp_path: Path, row: str, reason: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse(tmp_path, f"{HEADER}q0,v1,0,first\n\n{row}\nq1,v1,1,\n")
    assert str(refused.value) == f"g.csv, line 4: {reason}"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "g.csv: the file is empty"),
        (HEADER.encode(), "g.csv, line 1: the file has a header but no items"),
        (b"caption_id,label\n", "g.csv, line 1: the header has no column 'video_id'"),
        (HEADER.encode("utf-16"), "g.csv, line 1: the text is UTF-16; save it as UTF-8"),
        (
            HEADER.encode() + b"q0,v0,1,caf\xe9\n",
            "g.csv, line 2: the text is not UTF-8 (byte 0xE9); if the text is Latin-1 or "
            "Windows-1252, save "
            "it as UTF-8",
        ),
        (
            HEADER.encode() + b"q0,v0,1,why\rq1,v1,0,\n",
            "g.csv, line 2: the line has a carriage return without a newline",
        ),
        (
            HEADER.encode() + b'q0,v0,1,"why\n',
            "g.csv, line 2: this is not a row of CSV: unexpected end of data",
        ),
        (gzip.compress(HEADER.encode(), mtime=0)[:-4], "g.csv, line 2: the gzip stream ends early"),
    ],
)
def test_bad_file_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse(tmp_path, content)
    assert str(refused.value) == message
