"""Unpacking an uploaded WordNet for one computation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from django.conf import settings

from hearth.shared.errors import InvalidInput
from hearth.shared.sandbox import Access, Limits, Sandbox
from pooling.core.lines import SourceFile
from pooling.core.proxies.lexicon import members_of_wordnet

# The largest file of WordNet 3.1 has 16 MB.
MEMBER_MB = 64
LIMITS = Limits(seconds=120, cpu_seconds=120, memory_mb=512, file_mb=MEMBER_MB)


@contextmanager
def unpacked_wordnet(file: SourceFile) -> Iterator[Path]:
    """Yield a folder with the files of WordNet. An archive is unpacked; a folder is used as it is.

    Raises `InvalidInput` if the archive cannot be read, or if it lacks a file.
    """
    if file.path.is_dir():
        yield file.path
        return
    with TemporaryDirectory() as folder:
        try:
            _unpack(file.path, Path(folder))
        except InvalidInput as error:
            raise InvalidInput(error.reason, source=file.source) from None
        yield Path(folder)


def _unpack(archive: Path, folder: Path) -> None:
    with Sandbox("pooling.media.archives:list_members") as sandbox:
        members, _ = sandbox.call(LIMITS, Access(readable=[str(archive)]), source=str(archive))
    places = members_of_wordnet(member["name"] for member in members)
    targets = {str(members[place]["index"]): str(folder / name) for name, place in places.items()}
    with Sandbox("pooling.media.archives:extract") as sandbox:
        faults = sandbox.call(
            LIMITS,
            Access(readable=[str(archive)], writable=[str(folder)]),
            source=str(archive),
            targets=targets,
            bytes_max=MEMBER_MB << 20,
            reserve=settings.DISK_RESERVE_BYTES,
        )
    for reason in faults.values():
        raise InvalidInput(reason)
