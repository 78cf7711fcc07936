"""Housekeeping removes exactly the rows and files that are no longer needed."""

from __future__ import annotations

import errno
import json
import os
import shutil
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.sessions.models import Session
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage, storages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from annotation.services import Example, write_guideline
from evaluation.models import Draft
from evaluation.release.services import make_draft, publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.jobs.models import Job, JobState
from hearth.operations.backup.contents import StoredFile, named_files
from hearth.operations.backup.databases import run_query
from hearth.operations.housekeeping import Done, _run_steps, run_housekeeping
from hearth.operations.models import Operation, OperationKind
from hearth.shared.errors import NotPermitted
from hearth.shared.outages import BucketUnavailable
from hearth.shared.uploads import store_upload
from pooling.models import Video
from tests import factories
from tests.pictures import picture

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db]

LONG_AGO = timedelta(days=400)


def age(path: str | Path, days: float = 400) -> None:
    at = time.time() - 86_400 * days
    os.utime(path, (at, at))


@pytest.fixture
def untidy(tmp_path: Path) -> dict[str, Any]:
    """A site with rows and files that housekeeping removes, and similar ones that must stay."""
    for root in (settings.MEDIA_ROOT, settings.UPLOAD_ROOT):  # files of earlier tests
        shutil.rmtree(root, ignore_errors=True)
        Path(root).mkdir()
    Path(settings.FILE_UPLOAD_TEMP_DIR).mkdir()
    campaign = factories.make_campaign(tmp_path, videos=4)
    anna = factories.make_annotator("anna")
    first, second, *_ = factories.claim(campaign, anna, 4)
    factories.submit(first, 1)
    old = make_draft(benchmark=campaign.benchmark, by=OPERATOR)
    factories.submit(second, 1)
    newest = make_draft(benchmark=campaign.benchmark, by=OPERATOR)
    Draft.objects.update(created_at=timezone.now() - LONG_AGO)
    published = publish_label_set(benchmark=campaign.benchmark, allow_pending=True, by=OPERATOR)
    age(published.file.path)
    stray_set = storages["label_sets"].path("stray.csv.gz")
    Path(stray_set).write_bytes(b"a file of a label set is never removed")
    age(stray_set)

    for days in (-1, 1):
        expires = timezone.now() + timedelta(days=days)
        key = f"s{days}"
        Session.objects.create(session_key=key, session_data="", expire_date=expires)
        UserSession.objects.create(user=anna.user, session_key=key, ip="10.0.0.7", user_agent="a")
    then = timezone.now() - LONG_AGO
    Job.objects.all().delete()
    finished = {"kind": "evaluate", "state": JobState.DONE}
    Job.objects.create(title="old", finished_at=then, **finished)
    Job.objects.create(title="new", finished_at=timezone.now(), **finished)
    uploads = [store_upload(SimpleUploadedFile("a.run", b"12345")) for _ in range(3)]
    Job.objects.create(
        kind="evaluate", title="waits", created_at=then, params={"upload": uploads[0]}
    )
    for name in uploads[:2]:
        age(storages["uploads"].path(name))
    video = Video.objects.order_by("pk").first()
    assert video is not None
    video.file.save("named.mp4", ContentFile(b"named"))
    stray, fresh = (default_storage.save(name, ContentFile(b"123")) for name in ("a.mp4", "b.mp4"))
    age(video.file.path)
    age(default_storage.path(stray))
    Operation.objects.create(kind=OperationKind.BACKUP, started_at=then)
    return {
        "gone": [default_storage.path(stray), storages["uploads"].path(uploads[1])],
        "stays": [
            default_storage.path(fresh),
            video.file.path,
            published.file.path,
            stray_set,
            *[storages["uploads"].path(name) for name in (uploads[0], uploads[2])],
        ],
        "drafts": (old.pk, newest.pk),
    }


