"""Read untrusted archives of videos. Call these functions in a sandbox.

No name of a member is ever used as a path: the caller chooses the path of each member. Links,
devices and encrypted members are left out. The bytes that are read are counted, because the sizes
in an archive can be wrong.
"""

from __future__ import annotations

import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TypedDict

from config.shared.errors import InvalidInput

MEMBERS_MAX = 50_000
NAME_MAX = 1000
BLOCK = 1 << 20
UNREADABLE = (tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error, NotImplementedError)


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
    with _readable(source):
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
    with _readable(source):
        for index, content in _contents(Path(source), targets):
            target = Path(targets[index])
            try:
                _copy(content, target, bytes_max, reserve)
            except InvalidInput as error:
                faults[index] = error.reason
            except UNREADABLE:
                faults[index] = "the member is damaged"
            if index in faults:
                target.unlink(missing_ok=True)
    return faults


@contextmanager
def _readable(source: str) -> Iterator[None]:
    try:
        yield
    except UNREADABLE:
        raise InvalidInput("the archive is damaged or encrypted") from None
    except RuntimeError as error:  # zipfile: encrypted
        raise InvalidInput("the archive is damaged or encrypted") from error


def _heads(path: Path) -> Iterator[tuple[str, int, bool]]:
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                yield info.filename, info.file_size, _is_plain(info)
        return
    with tarfile.open(path, "r|*") as archive:
        for member in archive:
            # Otherwise, this list would keep every member that was read, without a limit.
            archive.members = []  # type: ignore[attr-defined]
            yield member.name, member.size, member.isreg()


def _contents(path: Path, wanted: dict[str, str]) -> Iterator[tuple[str, IO[bytes]]]:
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for index, info in enumerate(archive.infolist()):
                if str(index) in wanted:
                    with archive.open(info) as content:
                        yield str(index), content
        return
    with tarfile.open(path, "r|*") as archive:
        for index, member in enumerate(archive):
            archive.members = []  # type: ignore[attr-defined]
            file = archive.extractfile(member) if str(index) in wanted else None
            if file is not None:
                yield str(index), file


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


def _copy(content: IO[bytes], target: Path, bytes_max: int, reserve: int) -> None:
    written = 0
    with target.open("wb") as out:
        while block := content.read(BLOCK):
            written += len(block)
            if written > bytes_max:
                raise InvalidInput(f"the member is larger than {bytes_max / 1e6:,.0f} MB")
            if shutil.disk_usage(target.parent).free - len(block) < reserve:
                raise InvalidInput("the disk is full")
            out.write(block)
