"""Files of tags: the parsed tags, and the error and line of each bad file."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearth.shared.errors import InvalidInput
from pooling.core.readers import tags as tag_file
from pooling.core.readers.tags import CAPTION, MAX_TAG, VIDEO, TagFile, parse_tags, tag_fault
from tests.pooling.core.tiny import write


def parse(folder: Path, content: str | bytes) -> TagFile:
    return parse_tags(
        write(folder, content),
        query_numbers={"q0": 0, "q1": 1, "v0": 2},
        video_numbers={"v0": 0, "v1": 1, "q0": 2},
        source="t.csv",
    )


def numbers(file: TagFile) -> list[tuple[str, list[int]]]:
    return [(tag, found.tolist()) for tag, found in file.numbers.items()]


def test_the_header_decides_what_is_tagged(tmp_path: Path) -> None:
    content = "tag,caption_id\nsports & games,q1\nfood,v0\nsports & games,q0\n\n=1+1,q0\n"
    captions = parse(tmp_path, gzip.compress(content.encode()))
    assert captions.of == CAPTION
    assert numbers(captions) == [("sports & games", [0, 1]), ("food", [2]), ("=1+1", [0])]
    videos = parse(tmp_path, "video_id,tag,length\nv1,food,3\nq0,food,4\n")
    assert (videos.of, numbers(videos)) == (VIDEO, [("food", [1, 2])])
    assert videos.notes == ("columns not used: 'length'",)


LONG = "x" * (MAX_TAG + 1)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("q9,food", "unknown caption 'q9'"),
        ("v1,food", "unknown caption 'v1'"),
        (",food", "the caption key is empty"),
        ("q0,", "the tag is empty"),
        ("q0, ", "the tag is empty"),
        ("q0, food", "the tag ' food' begins or ends with a space"),
        ("q0,food\u00a0", "the tag 'food\\xa0' begins or ends with a space"),
        (f"q0,{LONG}", "the tag has 101 characters; the maximum is 100"),
        ('q0,"foo\nd"', "the tag 'foo\\nd' has a control character or line separator"),
        ("q0,no tag", "the tag 'no tag' is reserved for captions without a tag"),
        ("q1,sports", "caption 'q1' already has the tag 'sports' in line 2"),
        ("q0,fourth", "the file has more than 3 different tags"),
        ("q0", "the row has 1 columns, but the header has 2"),
    ],
)
def test_bad_row_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: str, reason: str
) -> None:
    monkeypatch.setattr(tag_file, "MAX_TAGS", 3)
    with pytest.raises(InvalidInput) as refused:
        parse(tmp_path, f"caption_id,tag\nq1,sports\nq0,a\nq0,b\n\n{row}\n")
    assert str(refused.value) == f"t.csv, line 6: {reason}"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "t.csv: the file is empty"),
        ("caption_id,tag\n", "t.csv, line 1: the file has a header but no tag"),
        ("caption_id\nq0\n", "t.csv, line 1: the header has no column 'tag'"),
        (
            "caption,tag\nq0,a\n",
            "t.csv, line 1: the header has none of the columns 'caption_id' and "
            "'video_id'; use one",
        ),
        (
            "caption_id,video_id,tag\nq0,v0,a\n",
            "t.csv, line 1: the header has both columns 'caption_id' and 'video_id'; use one",
        ),
        ("video_id,tag\nq1,a\n", "t.csv, line 2: unknown video 'q1'"),
    ],
)
def test_bad_file_is_refused(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse(tmp_path, content)
    assert str(refused.value) == message


@given(st.text(max_size=120))
def test_every_accepted_tag_is_one_printable_line(tag: str) -> None:
    if tag_fault(tag) is None:
        assert 1 <= len(tag) <= MAX_TAG
        assert tag == tag.strip()
        assert len(tag.splitlines()) == 1
        assert "\0" not in tag
        tag.encode()
