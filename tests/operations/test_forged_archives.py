"""Archives that nobody made with `backup`: a restore refuses them before it writes anything."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile

from hearth.operations.backup.archive import Manifest, verify_archive, write_archive
from hearth.operations.backup.contents import StoredFile, storages_of_backups
from hearth.operations.backup.services import check_backup
from hearth.shared.errors import InvalidInput


@pytest.mark.parametrize(
    "member",
    [
        "files/staticfiles/js/evil.js",
        "files/unknown/a",
        "files/default/",
        "files/default/../a",
        "files/default/a/../../b",
        "files/default//etc/passwd",
        "files/default/..\\a",
        "files/default/a\0b",
        "settings.py",
        "../a",
    ],
)
def test_only_files_of_storages_in_backups_are_restored(member: str) -> None:
    with pytest.raises(InvalidInput, match="The archive has a file"):
        StoredFile.of_member(member)
    assert storages_of_backups() == {"default", "label_sets", "proxies", "matrices", "uploads"}


def test_a_check_refuses_a_file_that_a_restore_refuses(tmp_path: Path) -> None:
    path = tmp_path / "forged.tar"
    with path.open("wb") as out, write_archive(out) as archive:
        archive.add("database/hearth.sqlite3.gz", ContentFile(b"rows"))
        archive.add("files/default/../../evil", ContentFile(b"x"))
        archive.finish(Manifest("1", "2026-11-22", "sqlite", "3", [], {}, archive.files, []))
    assert verify_archive(path).files.keys() == archive.files.keys()
    with pytest.raises(InvalidInput, match="The archive has a file outside its folder"):
        check_backup(path=path)


def test_links_repeated_members_and_sparse_files_are_refused(tmp_path: Path) -> None:
    def info_of(name: str, **values: Any) -> tarfile.TarInfo:
        info = tarfile.TarInfo(name)
        for key, value in values.items():
            setattr(info, key, value)
        return info

    name = "files/default/a"
    forged = {
        "link": [info_of(name, type=tarfile.SYMTYPE, linkname="/etc/passwd")],
        "hard link": [info_of(name, type=tarfile.LNKTYPE, linkname="/etc/passwd")],
        "device": [info_of(name, type=tarfile.CHRTYPE)],
        "sparse": [info_of(name, pax_headers={"GNU.sparse.map": "0,1", "GNU.sparse.size": "9"})],
        "twice": [info_of(name), info_of(name)],
        "huge": [info_of(name, size=8 << 40)],
    }
    for kind, members in forged.items():
        path = tmp_path / f"{kind}.tar"
        with path.open("wb") as out:
            for info in members:
                out.write(info.tobuf(tarfile.PAX_FORMAT))
        with pytest.raises(InvalidInput, match=r"is not a file|twice|is damaged, or is not"):
            verify_archive(path)


@pytest.mark.parametrize(
    "change",
    [
        {"rows": {'a" ; DROP TABLE annotation_judgment; --': 0}},
        {"rows": ["annotation_judgment"]},
        {"rows": {"annotation_judgment": "1"}},
        {"files": {"files/default/a": {"size": "1", "sha256": ""}}},
        {"files": []},
        {"migrations": [1]},
        {"version": None},
        {"other": 1},
    ],
)
def test_forged_manifests_are_refused(change: dict[str, Any]) -> None:
    made = Manifest("1", "2026-11-22", "sqlite", "3", ["a.b"], {"a": 1}, {}, [])
    assert Manifest.read(made.as_bytes()) == made
    forged = json.dumps(json.loads(made.as_bytes()) | change).encode()
    with pytest.raises(InvalidInput, match=r"The manifest of the archive is not valid\."):
        Manifest.read(forged)
