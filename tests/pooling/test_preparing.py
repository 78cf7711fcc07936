"""Preparing uploaded files: each becomes a playable video or is refused with a reason."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os
import shutil
import signal
import tarfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site
from django.core.files.storage import FileSystemStorage, default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.accounts.services import withdraw_role
from hearth.audit.models import AuditEntry
from hearth.jobs.models import Job, JobState
from hearth.jobs.services import cancel_job, run_job
from hearth.shared.errors import InvalidInput
from pooling.enums import UploadState
from pooling.media import archives
from pooling.models import Benchmark, Video, VideoUpload
from pooling.selectors.uploads import upload_path
from pooling.services.queueing import queue_uploads
from tests import factories
from tests.conftest import Worker
from tests.pooling.test_media import cut, make_video
from tests.pooling.uploading import TusClient
from tests.waiting import wait_for

PAGE = "/benchmarks/tiny/videos/new/"
API = "/api/v1/benchmarks/tiny/videos/uploads/"
IN_FRONT = {"movflags": "faststart"}  # the index is at the start, so an incomplete file opens
CUT_OFF = "the file is incomplete: the end of the video is missing"
NO_VIDEO = "this is not a video, is incomplete, or has a format that is not accepted"


@pytest.fixture(autouse=True)
def _empty_folder() -> None:
    shutil.rmtree(site.VIDEO_UPLOAD_ROOT, ignore_errors=True)


@pytest.fixture
def benchmark(db: None, tmp_path: Path) -> Benchmark:
    return factories.make_benchmark(tmp_path, captions=1, videos=12)


@pytest.fixture
def lead(benchmark: Benchmark) -> User:
    return factories.make_user("lena", Role.LEAD)


@pytest.fixture
def tus(lead: User) -> TusClient:
    client = Client()
    client.force_login(lead)
    return TusClient(client)


def run_jobs() -> Job:
    """Run the waiting job and return it."""
    job = Job.objects.get(state=JobState.QUEUED)
    run_job(job.pk)
    job.refresh_from_db()
    return job


def states_and_reasons() -> dict[str, tuple[str, str]]:
    rows = VideoUpload.objects.values_list("name", "state", "reason")
    return {name: (state, reason) for name, state, reason in rows}


def playlist(path: Path) -> bytes:
    return f"#EXTM3U\n#EXTINF:3,\nfile://{path}\n".encode()


def test_each_file_ends_playable_or_refused_with_its_reason(tus: TusClient, tmp_path: Path) -> None:
    good = make_video(tmp_path / "good.mp4")
    page = b"<!DOCTYPE html><script>alert(1)</script>"
    files = {
        "v0.mp4": good.read_bytes(),
        "v1.avi": make_video(tmp_path / "good.avi", "mpeg4").read_bytes(),
        "v2.mp4": b"",
        "v3.mp4": b"a text that was renamed",
        "v4.mp4": cut(make_video(tmp_path / "cut.mp4", options=IN_FRONT), 0.5).read_bytes(),
        "v5.mp4": make_video(tmp_path / "sound.mp4", None, sound="aac").read_bytes(),
        "v6.mp4": page,
        "v7.mp4": playlist(good),
        "v8.mp4": make_video(tmp_path / "one.mp4", seconds=1, rate=1).read_bytes(),
        "v9.mov": make_video(tmp_path / "turned.mov", turn=90).read_bytes() + page,
    }
    for name, content in files.items():
        tus.upload(name, content)
    assert "12 videos of this benchmark have neither" in tus.client.get(PAGE).content.decode()

    job = run_jobs()

    assert (job.state, job.result) == ("done", {"playable": 4, "refused": 6, "unpacked": 0})
    # The list that htmx requests again also replaces the number above it.
    page = tus.client.get(PAGE, headers={"HX-Request": "true"}).content.decode()
    assert '<p id="missing-videos" hx-swap-oob="true">' in page
    assert "8 videos of this benchmark have neither a playable file nor an address yet." in page
    assert states_and_reasons() == {
        "v0.mp4": ("playable", ""),
        "v1.avi": ("playable", ""),
        "v2.mp4": ("refused", "the file is empty"),
        "v3.mp4": ("refused", NO_VIDEO),
        "v4.mp4": ("refused", CUT_OFF),
        "v5.mp4": ("refused", "the file contains only sound"),
        "v6.mp4": ("refused", NO_VIDEO),
        "v7.mp4": ("refused", NO_VIDEO),
        "v8.mp4": ("playable", ""),
        "v9.mov": ("playable", ""),
    }
    states = dict(Video.objects.exclude(state="missing").values_list("key", "state"))
    assert states == {
        **{f"v{n}": "broken" for n in range(2, 8)},
        **{f"v{n}": "playable" for n in (0, 1, 8, 9)},
    }
    entries = AuditEntry.objects.filter(act="video_added", interface="job")
    assert entries.count() == 10
    # No markup of the file reaches the stored copy, which is served as video/mp4.
    with default_storage.open(Video.objects.get(key="v9").file.name) as stored:
        content = stored.read()
    assert (content[4:8], b"<script" in content) == (b"ftyp", False)


def test_the_progress_of_a_video_is_on_the_page_and_in_the_api(
    tus: TusClient, benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "pooling.services.videos.PREPARE", "tests.hearth.misbehaving:prepare_slowly"
    )
    tus.upload("v0.mp4", b"video")
    run_jobs()
    assert states_and_reasons() == {"v0.mp4": ("refused", "too slow")}
    VideoUpload.objects.update(state=UploadState.PROCESSING)
    page = tus.client.get(PAGE).content.decode()
    assert '<progress class="bar" max="100" value="42" aria-label="Prepared">' in page
    upload = VideoUpload.objects.get()
    assert tus.client.get(API).json()["results"] == [
        {
            "id": str(upload.pk),
            "name": "v0.mp4",
            "video_id": "v0",
            "size": 5,
            "offset": 5,
            "state": "processing",
            "percent": 42,
            "reason": "too slow",
        }
    ]


def test_the_same_file_is_prepared_once(tus: TusClient, tmp_path: Path) -> None:
    content = make_video(tmp_path / "good.mp4").read_bytes()
    tus.upload("v0.mp4", content)
    run_jobs()
    first = Video.objects.get(key="v0")
    tus.upload("v1.mp4", content)
    run_jobs()
    second = Video.objects.get(key="v1")
    assert first.file.name != second.file.name
    with (
        default_storage.open(first.file.name) as one,
        default_storage.open(second.file.name) as two,
    ):
        assert one.read() == two.read()  # preparing the file again would give other bytes
    assert (second.state, second.duration, bool(second.sheet)) == ("playable", 3.0, True)


def test_files_of_prepared_videos_are_deleted_and_those_of_refused_ones_stay(
    tus: TusClient, tmp_path: Path, django_capture_on_commit_callbacks: Any
) -> None:
    tus.upload("v0.mp4", make_video(tmp_path / "good.mp4").read_bytes())
    tus.upload("v1.mp4", b"text")
    with django_capture_on_commit_callbacks(execute=True):
        run_jobs()
    kept = {one.name: (one.is_kept, upload_path(one).exists()) for one in VideoUpload.objects.all()}
    assert kept == {"v0.mp4": (False, False), "v1.mp4": (True, True)}


def test_a_refused_file_can_be_retried_and_replaced(tus: TusClient, tmp_path: Path) -> None:
    url = tus.upload("v0.mp4", b"text")
    run_jobs()
    pk = url.rstrip("/").rsplit("/", 1)[-1]
    assert tus.client.post(PAGE + "retry/", {"upload": pk}).status_code == 302
    assert states_and_reasons() == {"v0.mp4": ("waiting", "")}
    assert run_jobs().result == {"playable": 0, "refused": 1, "unpacked": 0}
    tus.upload("v0.webm", make_video(tmp_path / "a.webm", "libvpx").read_bytes())
    run_jobs()
    assert states_and_reasons() == {"v0.webm": ("playable", "")}
    assert Video.objects.get(key="v0").state == "playable"


class FullStorage(FileSystemStorage):
    def _save(self, name: str, content: Any) -> str:
        raise OSError(errno.ENOSPC, "full")


def test_a_full_disk_refuses_the_file_until_it_is_retried(
    tus: TusClient, tmp_path: Path, settings: Any
) -> None:
    tus.upload("v0.mp4", make_video(tmp_path / "good.mp4").read_bytes())
    storages = settings.STORAGES
    settings.STORAGES = {**storages, "default": {"BACKEND": f"{__name__}.FullStorage"}}
    run_jobs()
    settings.STORAGES = storages
    assert states_and_reasons() == {
        "v0.mp4": ("refused", "The disk is full. Free some space, then retry.")
    }
    tus.client.post(PAGE + "retry/")
    run_jobs()
    assert states_and_reasons() == {"v0.mp4": ("playable", "")}


def test_the_person_must_still_be_a_lead(tus: TusClient, lead: User) -> None:
    tus.upload("v0.mp4", b"text")
    job = Job.objects.get()
    withdraw_role(person=lead, role=Role.LEAD, scope="", by=OPERATOR)
    run_job(job.pk)
    assert states_and_reasons() == {"v0.mp4": ("refused", "Only leads and admins may add videos.")}
    assert Video.objects.get(key="v0").state == "missing"


# --- Jobs that end ------------------------------------------------------------------------------


def test_a_file_that_no_job_will_prepare_gets_another_job(tus: TusClient, lead: User) -> None:
    tus.upload("v0.mp4", b"text")
    tus.upload("v1.mp4", b"text")
    assert queue_uploads() == 0  # their job is unfinished
    first = Job.objects.get()
    Job.objects.filter(pk=first.pk).update(state=JobState.DONE)
    VideoUpload.objects.filter(name="v1.mp4").update(state=UploadState.PROCESSING, attempts=3)
    assert queue_uploads() == 1
    assert VideoUpload.objects.get(name="v0.mp4").job != first
    assert states_and_reasons()["v1.mp4"] == (
        "refused",
        "The job of this file ended 3 times without a result. The worker’s log has the reason.",
    )


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_running", [False, True])
def test_the_files_of_a_cancelled_job_are_refused(
    tus: TusClient, lead: User, is_running: bool
) -> None:
    tus.upload("v0.mp4", b"text")
    job = Job.objects.get()
    if is_running:
        Job.objects.filter(pk=job.pk).update(cancel_requested=True)
        run_job(job.pk)
    else:
        cancel_job(job=job, by=lead)
        queue_uploads()
    job.refresh_from_db()
    assert (job.state, states_and_reasons()["v0.mp4"][0]) == ("cancelled", "refused")


def test_cancelling_the_preparation_refuses_the_waiting_files(tus: TusClient) -> None:
    tus.upload("v0.mp4", b"text")
    tus.create("v1.mp4", 10)
    assert tus.client.post(PAGE + "cancel/").status_code == 302
    assert states_and_reasons() == {
        "v0.mp4": ("refused", "The preparation was cancelled. Retry it, or remove the file."),
        "v1.mp4": ("arriving", ""),
    }
    assert run_jobs().result == {"playable": 0, "refused": 0, "unpacked": 0}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("broker", ["filesystem"], indirect=True)
def test_another_worker_continues_after_a_killed_one(
    tus: TusClient, tmp_path: Path, start_worker: Callable[..., Worker]
) -> None:
    """The videos that the first worker has stored are not prepared again."""
    for number in range(6):
        video = make_video(tmp_path / f"{number}.avi", "mpeg4", size=(640, 480), seconds=10)
        tus.upload(f"v{number}.avi", video.read_bytes())
    first = start_worker()
    assert wait_for(lambda: Video.objects.filter(state="playable").count() >= 1)
    os.killpg(first.process.pid, signal.SIGKILL)
    stored = {video.key: video.file.name for video in Video.objects.filter(state="playable")}
    assert 1 <= len(stored) < 6
    Job.objects.filter(state=JobState.RUNNING).update(lease_expires_at="2020-01-01T00:00:00Z")
    start_worker("--beat")
    assert wait_for(lambda: Video.objects.filter(state="playable").count() == 6)
    assert {key: Video.objects.get(key=key).file.name for key in stored} == stored
    assert set(VideoUpload.objects.values_list("state", flat=True)) == {"playable"}


# --- Archives -----------------------------------------------------------------------------------


def make_zip(*members: tuple[str | zipfile.ZipInfo, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return out.getvalue()


def make_tar(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for info, content in members:
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def special(name: str, kind: bytes, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


def test_the_members_of_an_archive_become_files(tus: TusClient, tmp_path: Path) -> None:
    video = make_video(tmp_path / "a.mp4").read_bytes()
    link = zipfile.ZipInfo("v5.mp4")
    link.create_system, link.external_attr = 3, 0o120777 << 16
    tus.upload(
        "clips.zip",
        make_zip(
            ("clips/", b""),
            ("clips/v0.mp4", video),
            ("../../v1.mp4", b"text"),
            ("a/v2.mp4", video),
            ("b/v2.mp4", video),
            ("other.mp4", video),
            (link, b"/etc/passwd"),
        ),
    )
    run_jobs()
    while Job.objects.filter(state=JobState.QUEUED).exists():
        run_jobs()
    assert states_and_reasons() == {
        "clips.zip": (
            "unpacked",
            "The archive has 2 files for videos, 1 file whose name matches no video, 2 ambiguous, "
            "2 left out (folders, links, encrypted members).",
        ),
        "v0.mp4": ("playable", ""),
        "v1.mp4": ("refused", NO_VIDEO),
    }
    assert list(Path(site.HEARTH_HOME).rglob("v1.mp4")) == []


def test_links_and_devices_of_a_tar_are_left_out(tus: TusClient, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    tus.upload(
        "clips.tar.gz",
        make_tar(
            (special("v0.mp4", tarfile.SYMTYPE, str(secret)), b""),
            (special("v1.mp4", tarfile.LNKTYPE, "v3.mp4"), b""),
            (special("v2.mp4", tarfile.CHRTYPE), b""),
            (special("v3.mp4", tarfile.REGTYPE), b"text"),
        ),
    )
    run_jobs()
    assert set(states_and_reasons()) == {"clips.tar.gz", "v3.mp4"}


@pytest.mark.parametrize(
    "content",
    [b"", b"text", make_zip(("v0.mp4", b"x" * 999))[:-30], b"PK\5\6" + bytes(18)],
    # A zip file contains the current time, which must not be in the name of a test.
    ids=["empty", "text", "cut", "without members"],
)
def test_a_damaged_or_empty_archive_adds_no_video(tus: TusClient, content: bytes) -> None:
    tus.upload("clips.zip", content)
    assert run_jobs().state == "done"
    assert states_and_reasons()["clips.zip"][0] in ("refused", "unpacked")
    assert Video.objects.filter(state="missing").count() == 12


# Some text that compresses to different bytes at each place.
TEXT = b"".join(b"%d " % number for number in range(20_000))


def spoilt_zip(kind: int) -> bytes:
    """Return an archive in which v0.mp4 is damaged, v1.mp4 has another local header, v2.mp4 not."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", kind) as archive:
        for name in ("v0.mp4", "v1.mp4", "v2.mp4"):
            archive.writestr(name, TEXT)
        places = [info.header_offset for info in archive.infolist()]
    content = bytearray(out.getvalue())
    middle = (places[0] + places[1]) // 2
    content[middle : middle + 2000] = bytes(2000)
    content[places[1] + 30 : places[1] + 36] = b"x9.mp4"
    return bytes(content)


