"""captions.csv and videos.csv: the parsed rows, and the error and line of each bad file."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import pytest

from hearth.shared.errors import InvalidInput
from pooling.core.lines import SourceFile
from pooling.core.readers.benchmarks import TABLE, read_captions
from pooling.core.readers.videos import VideoRow, parse_videos
from tests.pooling.core.tiny import write

HEADER = "caption_id,caption,video_id\n"


def test_captions_and_positives_are_numbered_by_first_appearance(tmp_path: Path) -> None:
    content = (
        "video_id,caption_id,split,caption\n"
        'v9,q#1,test,"two lines,\n\u202e""quoted"" <b>=1+1</b>"\n'
        "v1,q#0,test,one\n"
        "\n"
        'v1,q#1,test,"two lines,\n\u202e""quoted"" <b>=1+1</b>"\n'
    )
    captions = read_captions(
        [SourceFile(write(tmp_path, gzip.compress(content.encode())), "c.csv")], expected=TABLE
    )

    assert captions.query_keys == ("q#1", "q#0")
    assert captions.texts == ('two lines,\n\u202e"quoted" <b>=1+1</b>', "one")
    assert captions.video_keys == ("v9", "v1")
    assert captions.positive_queries.tolist() == [0, 1, 0]
    assert captions.positive_videos.tolist() == [0, 1, 1]
    assert captions.sha256 == hashlib.sha256(content.encode()).hexdigest()
    assert captions.notes == ("columns not used: 'split'",)


def test_a_column_of_paragraphs_is_pointed_out(tmp_path: Path) -> None:
    path = write(tmp_path, b"caption_id,caption,video_id,paragraph_id\nq,one,v1,p\n")
    hint, unused = read_captions([SourceFile(path, "c.csv")], expected=TABLE).notes
    assert hint.startswith("The captions have a column 'paragraph_id'. To add their paragraphs")
    assert unused == "columns not used: 'paragraph_id'"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("", "c.csv, line 1: the file has a header but no caption"),
        ("q,t\n", "c.csv, line 2: the row has 2 columns, but the header has 3"),
        (
            "q,t,v\nq,t,v\n",
            "c.csv, line 3: caption 'q' with video 'v' is already in line 2; delete one of "
            "the lines",
        ),
        (
            "q,t,v\nq,T,w\n",
            "c.csv, line 3: caption 'q' has a different text in line 2; give each text its own "
            "caption_id",
        ),
        (
            'q,"t\nt",v\nr,t,v\n\nq,t,w\n',  # a record of two lines counts as two lines
            "c.csv, line 6: caption 'q' has a different text in line 2; give each text its own "
            "caption_id",
        ),
        (",t,v\n", "c.csv, line 2: the caption key is empty"),
        ("q,t,\n", "c.csv, line 2: the video key is empty"),
        (
            "q q,t,v\n",
            "c.csv, line 2: the caption key 'q q' has a space, which separates columns in a "
            "TREC file",
        ),
        (
            "q,t,v\u2028w\n",
            "c.csv, line 2: the video key 'v\\u2028w' has a control character or line separator",
        ),
        (
            "q\x85,t,v\n",
            "c.csv, line 2: the caption key 'q\\x85' has a control character or line separator",
        ),
        (
            "k" * 256 + ",t,v\n",
            "c.csv, line 2: the caption key has 256 characters; the maximum is 255",
        ),
        ("q, \u3000,v\n", "c.csv, line 2: the caption is empty"),
        (
            f"q,{'t' * 10_001},v\n",
            "c.csv, line 2: the caption has 10,001 characters; the maximum is 10,000",
        ),
        ("q,t\0,v\n", "c.csv, line 2: the line has a NUL character"),
        ('q,t,v\nr,"t,v\n', "c.csv, line 3: this is not a row of CSV: unexpected end of data"),
        ('q,"t"x,v\n', "c.csv, line 2: this is not a row of CSV: ',' expected after '\"'"),
    ],
)
def test_bad_captions_are_refused(tmp_path: Path, rows: str, message: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_captions([SourceFile(write(tmp_path, HEADER + rows), "c.csv")], expected=TABLE)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("caption_id,video_id\n", "c.csv, line 1: the header has no column 'caption'"),
        (
            "caption_id,caption,video_id,caption\n",
            "c.csv, line 1: the header has the column 'caption' twice",
        ),
        (
            "caption_id;caption;video_id\n",
            "c.csv, line 2: the row has 1 columns, but the header has 3",
        ),
    ],
)
def test_bad_header_is_refused(tmp_path: Path, header: str, message: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_captions([SourceFile(write(tmp_path, header + "a,b,c\n"), "c.csv")], expected=TABLE)
    assert str(refused.value) == message


def test_texts_are_stored_unchanged(tmp_path: Path) -> None:
    texts = [
        "é",
        "e\u0301",
        "a" + "\u0301" * 1000,
        "👨‍👩‍👧",
        " padded ",
        "\u200b",
        "=1+1",
        "猫" * 10_000,
    ]
    rows = "".join(f"q{n},{text},v\n" for n, text in enumerate(texts))

    assert read_captions(
        [SourceFile(write(tmp_path, HEADER + rows), "c.csv")], expected=TABLE
    ).texts == tuple(texts)


def test_videos_have_the_values_of_the_file(tmp_path: Path) -> None:
    content = "video_id,duration,file,url\nv1,2.5,a/b.mp4,\nv2,,,https://example.org/v?id=2\n"
    videos = parse_videos(write(tmp_path, content))

    assert videos.videos == (
        VideoRow("v1", "a/b.mp4", None, 2.5),
        VideoRow("v2", None, "https://example.org/v?id=2", None),
    )
    assert parse_videos(write(tmp_path, "video_id\nv1\n")).videos == (
        VideoRow("v1", None, None, None),
    )


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("v0,,,", "video 'v0' is already in line 2; delete one of the lines"),
        (
            "v 1,,,",
            "the video key 'v 1' has a space, which separates columns in a TREC file",
        ),
        *[
            (
                f"v1,{name},,",
                f"the file name {name!r} is not allowed; use a path inside the media folder, "
                "without '..', backslashes and colons",
            )
            for name in ("/etc/passwd", "../x.mp4", "a/../../x.mp4", "..", "a\\b.mp4", "C:x.mp4")
        ],
        (
            "v1,a\x07.mp4,,",
            "the file name 'a\\x07.mp4' is too long or has unprintable characters",
        ),
        *[
            (f"v1,,{url},", f"the url {url!r} is not a plain http or https address")
            for url in (
                "javascript:alert(1)",
                "file:///etc/passwd",
                "//host/v",
                "https://",
                "https://u:p@host/v",
                "https://host:99999/v",
                "https://[::1/v",
                "https://ho st/v",
                "data:text/html;x",
            )
        ],
        *[
            (
                f"v1,,,{seconds}",
                f"the duration {seconds!r} is not a number of seconds above 0",
            )
            for seconds in ("nan", "inf", "1e999", "0", "-1", "1_0", "٣", "0x1", " 1")
        ],
    ],
)
def test_bad_videos_are_refused(tmp_path: Path, row: str, reason: str) -> None:
    content = f"video_id,file,url,duration\nv0,,,\n{row}\n"
    with pytest.raises(InvalidInput) as refused:
        parse_videos(write(tmp_path, content), source="v.csv")
    assert str(refused.value) == f"v.csv, line 3: {reason}"
