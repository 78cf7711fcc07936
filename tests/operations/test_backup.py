"""Backups made while people judge, and restored on another site."""

from __future__ import annotations

import json
import tarfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection

from annotation.models import Annotator, Campaign, Judgment
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.audit.models import AuditEntry
from hearth.operations.backup import databases
from hearth.operations.backup.archive import MANIFEST, make_key, verify_archive
from hearth.operations.backup.contents import count_rows, quoted
from hearth.operations.backup.databases import run_query
from hearth.operations.backup.services import delete_old_backups, make_backup
from hearth.operations.models import Operation, OperationKind
from hearth.shared.errors import InvalidInput, NotPermitted
from pooling.models import Video
from tests import factories
from tests.operations.sites import Site, describe_this_site, empty_site

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db(transaction=True)]

JUDGES = 3


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    """A campaign with many open pairs, a published label set and a video file."""
    opened = factories.make_campaign(tmp_path, captions=40, videos=20, double_share=0.2)
    anna = factories.make_annotator("anna")
    for held in factories.claim(opened, anna, 20):
        factories.submit(held, held.pk % 2)
    publish_label_set(benchmark=opened.benchmark, allow_pending=True, by=OPERATOR)
    video = Video.objects.order_by("pk").first()
    assert video is not None
    video.file.save("clip.mp4", ContentFile(b"the bytes of a video"))
    return opened


