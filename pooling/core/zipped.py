"""Untrusted zip archives with few files, such as `.npz` files and archives of runs."""

from __future__ import annotations

import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Final

from hearth.shared.errors import InvalidInput
from pooling.core.keys import name_fault, shown
from pooling.core.lines import SourceFile, open_binary
from pooling.core.readable import readable

ZIP: Final = b"PK\x03\x04"
MEMBERS_MAX = 100
BYTES_MAX = 16 << 30
_BLOCK = 1 << 20
_ENCRYPTED = 0x1


@dataclass(frozen=True, slots=True)
class Member:
    """A file of an archive, unpacked. name: its name without folders and without its ending."""

    name: str
    file: SourceFile


def is_zip(file: SourceFile) -> bool:
    return file.first_bytes(len(ZIP)) == ZIP


def member_names(file: SourceFile) -> list[str]:
    """Return the names of the files in an archive. Raises `InvalidInput` if it cannot be read."""
    with _opened(file) as archive:
        return [info.filename for info in _members(archive, file)]


@contextmanager
def unpacked(file: SourceFile, members_max: int = MEMBERS_MAX) -> Iterator[list[Member]]:
    """Unpack the files of an archive into a temporary folder, under other names.

    Raises `InvalidInput` with the member that is damaged, encrypted, a link, or named twice. The
    bytes that are read are counted, because the sizes in an archive can be wrong.
    """
    with TemporaryDirectory() as folder, _opened(file) as archive:
        left, members = BYTES_MAX, []
        for number, info in enumerate(_members(archive, file, members_max)):
            path = Path(folder) / str(number)
            left -= _unpack(archive, info, path, left, file)
            name = PurePosixPath(info.filename).name
            stem = name.removesuffix(".gz").rpartition(".")[0] or name
            source = f"{file.source}: {info.filename}"
            members.append(Member(stem, SourceFile(path, source, file.progress)))
        yield members


@contextmanager
def _opened(file: SourceFile) -> Iterator[zipfile.ZipFile]:
    with open_binary(file.path, file.source) as content:
        with readable("the zip archive is damaged", file.source):
            archive = zipfile.ZipFile(content)
        with archive:
            yield archive


def _members(
    archive: zipfile.ZipFile, file: SourceFile, members_max: int = MEMBERS_MAX
) -> list[zipfile.ZipInfo]:
    """Return the regular files of an archive, without those that a Mac adds."""
    found: dict[str, zipfile.ZipInfo] = {}
    for info in archive.infolist():
        name = info.filename
        if info.is_dir() or name.startswith("__MACOSX/") or name.endswith(".DS_Store"):
            continue
        fault = name_fault(name, "name")
        if name in found:
            fault = f"the name {shown(name)} occurs twice"
        elif info.flag_bits & _ENCRYPTED:
            fault = f"{shown(name)} is encrypted"
        elif stat.S_ISLNK(info.external_attr >> 16):
            fault = f"{shown(name)} is a link"
        elif len(found) == members_max:
            fault = f"the archive has more than {members_max} files"
        if fault:
            raise InvalidInput(fault, source=file.source)
        found[name] = info
    if not found:
        raise InvalidInput("the archive has no file", source=file.source)
    return list(found.values())


def _unpack(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path, most: int, file: SourceFile
) -> int:
    size = 0
    with (
        readable(f"the member {shown(info.filename)} is damaged", file.source),
        archive.open(info) as member,
        path.open("wb") as target,
    ):
        while block := member.read(_BLOCK):
            size += len(block)
            if size > most:
                reason = f"the archive has more than {BYTES_MAX:,} bytes"
                raise InvalidInput(reason, source=file.source)
            target.write(block)
    return size