@pytest.mark.parametrize("kind", [0, 8, 12, 14], ids=["stored", "deflate", "bzip2", "lzma"])
def test_a_damaged_member_is_refused_and_the_others_are_not(tmp_path: Path, kind: int) -> None:
    source = tmp_path / "clips.zip"
    source.write_bytes(spoilt_zip(kind))
    places = {str(index): tmp_path / str(index) for index in range(3)}
    targets = {index: str(path) for index, path in places.items()}
    damaged = "the member is damaged"
    assert archives.extract(str(source), targets, 1 << 20, 0) == {"0": damaged, "1": damaged}
    assert [path.exists() for path in places.values()] == [False, False, True]
    assert places["2"].read_bytes() == TEXT


def tar_that_claims(size: int, kind: bytes = tarfile.REGTYPE) -> bytes:
    claim = special("v9.mp4", kind)
    claim.size = size
    before = special("v0.mp4", tarfile.REGTYPE)
    before.size = 4
    head = before.tobuf(tarfile.GNU_FORMAT) + b"text".ljust(512, b"\0")
    return head + claim.tobuf(tarfile.GNU_FORMAT) + bytes(2048)


@pytest.mark.postgresql
@pytest.mark.parametrize("kind", [tarfile.REGTYPE, tarfile.GNUTYPE_LONGNAME, b"?"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_a_tar_that_ends_before_a_member_is_refused_at_once(
    tmp_path: Path, kind: bytes, pack: Callable[[bytes], bytes]
) -> None:
    source = tmp_path / "clips.tar"
    source.write_bytes(pack(tar_that_claims(8 << 40, kind)))
    began = time.monotonic()
    for refused in (
        lambda: archives.list_members(str(source)),
        lambda: archives.extract(str(source), {"1": str(tmp_path / "v9")}, 1 << 20, 0),
    ):
        with pytest.raises(InvalidInput, match="the archive is damaged or encrypted"):
            refused()
    assert time.monotonic() - began < 5


def test_the_job_of_an_archive_with_damaged_members_runs_once(tus: TusClient) -> None:
    tus.upload("clips.zip", spoilt_zip(zipfile.ZIP_BZIP2))
    job = run_jobs()
    assert (job.state, job.attempts) == ("done", 1)
    found = states_and_reasons()
    assert found.pop("clips.zip")[0] == "unpacked"
    damaged = ("refused", "the member is damaged")
    assert found == {"v0.mp4": damaged, "v1.mp4": damaged, "v2.mp4": ("refused", NO_VIDEO)}


def test_a_zip_bomb_is_stopped_by_the_number_of_unpacked_bytes(
    tus: TusClient, settings: Any
) -> None:
    """The header in the second archive states a false size, 10 bytes."""
    settings.VIDEO_BYTES_MAX = 1 << 20
    content = make_zip(("v0.mp4", bytes(8 << 20)))
    lying = content.replace((8 << 20).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    assert len(content) < 10_000
    tus.upload("a.zip", content)
    tus.upload("b.zip", lying)
    run_jobs()
    assert states_and_reasons()["v0.mp4"][0] == "refused"
    assert all(
        upload_path(one).stat().st_size < 1 << 20
        for one in VideoUpload.objects.all()
        if upload_path(one).exists()
    )


def test_an_archive_may_not_fill_the_disk(tus: TusClient, settings: Any) -> None:
    url = tus.upload("a.zip", make_zip(("v0.mp4", b"x" * 100)))
    settings.DISK_RESERVE_BYTES = 1 << 60
    run_jobs()
    assert "Free some space" in states_and_reasons()["a.zip"][1]
    settings.DISK_RESERVE_BYTES = 0
    tus.client.post(PAGE + "retry/", {"upload": url.rstrip("/").rsplit("/", 1)[-1]})
    run_jobs()
    assert states_and_reasons()["a.zip"][0] == "unpacked"


# --- Folders of the server ------------------------------------------------------------------------


def test_a_folder_of_the_server_is_added_without_its_links(
    tus: TusClient, tmp_path: Path, settings: Any
) -> None:
    root = tmp_path / "videos"
    (root / "clips" / "deep").mkdir(parents=True)
    video = make_video(root / "clips" / "deep" / "v0.mp4")
    (root / "clips" / "v1.mp4").symlink_to(video)
    (root / "clips" / "linked").symlink_to(tmp_path)
    (root / "clips" / "unknown.mp4").write_bytes(b"x")
    make_video(tmp_path / "v2.mp4")

    def add(folder: str) -> int:
        return tus.client.post(PAGE + "folder/", {"folder": folder}).status_code

    assert add("clips") == 400  # the site has no folder of videos
    settings.VIDEO_FOLDER = str(root)
    assert [add(name) for name in ("..", "clips/linked", str(tmp_path), "none")] == [400] * 4
    assert VideoUpload.objects.count() == 0
    assert add("clips") == 302
    assert "The folder has 1 file for videos, 1 file whose name matches no video." in (
        tus.client.get(PAGE).content.decode()
    )
    assert run_jobs().result == {"playable": 1, "refused": 0, "unpacked": 0}
    assert states_and_reasons() == {"v0.mp4": ("playable", "")}
    assert video.exists()


def test_a_file_that_becomes_a_link_is_not_read(
    tus: TusClient, tmp_path: Path, settings: Any
) -> None:
    root = tmp_path / "videos"
    root.mkdir()
    settings.VIDEO_FOLDER = str(root)
    (root / "v0.mp4").write_bytes(b"x")
    tus.client.post(PAGE + "folder/", {"folder": "."})
    (root / "v0.mp4").unlink()
    (root / "v0.mp4").symlink_to(make_video(tmp_path / "outside.mp4"))
    run_jobs()
    assert states_and_reasons()["v0.mp4"][0] == "refused"


# --- Addresses ------------------------------------------------------------------------------------


def send_addresses(client: Client, content: str) -> Job:
    file = SimpleUploadedFile("a.csv", content.encode())
    client.post("/benchmarks/tiny/video-addresses/new/", {"file": file})
    return run_jobs()


def test_addresses_are_stored_for_videos_without_a_file(tus: TusClient, settings: Any) -> None:
    settings.VIDEO_HOSTS = ["videos.example"]
    Video.objects.filter(key="v1").update(file="tiny/a.mp4", state="playable")
    content = "video_id,url,duration\n" + "".join(
        f"v{n},https://videos.example/{n}.mp4,{n + 1}.5\n" for n in range(2)
    )
    assert send_addresses(tus.client, content).result == {"videos": 1, "with_file": 1}
    found = Video.objects.filter(key__in=["v0", "v1"]).values_list("url", "state", "duration")
    assert set(found) == {
        ("https://videos.example/0.mp4", "playable", 1.5),
        ("", "playable", None),
    }


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("v9x,https://videos.example/a.mp4", "a.csv, line 3: the benchmark has no video 'v9x'"),
        ("v1,", "a.csv, line 3: the video 'v1' has no url"),
        ("v1,http://videos.example/a.mp4", "does not begin with https://"),
        ("v1,https://videos.example.evil/a.mp4", "the hosts are videos.example (VIDEO_HOSTS)"),
        ("v1,https://user@videos.example/a.mp4", "is not a plain http or https address"),
        ("v1,file:///etc/passwd", "is not a plain http or https address"),
    ],
)
def test_one_wrong_address_refuses_the_file(
    tus: TusClient, settings: Any, row: str, reason: str
) -> None:
    settings.VIDEO_HOSTS = ["videos.example"]
    job = send_addresses(tus.client, f"video_id,url\nv0,https://videos.example/0.mp4\n{row}\n")
    assert (job.state, reason in job.error) == ("failed", True), job.error
    assert Video.objects.exclude(url="").count() == 0