@pytest.fixture(scope="module")
def site_of_all(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with empty_site(tmp_path_factory.mktemp("other")) as site:
        yield site


@pytest.fixture
def other_site(site_of_all: Site) -> Iterator[Site]:
    """Another site, without tables or files. It loads Django only once for all tests."""
    yield site_of_all
    site_of_all.empty()


def judge_until(stopped: threading.Event, campaign: Campaign, annotator: Annotator) -> int:
    """Judge pairs until the event is set. Return the number of acknowledged judgments."""
    acknowledged = 0
    try:
        while not stopped.is_set():
            for held in factories.claim(campaign, annotator, 2):
                factories.submit(held, held.pk % 2)
                acknowledged += 1
    finally:
        connection.close()
    return acknowledged


def test_a_backup_while_people_judge_is_restored_elsewhere(
    campaign: Campaign, other_site: Site, tmp_path: Path
) -> None:
    judges = [factories.make_annotator(f"judge-{number}") for number in range(JUDGES)]
    archives = []
    stopped = threading.Event()
    before = Judgment.objects.count()
    with ThreadPoolExecutor(JUDGES) as pool:
        judging = [pool.submit(judge_until, stopped, campaign, judge) for judge in judges]
        try:
            for number in range(2):
                path = tmp_path / f"{number}.tar"
                make_backup(path=path, by=OPERATOR)
                archives.append(path)
        finally:
            stopped.set()
    acknowledged = sum(future.result() for future in judging)
    assert acknowledged > 0
    after = Judgment.objects.count()
    assert after == before + acknowledged

    manifest = verify_archive(archives[-1])
    restored = other_site.result_of("restore", str(archives[-1]))
    assert restored["rows"] == sum(manifest.rows.values())
    there = other_site.describe()
    expected = {table: manifest.rows[table] for table in there["rows"]}
    # The restore records itself.
    expected["operations_operation"] += 1
    expected["audit_auditentry"] += 1
    assert there["rows"] == expected
    # The archive has one state of the database: the counts of tasks agree with the judgments.
    assert there["judged"][0] == there["judged"][1]
    assert before <= there["rows"]["annotation_judgment"] <= after
    # The file of the label set matches the hash in its row, and the file of the video is complete.
    assert len(there["published"]) == 1
    assert there["published"][0][0] == there["published"][0][1]
    assert there["videos"] == ["the bytes of a video"]


def test_a_quiet_site_is_restored_with_equal_labels(
    campaign: Campaign, other_site: Site, tmp_path: Path
) -> None:
    here = describe_this_site()
    make_backup(path=tmp_path / "one.tar", by=OPERATOR)
    other_site.result_of("restore", str(tmp_path / "one.tar"))
    there = other_site.describe()
    # The archive contains the record of its own backup. The restore adds a second record.
    here["rows"]["operations_operation"] += 2
    here["rows"]["audit_auditentry"] += 1
    assert there == here

    # A restore does not replace existing rows without --replace.
    refused = other_site.manage("restore", str(tmp_path / "one.tar"))
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "The database is not empty." in refused.stderr
    assert other_site.manage("restore", str(tmp_path / "one.tar"), "--replace").returncode == 0
    assert other_site.describe() == there
    # The restored database has all migrations of this version.
    migrated = other_site.manage("migrate", "--check")
    assert migrated.returncode == 0, migrated.stderr


def test_backups_and_restores_are_in_the_audit_log(
    campaign: Campaign, other_site: Site, tmp_path: Path
) -> None:
    made = make_backup(path=tmp_path / "one.tar", by=OPERATOR)
    backup = Operation.objects.get(kind=OperationKind.BACKUP)
    figures = {name: made[name] for name in ("rows", "files", "bytes", "encrypted")}
    entry = AuditEntry.objects.latest("pk")
    assert (entry.act, entry.object_id, entry.after) == ("backup_made", str(backup.pk), figures)

    # The archive is older than the entry of its backup. The entry of the restore replaces no row.
    manifest = verify_archive(tmp_path / "one.tar")
    after = {
        "created_at": manifest.created_at,
        "version": manifest.version,
        "rows": made["rows"],
        "files": made["files"],
    }
    restored = ["command", "operations.operation", str(backup.pk + 1), after]
    for options in ([], ["--replace"]):
        other_site.result_of("restore", str(tmp_path / "one.tar"), *options)
        assert other_site.acts("backup_made") == []
        assert other_site.acts("backup_restored") == [restored]


@pytest.mark.parametrize(
    ("missing", "recorded"), [("pooling.0019", 1), ("audit.", 0), ("operations.", 0)]
)
def test_a_restore_is_recorded_unless_the_tables_of_the_record_are_older(
    campaign: Campaign, other_site: Site, tmp_path: Path, missing: str, recorded: int
) -> None:
    make_backup(path=tmp_path / "one.tar", by=OPERATOR)
    older = without_migrations(tmp_path / "one.tar", missing)
    assert other_site.result_of("restore", str(older))["needs_migration"]
    assert len(other_site.acts("backup_restored")) == recorded


def without_migrations(archive: Path, beginning: str) -> Path:
    """Remove the migrations with this beginning from the manifest."""

    def remove(manifest: dict[str, Any]) -> None:
        names = manifest["migrations"]
        manifest["migrations"] = [name for name in names if not name.startswith(beginning)]

    return with_manifest(archive, remove)


def test_a_backup_from_before_the_first_release(
    campaign: Campaign, other_site: Site, tmp_path: Path
) -> None:
    make_backup(path=tmp_path / "one.tar", by=OPERATOR)

    def rename_first(manifest: dict[str, Any]) -> None:
        manifest["migrations"].remove("accounts.0001_first_release")
        manifest["migrations"].append("accounts.0001_squashed_0007_help_texts")

    same_tables = with_manifest(tmp_path / "one.tar", rename_first)
    assert not other_site.result_of("restore", str(same_tables))["needs_migration"]
    assert len(other_site.acts("backup_restored")) == 1

    too_old = without_migrations(tmp_path / "one.tar", "annotation.0019")
    refused = other_site.manage("restore", str(too_old), "--replace")
    assert refused.returncode == 2
    assert "made by a version before commit 89409609, so restore it with that" in refused.stderr


def test_an_encrypted_backup_needs_its_key(
    campaign: Campaign, other_site: Site, tmp_path: Path
) -> None:
    public = make_key(tmp_path / "key")
    make_key(tmp_path / "other")
    path = tmp_path / "secret.tar.age"
    facts = make_backup(path=path, by=OPERATOR, recipient=public)
    assert facts["encrypted"]
    assert path.stat().st_mode & 0o777 == 0o600
    content = path.read_bytes()
    assert content.startswith(b"age-encryption.org/v1")
    assert b"the bytes of a video" not in content

    for key_file, reason in (
        ("", "Set BACKUP_KEY_FILE to its private key."),
        (str(tmp_path / "other"), "BACKUP_KEY_FILE has another key."),
        (str(tmp_path / "videos.csv"), "has no private key"),
    ):
        with pytest.raises(InvalidInput, match=reason):
            verify_archive(path, key_file)
    restored = other_site.result_of("restore", str(path), BACKUP_KEY_FILE=str(tmp_path / "key"))
    assert restored["files"] == facts["files"]
    assert other_site.describe()["videos"] == ["the bytes of a video"]


def damaged_copies(path: Path) -> Iterator[tuple[Path, str]]:
    """Yield damaged copies of an archive, each with the reason for which it is refused."""
    content = path.read_bytes()
    at = content.index(b"the bytes of a video")
    flipped = path.with_name("flipped.tar")
    flipped.write_bytes(content[:at] + b"T" + content[at + 1 :])
    yield flipped, "does not match the manifest"
    cut = path.with_name("cut.tar")
    cut.write_bytes(content[: at + 5])
    yield cut, "is damaged, or is not an archive of Hearth"
    stray = path.with_name("stray.tar")
    stray.write_bytes(b"no archive at all")
    yield stray, "is damaged, or is not an archive of Hearth"


def test_a_damaged_archive_changes_nothing(
    campaign: Campaign, other_site: Site, tmp_path: Path
) -> None:
    path = tmp_path / "one.tar"
    make_backup(path=path, by=OPERATOR)
    damaged = dict(damaged_copies(path))
    for copy, reason in damaged.items():
        with pytest.raises(InvalidInput, match=reason):
            verify_archive(copy)
    refused = other_site.manage("restore", str(next(iter(damaged))))
    assert (refused.returncode, refused.stdout) == (2, "")
    assert not (other_site.home / "media").exists()


def test_an_archive_of_other_rows_is_refused_and_the_old_rows_stay(
    campaign: Campaign, other_site: Site, tmp_path: Path
) -> None:
    path = tmp_path / "one.tar"
    make_backup(path=path, by=OPERATOR)
    other_site.result_of("restore", str(path))
    before = other_site.describe()

    def change(manifest: dict[str, Any]) -> None:
        manifest["rows"]["annotation_judgment"] += 1

    wrong = with_manifest(path, change)
    refused = other_site.manage("restore", str(wrong), "--replace")
    assert refused.returncode == 2
    assert "The table annotation_judgment has 20 rows after the restore, not 21." in refused.stderr
    assert other_site.describe() == before

    newer = with_manifest(path, lambda manifest: manifest["migrations"].append("pooling.9999_x"))
    refused = other_site.manage("restore", str(newer), "--replace")
    assert refused.returncode == 2
    assert "this one does not have the migration pooling.9999_x" in refused.stderr

    outside = with_manifest(path, lambda manifest: None, rename="files/default/../../../evil")
    refused = other_site.manage("restore", str(outside), "--replace")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "Error: The archive has a file outside its folder: 'files/default/" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not (tmp_path / "evil").exists()
    assert other_site.describe() == before


def test_with_a_signing_key_only_signed_archives_are_restored(
    campaign: Campaign, settings: Any, tmp_path: Path
) -> None:
    key = "0123456789" * 4
    signed, plain = tmp_path / "signed.tar", tmp_path / "plain.tar"
    settings.BACKUP_SIGNING_KEY = key
    call_command("backup", str(signed))
    settings.BACKUP_SIGNING_KEY = ""
    call_command("backup", str(plain))
    call_command("restore", str(signed), "--check")
    settings.BACKUP_SIGNING_KEY = key
    call_command("restore", str(signed), "--check")
    forged = with_manifest(signed, lambda manifest: manifest["rows"].update(pooling_video=0))
    for path in (plain, forged):
        with pytest.raises(CommandError, match="was not signed with BACKUP_SIGNING_KEY") as error:
            call_command("restore", str(path), "--replace")
        assert error.value.returncode == 2
    settings.BACKUP_SIGNING_KEY = "short"
    with pytest.raises(CommandError, match="BACKUP_SIGNING_KEY needs at least 32 characters"):
        call_command("backup", str(tmp_path / "short.tar"))


def with_manifest(path: Path, change: Any, rename: str = "") -> Path:
    """Copy an archive, with a changed manifest and, if `rename` is given, another video name."""
    import io

    changed = path.with_name("changed.tar")
    with tarfile.open(path) as old, tarfile.open(changed, "w") as new:
        for info in old:
            content = old.extractfile(info).read()  # type: ignore[union-attr]
            video = rename and info.name.startswith("files/default/")
            if info.name == MANIFEST:
                manifest = json.loads(content)
                change(manifest)
                for name in [
                    name for name in manifest["files"] if rename and "files/default" in name
                ]:
                    manifest["files"][rename] = manifest["files"].pop(name)
                content = json.dumps(manifest).encode()
            info.name, info.size = rename if video else info.name, len(content)
            new.addfile(info, io.BytesIO(content))
    return changed


def test_an_outdated_program_is_named(
    campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite needs no program")
    major = databases._server_major()
    monkeypatch.setattr(databases, "_server_major", lambda: major + 10)
    with pytest.raises(InvalidInput, match=f"pg_dump of version {major + 10} or newer is needed"):
        make_backup(path=tmp_path / "one.tar", by=OPERATOR)
    failed = Operation.objects.get()
    assert (failed.kind, failed.error[:7]) == (OperationKind.BACKUP, "pg_dump")
    # Nothing half written is left.
    assert [
        path.name for path in tmp_path.iterdir() if "tar" in path.name or "hearth" in path.name
    ] == []


def test_the_newest_backups_are_kept(tmp_path: Path) -> None:
    names = [f"hearth-202601{day:02}T000000Z.tar" for day in range(1, 6)]
    for name in [*names, "hearth-own-copy.tar", "notes.txt"]:
        (tmp_path / name).touch()
    (tmp_path / names[2]).rename(tmp_path / f"{names[2]}.age")
    assert delete_old_backups(tmp_path, 2) == 3
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == [names[3], names[4], "hearth-own-copy.tar", "notes.txt"]


def test_only_admins_make_backups(tmp_path: Path) -> None:
    lead = factories.make_user("lead", Role.LEAD)
    with pytest.raises(NotPermitted):
        make_backup(path=tmp_path / "one.tar", by=lead)
    assert Operation.objects.count() == 0


def test_the_command_refuses_invalid_options(settings: Any, tmp_path: Path) -> None:
    settings.BACKUP_RECIPIENT = ""
    with pytest.raises(CommandError, match="--encrypt needs a public key in BACKUP_RECIPIENT"):
        call_command("backup", str(tmp_path), "--encrypt")
    with pytest.raises(CommandError, match="--keep must be at least 1"):
        call_command("backup", str(tmp_path), "--keep=0")
    assert list(tmp_path.iterdir()) == []


def test_repeated_backups_go_on_after_a_failure(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The database does not respond at first. A signal ends the command after two minutes."""
    pauses: list[float] = []

    def respond(execute: Any, *arguments: Any) -> Any:
        if not pauses:
            raise OperationalError("no connection")
        return execute(*arguments)

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 2:
            raise KeyboardInterrupt

    with connection.execute_wrapper(respond), pytest.raises(CommandError, match="interrupted"):
        call_command("backup", str(tmp_path), every=1, sleep=pause)
    printed = capsys.readouterr()
    assert printed.err.startswith("The backup failed: no connection\n")
    assert [path.suffix for path in tmp_path.iterdir()] == [".tar"]
    assert pauses == [60, 60]


def test_every_table_is_in_the_backup(campaign: Campaign, tmp_path: Path) -> None:
    make_backup(path=tmp_path / "one.tar", by=OPERATOR)
    tables = connection.introspection.table_names()
    assert quoted("a") == '"a"'
    rows = count_rows(run_query, tables)
    rows["audit_auditentry"] -= 1  # the backup itself is recorded afterwards
    assert verify_archive(tmp_path / "one.tar").rows == rows
