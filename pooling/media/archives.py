"""Read untrusted archives of videos. Call these functions in a sandbox.

No name of a member is ever used as a path: the caller chooses the path of each member. Links,
devices and encrypted members are left out. The bytes that are read are counted, because the sizes
in an archive can be wrong.
"""

from __future__ import annotations

import io
import shutil
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, TypedDict

from hearth.shared.errors import InvalidInput
from pooling.core.readable import readable

MEMBERS_MAX = 50_000
NAME_MAX = 1000
BLOCK = 1 << 20
# A reader that continues after the end of the file is stopped at this number of empty reads.
EMPTY_READS_MAX = 100


class Member(TypedDict):
    """A regular file of an archive. index: its place among all members."""

    index: int
    name: str
    size: int


def list_members(source: str) -> tuple[list[Member], int]:
    """Return the regular files of an archive, and the number of other members.

    Raises `InvalidInput` if the file is not a readable archive, or has too many members.
    """
    found: list[Member] = []
    left_out = 0
    with readable("the archive is damaged or encrypted"):
        for index, (name, size, is_file) in enumerate(_heads(Path(source))):
            if index >= MEMBERS_MAX:
                raise InvalidInput(f"the archive has more than {MEMBERS_MAX:,} members")
            if is_file and len(name) <= NAME_MAX and _is_storable(name):
                found.append(Member(index=index, name=name, size=size))
            else:
                left_out += 1
    return found, left_out


def extract(source: str, targets: dict[str, str], bytes_max: int, reserve: int) -> dict[str, str]:
    """Write members to the paths that the caller chose.

    targets: the path of each wanted member, by its index as text. bytes_max: the maximum size of a
    member. reserve: the bytes that must stay free on the disk. Return the errors of the members
    that could not be written, by index. Their files are deleted.
    """
    faults: dict[str, str] = {}
    with readable("the archive is damaged or encrypted"):
        for index, open_member in _members(Path(source), targets):
            target = Path(targets[index])
            try:
                _copy(_blocks(open_member), target, bytes_max, reserve)
            except InvalidInput as error:
                faults[index] = error.reason
                target.unlink(missing_ok=True)
    return faults


def _heads(path: Path) -> Iterator[tuple[str, int, bool]]:
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                yield info.filename, info.file_size, _is_plain(info)
        return
    with _open_tar(path) as archive:
        for member in _members_of(archive):
            # The size of a sparse file can be any number. The archive does not contain its bytes.
            yield member.name, member.size, member.isreg() and member.sparse is None


def _members(
    path: Path, wanted: dict[str, str]
) -> Iterator[tuple[str, Callable[[], IO[bytes] | None]]]:
    """Yield the index of each wanted member, and the function that opens it."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for index, info in enumerate(archive.infolist()):
                if str(index) in wanted:
                    yield str(index), partial(archive.open, info)
        return
    with _open_tar(path) as tar:
        for index, member in enumerate(_members_of(tar)):
            if str(index) in wanted:
                yield str(index), partial(tar.extractfile, member)


@contextmanager
def _open_tar(path: Path) -> Iterator[tarfile.TarFile]:
    with (
        path.open("rb", buffering=0) as file,
        tarfile.open(fileobj=_EndingFile(file), mode="r|*") as archive,
    ):
        yield archive


def _members_of(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    for member in archive:
        # Otherwise, this list would keep every member that was read, without a limit.
        archive.members = []  # type: ignore[attr-defined]
        yield member


class _EndingFile(io.RawIOBase):
    """A file that may not be read again and again after its end.

    To skip a member that claims 8 TB, tarfile reads all of its blocks, even if the file has ended.
    """

    def __init__(self, file: io.FileIO) -> None:
        self._file = file
        self._empty_reads = 0

    def read(self, size: int = -1) -> bytes:
        block = self._file.read(size) or b""
        self._empty_reads += not block
        if self._empty_reads > EMPTY_READS_MAX:
            raise tarfile.ReadError("unexpected end of data")
        return block


def _blocks(open_member: Callable[[], IO[bytes] | None]) -> Iterator[bytes]:
    """Yield the content of a member. Raises `InvalidInput` if it cannot be read."""
    with readable("the member is damaged"):
        content = open_member()
        if content is None:
            raise InvalidInput("the member is no file")
        with content:
            while block := content.read(BLOCK):
                yield block


def _is_plain(info: zipfile.ZipInfo) -> bool:
    kind = (info.external_attr >> 16) & 0o170000
    is_encrypted = bool(info.flag_bits & 0x1)
    return not info.is_dir() and kind in (0, 0o100000) and not is_encrypted


def _is_storable(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in name


def _copy(content: Iterator[bytes], target: Path, bytes_max: int, reserve: int) -> None:
    written = 0
    with target.open("wb") as out:
        for block in content:
            written += len(block)
            if written > bytes_max:
                raise InvalidInput(f"the member is larger than {bytes_max / 1e6:,.0f} MB")
            if shutil.disk_usage(target.parent).free - len(block) < reserve:
                raise InvalidInput("the disk is full")
            out.write(block)