FIGURES = {
    "sessions": (1, 0),
    "devices": (1, 0),
    "jobs": (1, 0),
    "keyed_requests": (0, 0),
    "deliveries": (0, 0),
    "operations": (1, 0),
    "uploads": (1, 5),
    "media": (1, 3),
    "proxies": (0, 0),
    "matrices": (0, 0),
    "imports": (0, 0),
    "video-uploads": (0, 0),
    "drafts": (1, 0),
    "label_arrays": (0, 0),
}


def figures(steps: Any) -> dict[str, tuple[int, int]]:
    return {step["step"]: (step["removed"], step["bytes"]) for step in steps}


def test_the_pictures_of_guidelines_stay_and_are_in_backups(tmp_path: Path) -> None:
    benchmark = factories.make_benchmark(tmp_path, captions=1, videos=1)
    example = Example(text="a red square", content=picture())
    written = write_guideline(benchmark=benchmark, text="x", pictures=[example], by=OPERATOR)
    stored = written.pictures.get().file
    age(stored.path)
    run_housekeeping(by=OPERATOR)
    assert Path(stored.path).exists()
    assert StoredFile("default", stored.name) in named_files(run_query)


def test_housekeeping_removes_only_what_nothing_needs(untidy: dict[str, Any], capsys: Any) -> None:
    rows = factories.row_counts()
    call_command("housekeeping", "--dry-run", "--json")
    result = json.loads(capsys.readouterr().out)
    assert (result["dry_run"], figures(result["steps"])) == (True, FIGURES)
    assert factories.row_counts() == rows
    assert all(Path(path).exists() for path in [*untidy["gone"], *untidy["stays"]])

    assert figures(run_housekeeping(by=OPERATOR)) == FIGURES
    assert [path for path in untidy["gone"] if Path(path).exists()] == []
    assert [path for path in untidy["stays"] if not Path(path).exists()] == []
    assert list(Draft.objects.values_list("pk", flat=True)) == [untidy["drafts"][1]]
    assert sorted(Job.objects.values_list("title", flat=True)) == ["new", "waits"]
    assert list(Session.objects.values_list("session_key", flat=True)) == ["s1"]
    # Nothing is left for the next night.
    assert set(figures(run_housekeeping(by=OPERATOR)).values()) == {(0, 0)}

    done = Operation.objects.filter(kind=OperationKind.HOUSEKEEPING)
    assert [
        (operation.error, figures(operation.facts["steps"])) for operation in done.order_by("pk")
    ] == [
        ("", FIGURES),
        ("", dict.fromkeys(FIGURES, (0, 0))),
    ]


def test_the_page_shows_the_figures(untidy: dict[str, Any]) -> None:
    run_housekeeping(by=OPERATOR)
    client = Client()
    client.force_login(factories.make_user("admin", Role.ADMIN))
    page = client.get("/operations/").content.decode()
    assert "Uploads that no job will read" in page
    assert "5\xa0bytes" in page


def test_only_admins_run_housekeeping() -> None:
    with pytest.raises(NotPermitted):
        run_housekeeping(by=factories.make_user("lead", Role.LEAD))


def test_the_scheduler_runs_housekeeping_every_night() -> None:
    from config.celery import app

    entry = app.conf.beat_schedule["housekeeping"]
    app.loader.import_default_modules()
    assert entry["task"] in app.tasks
    assert str(entry["schedule"]).startswith("<crontab: 17 3 * * *")


def test_a_step_that_fails_does_not_stop_the_others() -> None:
    done = []

    def broken(dry_run: bool) -> Done:
        raise BucketUnavailable(errno.EIO, "The bucket does not answer.", "videos")

    def works(dry_run: bool) -> Done:
        done.append(dry_run)
        return Done(1)

    steps = {"a": ("A", works), "b": ("B", broken), "c": ("C", works)}
    with pytest.raises(BucketUnavailable):
        _run_steps(steps, dry_run=False)
    assert done == [False, False]
