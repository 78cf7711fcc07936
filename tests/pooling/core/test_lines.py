"""Reading text files: the same content in several forms, and the error of each bad file.

A byte order mark, the kind of line ends, and gzip do not change the content.
"""

from __future__ import annotations

import gzip
import hashlib
import tracemalloc
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from hearth.shared.errors import Cancelled, InvalidInput
from pooling.core import lines
from pooling.core.lines import TextBlocks, sha256_of_file
from tests.pooling.core.tiny import write

TEXT = "über\tone\u2028\x85\n\ntwo 🐈\n"
PLAIN = TEXT.encode()
# Without a time stamp, because all test processes must generate the same test names.
packed = partial(gzip.compress, mtime=0)
TRUNCATED = packed(b"".join(b"line %d\n" % n for n in range(5000)))


@pytest.mark.parametrize(
    "content",
    [
        PLAIN,
        b"\xef\xbb\xbf" + PLAIN,
        PLAIN.replace(b"\n", b"\r\n"),
        PLAIN.removesuffix(b"\n"),
        packed(PLAIN),
        packed(PLAIN[:3]) + packed(b"") + packed(PLAIN[3:]),
        packed(b"\xef\xbb\xbf" + PLAIN.replace(b"\n", b"\r\n")),
    ],
    ids=["plain", "BOM", "CRLF", "no last newline", "gzip", "gzip members", "gzip BOM CRLF"],
)
def test_bom_line_ends_and_gzip_do_not_change_the_content(tmp_path: Path, content: bytes) -> None:
    blocks = TextBlocks(write(tmp_path, content))

    assert list(blocks.text_lines()) == ["über\tone\u2028\x85\n", "\n", "two 🐈\n"]
    assert blocks.sha256 == hashlib.sha256(PLAIN).hexdigest()


def bomb(size: int) -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    return b"".join(packer.compress(b"a\n" * 500_000) for _ in range(size)) + packer.flush()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "f: the file is empty"),
        (b"\xef\xbb\xbf\n", "f: the file is empty"),
        (packed(b""), "f: the file is empty"),
        ("ab\n".encode("utf-16"), "f, line 1: the text is UTF-16; save it as UTF-8"),
        ("ab\n".encode("utf-16-le"), "f, line 1: the text is UTF-16; save it as UTF-8"),
        ("ab\n".encode("utf-16-be"), "f, line 1: the text is UTF-16; save it as UTF-8"),
        ("ab\n".encode("utf-32"), "f, line 1: the text is UTF-32; save it as UTF-8"),
        (
            "ok\ngroße\n".encode("latin-1"),
            "f, line 2: the text is not UTF-8 (byte 0xDF); if the text is Latin-1 or Windows-1252, "
            "save it as UTF-8",
        ),
        (
            b"ok\nok\n\xed\xa0\x80\n",  # a surrogate, which some programs write
            "f, line 3: the text is not UTF-8 (byte 0xED); if the text is Latin-1 or Windows-1252, "
            "save it as UTF-8",
        ),
        (b"ok\nno\0\n", "f, line 2: the line has a NUL character"),
        (b"ok\r\nno\rno\r\n", "f, line 2: the line has a carriage return without a newline"),
        (b"ok\r\nno\r", "f, line 2: the line has a carriage return without a newline"),
        (b"ok\n" + b"x" * (1 << 20) + b"x\n", "f, line 2: the line is longer than 1,048,576 bytes"),
        (
            b"ok\n" * 700_000 + b"x" * (5 << 20),
            "f, line 700001: the line is longer than 1,048,576 bytes",
        ),
        (TRUNCATED[:-9], "f, line 5001: the gzip stream ends early"),
        (TRUNCATED[:-4], "f, line 5001: the gzip stream ends early"),
        (TRUNCATED[:-6] + b"\0\0" + TRUNCATED[-4:], "f, line 1: the gzip stream is damaged"),
        (TRUNCATED + b"more", "f, line 5001: other bytes follow the gzip stream"),
        (b"\x1f\x8b", "f, line 1: the gzip stream ends early"),
        (packed(TRUNCATED), "f, line 1: this is a gzip file inside a gzip file; unpack it once"),
        (b"PK\x03\x04....", "f, line 1: this is a zip archive (or .npz); unpack it first"),
        (
            b"\x80\x04\x95",
            "f, line 1: this is a Python pickle, which is never loaded; use CSV, JSON or TREC",
        ),
    ],
)
def test_bad_file_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        list(TextBlocks(write(tmp_path, content), source="f"))
    assert str(refused.value) == message


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as refused:
        list(TextBlocks(tmp_path / "none", source="none.csv"))
    assert str(refused.value) == "none.csv: the file cannot be read: No such file or directory"


def test_gzip_bomb_is_stopped_by_its_unpacked_size(tmp_path: Path) -> None:
    path = write(tmp_path, bomb(100))  # 100 MB in 100 KB
    tracemalloc.start()
    with pytest.raises(InvalidInput) as refused:
        list(TextBlocks(path, source="f", max_bytes=4_000_000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert refused.value.reason == "the file has more than 4,000,000 bytes of text"
    assert peak < 12_000_000


def test_gzip_of_too_many_members_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "MAX_GZIP_MEMBERS", 100)
    enough = gzip.compress(b"a\n") + gzip.compress(b"") * 99

    assert list(TextBlocks(write(tmp_path, enough))) == [b"a\n"]
    with pytest.raises(InvalidInput) as refused:
        list(TextBlocks(write(tmp_path, enough + gzip.compress(b"")), source="f"))
    assert str(refused.value) == "f, line 2: the gzip file has more than 100 members"


@pytest.mark.parametrize("block_bytes", [1, 2, 3, 7, 64])
@pytest.mark.parametrize("wrap", [bytes, gzip.compress])
def test_blocks_of_any_size_contain_whole_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block_bytes: int, wrap: Callable[..., bytes]
) -> None:
    monkeypatch.setattr(
        lines, "BLOCK_BYTES", max(block_bytes, 16) if wrap is not bytes else block_bytes
    )
    text = "".join(f"{'ä' * (n % 5)}{n}\r\n" for n in range(40))
    blocks = TextBlocks(write(tmp_path, wrap(b"\xef\xbb\xbf" + text.encode())))

    seen = [(blocks.lines_before, block) for block in blocks]

    assert b"".join(block for _, block in seen) == text.replace("\r", "").encode()
    assert all(block.endswith(b"\n") for _, block in seen)
    counts = [block.count(b"\n") for _, block in seen]
    assert [before for before, _ in seen] == [0, *np.cumsum(counts)[:-1].tolist()]


def test_progress_counts_bytes_and_can_cancel(tmp_path: Path) -> None:
    path = write(tmp_path, b"0123456\n" * 400_000)
    calls: list[tuple[int, int | None]] = []

    def progress(done: int, total: int | None) -> None:
        calls.append((done, total))
        if done > 2_000_000:
            raise Cancelled

    with pytest.raises(Cancelled):
        list(TextBlocks(path, progress=progress))
    assert calls == [(number << 18, 3_200_000) for number in range(1, 9)]


def test_the_bytes_of_a_matrix_are_hashed(tmp_path: Path) -> None:
    path = tmp_path / "m.npy"
    np.save(path, np.zeros((2, 2)))
    assert sha256_of_file(path) == hashlib.sha256(path.read_bytes()).hexdigest()
