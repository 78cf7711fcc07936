"""Untrusted text files, read as checked blocks of whole lines in bounded memory.

`TextBlocks` reads every text file that a person imports. It unpacks gzip, refuses bytes that are
not UTF-8, and computes the SHA-256 of the content. The hash does not depend on compression, a byte
order mark, the kind of line ends or a missing final newline.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import NoReturn, Self

from hearth.shared.errors import InvalidInput
from hearth.shared.filetypes import HEAD_BYTES as SIGNATURE_BYTES
from hearth.shared.filetypes import ZIP, describe_binary
from hearth.shared.options import SentFile

Progress = Callable[[int, int | None], None]
"""Called with the number of bytes read and the size of the file. It may raise to cancel."""

BLOCK_BYTES = 1 << 18
MAX_LINE_BYTES = 1 << 20
MAX_CONTENT_BYTES = 4 << 30
HEAD_BYTES = 1 << 16
# bgzip writes one member per 64 KiB, so this suffices for 6 GB. More members are an attack.
MAX_GZIP_MEMBERS = 100_000

_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
_LONE_CR = re.compile(rb"\r(?!\n)")
_NOT_TEXT = (
    (b"\xff\xfe\0\0", "the text is UTF-32; save it as UTF-8"),
    (b"\0\0\xfe\xff", "the text is UTF-32; save it as UTF-8"),
    (b"\xff\xfe", "the text is UTF-16; save it as UTF-8"),
    (b"\xfe\xff", "the text is UTF-16; save it as UTF-8"),
    (_GZIP, "this is a gzip file inside a gzip file; unpack it once"),
    (b"PK\x03\x04", "this is a zip archive (or .npz); unpack it first"),
    (b"\x93NUMPY", "this is a .npy matrix, but text is expected; do not compress a matrix"),
    (b"\x80\x02", "this is a Python pickle, which is never loaded; use CSV, JSON or TREC"),
    (b"\x80\x03", "this is a Python pickle, which is never loaded; use CSV, JSON or TREC"),
    (b"\x80\x04", "this is a Python pickle, which is never loaded; use CSV, JSON or TREC"),
    (b"\x80\x05", "this is a Python pickle, which is never loaded; use CSV, JSON or TREC"),
)


class TextBlocks:
    """An iterable over the content of a file in blocks of bytes with whole lines.

    A block is valid UTF-8 without byte order mark, NUL or carriage return, and ends with a newline.
    If lines have no maximum length, a long line is cut between two characters. A block's first line
    has the number `lines_before + 1`. After the last block, `sha256` is the hash of all blocks.

    Raises `InvalidInput` with the line if the file cannot be read, is empty, or contains bytes that
    are not UTF-8 (such as UTF-16 or Latin-1), a NUL, or a lone carriage return. It is also raised
    if a line has more than `max_line` bytes (None: no limit), if the content has more than
    `max_bytes` (counted while unpacking, to stop a gzip bomb), or if a gzip stream is incomplete,
    damaged or has too many members.
    """

    def __init__(
        self,
        path: Path,
        *,
        source: str | None = None,
        progress: Progress | None = None,
        max_line: int | None = MAX_LINE_BYTES,
        max_bytes: int = MAX_CONTENT_BYTES,
    ) -> None:
        self.source = source or str(path)
        self._path = path
        self._progress = progress
        self._max_line = max_line
        self._max_bytes = max_bytes
        self._start()

    def _start(self) -> None:
        self.lines_before = 0
        self._hash = hashlib.sha256()
        self._buffer = bytearray()
        self._line_end = 0  # the position after the last newline in the buffer
        self._lines_out = 0
        self._at_start = True

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()

    def __iter__(self) -> Iterator[bytes]:
        self._start()
        with open_binary(self._path, self.source) as file:
            size = os.fstat(file.fileno()).st_size
            content_bytes = 0
            for piece in self._pieces(file):
                content_bytes += len(piece)
                if content_bytes > self._max_bytes:
                    self._refuse(
                        f"the file has more than {self._max_bytes:,} bytes of text",
                        self._read_lines(),
                    )
                yield from self._whole_lines(piece)
                if self._progress:
                    self._progress(file.tell(), size)
        yield from self._rest()

    def text_lines(self) -> Iterator[str]:
        """Yield the content line by line, each with its newline. Only "\\n" ends a line."""
        for block in self:
            yield from lines_of(block.decode())

    def _pieces(self, file: BufferedReader) -> Iterator[bytes]:
        head = file.read(SIGNATURE_BYTES)
        file.seek(0)
        kind = describe_binary(head)
        if kind not in (None, ZIP):
            self._refuse(f"this is {kind}; a text file such as CSV or JSON is expected")
        if not head.startswith(_GZIP):
            while piece := file.read(BLOCK_BYTES):
                yield piece
            return
        try:
            yield from gunzip(file)
        except (zlib.error, EOFError) as error:
            reason = str(error) if isinstance(error, EOFError) else "the gzip stream is damaged"
            self._refuse(reason, self._read_lines())

    def _whole_lines(self, piece: bytes) -> Iterator[bytes]:
        """Add a piece to the buffer. If the buffer has enough bytes, yield its whole lines."""
        searched = len(self._buffer)
        self._buffer += piece
        # Only the new part is searched, so that a very long line is not searched many times.
        self._line_end = self._buffer.rfind(b"\n", searched) + 1 or self._line_end
        if self._max_line is not None and len(self._buffer) - self._line_end > self._max_line:
            self._refuse(f"the line is longer than {self._max_line:,} bytes", self._read_lines())
        if len(self._buffer) < BLOCK_BYTES // 2:
            return
        if self._line_end:
            yield self._take(self._line_end)
        elif self._max_line is None and (end := _last_character(self._buffer)):
            yield self._take(end)

    def _rest(self) -> Iterator[bytes]:
        if self._buffer:
            if self._buffer.endswith(b"\r"):
                self._refuse("the line has a carriage return without a newline", self._read_lines())
            if not self._buffer.endswith(b"\n"):
                self._buffer += b"\n"
            yield self._take(len(self._buffer))
        if not self._lines_out:
            self._refuse("the file is empty")

    def _take(self, end: int) -> bytes:
        block = bytes(memoryview(self._buffer)[:end])
        del self._buffer[:end]
        self._line_end = 0
        self.lines_before = self._lines_out
        block = self._checked(block)
        self._lines_out += block.count(b"\n")
        self._hash.update(block)
        return block

    def _checked(self, block: bytes) -> bytes:
        if self._at_start:
            self._at_start = False
            block = self._without_bom(block)
        if (nul := block.find(b"\0")) >= 0:
            self._refuse("the line has a NUL character", self._line_at(block, nul))
        if b"\r" in block:
            if lone := _LONE_CR.search(block):
                self._refuse(
                    "the line has a carriage return without a newline",
                    self._line_at(block, lone.start()),
                )
            block = block.replace(b"\r\n", b"\n")
        if not block.isascii():
            self._check_utf8(block)
        if self._max_line is not None and len(block) > self._max_line:
            self._check_lengths(block, self._max_line)
        return block

    def _without_bom(self, block: bytes) -> bytes:
        for magic, reason in _NOT_TEXT:
            if block.startswith(magic):
                self._refuse(reason, 1)
        if b"\0" in block[:2]:  # an ASCII letter in two bytes
            self._refuse("the text is UTF-16; save it as UTF-8", 1)
        if not block.startswith(_BOM):
            return block
        while block.startswith(_BOM):  # some programs add another mark to a file that has one
            block = block[len(_BOM) :]
        if block in (b"", b"\n", b"\r\n"):
            self._refuse("the file is empty")
        return block

    def _check_utf8(self, block: bytes) -> None:
        try:
            block.decode()
        except UnicodeDecodeError as error:
            self._refuse(
                f"the text is not UTF-8 (byte 0x{block[error.start]:02X}); "
                "if the text is Latin-1 or Windows-1252, save it as UTF-8",
                self._line_at(block, error.start),
            )

    def _check_lengths(self, block: bytes, longest: int) -> None:
        for number, line in enumerate(block.split(b"\n"), start=self.lines_before + 1):
            if len(line) > longest:
                self._refuse(f"the line is longer than {longest:,} bytes", number)

    def _line_at(self, block: bytes, offset: int) -> int:
        return self.lines_before + block.count(b"\n", 0, offset) + 1

    def _read_lines(self) -> int:
        """Return the number of the line at which reading stopped."""
        return self._lines_out + self._buffer.count(b"\n") + 1

    def _refuse(self, reason: str, line: int | None = None) -> NoReturn:
        raise InvalidInput(reason, source=self.source, line=line)


@dataclass(frozen=True, slots=True)
class SourceFile(SentFile):
    """A file to read. progress: told how much of the file is read."""

    progress: Progress | None = None

    @classmethod
    def at(cls, path: Path, source: str | None = None, progress: Progress | None = None) -> Self:
        """Return the file at a path. By default, messages name it by its path."""
        return cls(path, source or str(path), progress)

    @classmethod
    def maybe(cls, path: Path | None) -> Self | None:
        """Return the file at the path of an option, if there is one."""
        return None if path is None else cls.at(path)

    def blocks(
        self, *, max_line: int | None = MAX_LINE_BYTES, max_bytes: int = MAX_CONTENT_BYTES
    ) -> TextBlocks:
        return TextBlocks(
            self.path,
            source=self.source,
            progress=self.progress,
            max_line=max_line,
            max_bytes=max_bytes,
        )

    def first_bytes(self, size: int = HEAD_BYTES) -> bytes:
        """Return the first bytes of the content, unpacked if it is gzip; b"" if that fails."""
        with open_binary(self.path, self.source) as file:
            head = file.read(size)
            if not head.startswith(_GZIP):
                return head
            try:
                return zlib.decompressobj(wbits=31).decompress(head, size)
            except zlib.error:
                return b""

    def lines(self) -> list[str]:
        """Return the lines of a short text."""
        try:
            return self.path.read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError):
            reason = "the file cannot be read as text in UTF-8"
            raise InvalidInput(reason, source=self.source) from None


def lines_of(text: str) -> Iterator[str]:
    """Yield a text line by line, each with its newline. Only "\\n" ends a line."""
    return io.StringIO(text, newline="\n")


def _last_character(text: bytearray) -> int:
    """Return the position at which the last character of a UTF-8 text starts.

    If a carriage return is directly before it, the position of the carriage return is returned. For
    bytes that are not UTF-8, the position has no meaning.
    """
    end = max(0, len(text) - 1)
    while end > max(0, len(text) - 4) and text[end] & 0xC0 == 0x80:
        end -= 1
    return end - 1 if text[:end].endswith(b"\r") else end


def open_binary(path: Path, source: str) -> BufferedReader:
    """Open a file for reading. Raises `InvalidInput` if it cannot be read."""
    try:
        return path.open("rb")
    except OSError as error:
        reason = f"the file cannot be read: {error.strerror}"
        raise InvalidInput(reason, source=source) from error


def gunzip(file: BufferedReader) -> Iterator[bytes]:
    """Yield the content of a gzip file in pieces of at most `BLOCK_BYTES`.

    Unlike `gzip.open`, this limits the number of members and never holds more than one piece in
    memory. Raises `zlib.error` if bytes or a checksum are wrong. Raises `EOFError` if the stream
    ends early, is followed by other bytes, or has too many members.
    """
    packed = file.read(BLOCK_BYTES // 16)
    for _ in range(MAX_GZIP_MEMBERS):
        member = zlib.decompressobj(wbits=31)
        while not member.eof:
            if not packed:
                raise EOFError("the gzip stream ends early")
            yield member.decompress(packed, BLOCK_BYTES)
            packed = member.unconsumed_tail or member.unused_data
            if not packed:
                packed = file.read(BLOCK_BYTES // 16)
        if not packed:
            return
        if not _GZIP.startswith(packed[:2]):
            raise EOFError("other bytes follow the gzip stream")
    raise EOFError(f"the gzip file has more than {MAX_GZIP_MEMBERS:,} members")


def sha256_of_file(path: Path, source: str | None = None) -> str:
    """Return the SHA-256 of the bytes of a file."""
    with open_binary(path, source or str(path)) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
