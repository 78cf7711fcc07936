"""Files whose end is missing, and files that were made too large on purpose.

Each is refused in bounded time and memory, with the line at which reading stopped.
"""

from __future__ import annotations

import gzip
import io
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hearth.shared.errors import InvalidInput
from pooling.core.lines import SourceFile
from pooling.core.readers.benchmarks import read_captions
from pooling.core.readers.tags import parse_tags
from pooling.core.readers.train_captions import parse_train_captions
from pooling.core.readers.videos import parse_videos
from tests.pooling.core.tiny import QUERIES, VIDEOS, lists, read, write

MB = 1 << 20


def matrix() -> bytes:
    out = io.BytesIO()
    np.save(out, np.arange(9, dtype=np.float32).reshape(3, 3))
    return out.getvalue()


READERS: dict[str, Callable[[Path], object]] = {
    "trec": read,
    "json": read,
    "npy": read,
    "captions": lambda path: read_captions([SourceFile(path, "a.run")]),
    "videos": lambda path: parse_videos(path, source="a.run"),
    "train": lambda path: parse_train_captions(path, source="a.run"),
    "tags": lambda path: parse_tags(
        path, query_numbers=QUERIES, video_numbers=VIDEOS, source="a.run"
    ),
}
WHOLE = {
    "trec": b"q2 Q0 vA 1 0.9 tag\nq2 Q0 vB 2 0.8 tag\n",
    "json": b'{"q2": ["vA",\n"vB"]}\n',
    "npy": matrix(),
    "captions": b'caption_id,caption,video_id\nc1,a,v1\nc2,"b, c",v2\n',
    "videos": b'video_id,file\nv1,a.mp4\nv2,"b.mp4"\n',
    "train": b'caption\na\n"b, c"\n',
    "tags": b'caption_id,tag\nq1,colour\nq2,"shape"\n',
}


NO_ROW = "a.run, line 3: this is not a row of CSV: unexpected end of data"


def refusal(kind: str, path: Path) -> str:
    with pytest.raises(InvalidInput) as refused:
        READERS[kind](path)
    return str(refused.value)


@pytest.mark.parametrize("kind", READERS)
def test_a_whole_file_is_read(tmp_path: Path, kind: str) -> None:
    READERS[kind](write(tmp_path, WHOLE[kind]))
    if kind != "npy":
        READERS[kind](write(tmp_path, gzip.compress(WHOLE[kind])))


@pytest.mark.parametrize(
    ("kind", "missing", "message"),
    [
        ("trec", 9, "a.run, line 2: the line has 4 columns instead of 6"),
        (
            "json",
            4,
            "a.run, line 2: the file is not JSON: Unterminated string starting at (column 1)",
        ),
        ("npy", 1, "a.run: the file has 163 bytes, but its header requires 164"),
        ("captions", 4, "a.run, line 3: the row has 2 columns, but the header has 3"),
        ("videos", 2, NO_ROW),
        ("train", 2, NO_ROW),
        ("tags", 2, NO_ROW),
    ],
)
def test_a_file_without_its_end_is_refused(
    tmp_path: Path, kind: str, missing: int, message: str
) -> None:
    assert refusal(kind, write(tmp_path, WHOLE[kind][:-missing])) == message


@pytest.mark.parametrize("kind", [kind for kind in READERS if kind != "npy"])
@pytest.mark.parametrize("missing", [1, 8])
def test_a_gzip_file_without_its_end_is_refused(tmp_path: Path, kind: str, missing: int) -> None:
    packed = gzip.compress(WHOLE[kind])
    line = WHOLE[kind].count(b"\n") + 1

    text = refusal(kind, write(tmp_path, packed[:-missing]))

    assert text == f"a.run, line {line}: the gzip stream ends early"


@pytest.mark.parametrize("kind", [kind for kind in READERS if kind != "npy"])
def test_a_zip_archive_is_refused(tmp_path: Path, kind: str) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("packed", WHOLE[kind])

    assert refusal(kind, write(tmp_path, packed.getvalue())) == (
        "a.run: packed: this is not a .npy file"
        if READERS[kind] is read
        else "a.run, line 1: this is a zip archive (or .npz); unpack it first"
    )


def test_a_zip_archive_of_one_matrix_is_read(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("packed", WHOLE["npy"])
    run = read(write(tmp_path, packed.getvalue()))

    assert run.format == "npz"
    assert lists(run) == lists(read(write(tmp_path, WHOLE["npy"])))


def endless(path: Path, begin: bytes) -> Path:
    """Write a gzip file of 1 MB: the beginning, and then 1 GB in the same line."""
    with path.open("wb") as out:
        out.write(gzip.compress(begin))
        member = gzip.compress(b"x" * MB)
        for _ in range(1000):
            out.write(member)
    return path


TOO_LONG = "a.run, line {}: the line is longer than 1,048,576 bytes"
TOO_LARGE = "a.run: an entry has more than 3,145,728 characters"


@pytest.mark.parametrize(
    ("kind", "begin", "message"),
    [
        ("trec", b"", TOO_LONG.format(1)),
        ("trec", b"q2 Q0 ", TOO_LONG.format(1)),
        ("json", b'{"', TOO_LARGE),
        ("json", b'{"q2": ["', TOO_LARGE),
        ("captions", b"caption_id,caption,video_id\n", TOO_LONG.format(2)),
        ("videos", b"video_id,file\n", TOO_LONG.format(2)),
        ("train", b"caption\n", TOO_LONG.format(2)),
        ("tags", b"caption_id,tag\n", TOO_LONG.format(2)),
    ],
)
def test_an_endless_line_or_id_is_refused_early(
    tmp_path: Path, kind: str, begin: bytes, message: str
) -> None:
    path = endless(tmp_path / "file", begin)
    began = time.process_time()
    tracemalloc.start()

    text = refusal(kind, path)

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert text == message
    assert peak < 40 * MB
    assert time.process_time() - began < 5


def test_a_matrix_with_an_endless_header_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with path.open("wb") as out:
        out.write(b"\x93NUMPY\x02\0" + (1 << 30).to_bytes(4, "little"))
        out.truncate(1 << 30)

    assert refusal("npy", path) == (
        "a.run: the .npy header has 1,073,741,824 bytes; the maximum is 10,000"
    )
