"""Files that are sent in parts: offsets, checksums, two clients at once, limits, and expiry."""

from __future__ import annotations

import fcntl
import os
import re
import socket
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.jobs.models import Job
from hearth.operations.housekeeping import run_housekeeping
from hearth.shared.errors import Conflict
from pooling import services
from pooling.enums import MediaState, UploadState
from pooling.models import Benchmark, Video, VideoUpload
from pooling.selectors.uploads import upload_path
from tests import factories
from tests.factories import at_once
from tests.pooling.uploading import PART, UPLOADS, TusClient, checksum_of
from tests.waiting import SECONDS, wait_for
from tests.webserver import web_server

CONTENT = bytes(range(256)) * 40  # 10,240 bytes


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.VIDEO_UPLOAD_ROOT = tmp_path / "video-uploads"
    return settings.VIDEO_UPLOAD_ROOT


@pytest.fixture
def benchmark(db: None, tmp_path: Path) -> Benchmark:
    return factories.make_benchmark(tmp_path)


@pytest.fixture
def lead(benchmark: Benchmark) -> User:
    return factories.make_user("lena", Role.LEAD)


@pytest.fixture
def tus(lead: User) -> TusClient:
    client = Client()
    client.force_login(lead)
    return TusClient(client)


def stored(url: str) -> VideoUpload:
    return VideoUpload.objects.get(pk=url.rstrip("/").rsplit("/", 1)[-1])


def is_locked(path: Path) -> bool:
    """Return whether a request is writing the file."""
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


# --- The protocol ------------------------------------------------------------------------------


def test_a_file_arrives_in_parts(tus: TusClient) -> None:
    created = tus.create("v1.mp4", len(CONTENT))
    url = created["Location"]
    assert (created.status_code, created["Upload-Offset"]) == (201, "0")
    assert tus.offset(url) == 0

    first = tus.send(url, 0, CONTENT[:4000], checksum_of(CONTENT[:4000]))
    assert (first.status_code, first["Upload-Offset"], tus.offset(url)) == (204, "4000", 4000)
    assert "GMT" in first["Upload-Expires"]
    assert Job.objects.count() == 0

    rest = tus.send(url, 4000, CONTENT[4000:], checksum_of(CONTENT[4000:], "sha1"))
    assert (rest.status_code, rest["Upload-Offset"]) == (204, "10240")
    assert "Upload-Expires" not in rest
    upload = stored(url)
    assert upload_path(upload).read_bytes() == CONTENT
    assert (upload.state, upload.video.key, upload.job) == ("waiting", "v1", Job.objects.get())
    assert upload.job.params == {"benchmark": "tiny"}


def test_the_server_describes_the_protocol(tus: TusClient) -> None:
    for answer in (tus.client.options(UPLOADS), tus.client.post(UPLOADS)):
        assert answer["Tus-Version"] == answer["Tus-Resumable"] == "1.0.0"
        assert answer["Tus-Extension"] == "creation,checksum,termination,expiration"
        assert answer["Tus-Checksum-Algorithm"] == "sha256,sha1"
    assert tus.client.options(UPLOADS).status_code == 204
    assert tus.client.options(UPLOADS)["Tus-Max-Size"] == str(16_384 << 20)
    assert tus.client.post(UPLOADS).status_code == 412


@pytest.mark.parametrize("offset", [0, 3999, 4001, 10_240, 10**14])
def test_a_part_must_begin_at_the_offset(tus: TusClient, offset: int) -> None:
    url = tus.create("v1.mp4", len(CONTENT))["Location"]
    tus.send(url, 0, CONTENT[:4000])
    assert tus.send(url, offset, b"x" * 10).status_code == 409
    assert (tus.offset(url), upload_path(stored(url)).read_bytes()) == (4000, CONTENT[:4000])


def test_a_part_with_another_checksum_is_refused_and_can_be_repeated(tus: TusClient) -> None:
    url = tus.create("v1.mp4", len(CONTENT))["Location"]
    wrong = tus.send(url, 0, b"y" * 100, checksum_of(CONTENT[:100]))
    assert (wrong.status_code, tus.offset(url)) == (460, 0)
    tus.send(url, 0, CONTENT, checksum_of(CONTENT))
    assert upload_path(stored(url)).read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [
        ("Upload-Checksum", "md5 AAAA", 400),
        ("Upload-Checksum", "sha256 not-base64!", 400),
        ("Upload-Checksum", "sha256 \xe9", 400),
        ("Upload-Offset", "-1", 400),
        ("Upload-Offset", "١", 400),
        ("Upload-Offset", "", 400),
        ("Tus-Resumable", "0.2.2", 412),
        ("Content-Type", "application/octet-stream", 415),
    ],
)
def test_wrong_headers_are_refused(tus: TusClient, header: str, value: str, status: int) -> None:
    url = tus.create("v1.mp4", len(CONTENT))["Location"]
    headers = {"Tus-Resumable": "1.0.0", "Upload-Offset": "0", "Content-Type": PART}
    headers[header] = value
    content_type = headers.pop("Content-Type")
    answer = tus.client.patch(url, b"x", content_type, headers=headers)
    assert (answer.status_code, tus.offset(url)) == (status, 0)


def test_a_part_may_not_be_too_long(tus: TusClient) -> None:
    url = tus.create("v1.mp4", 100)["Location"]
    assert tus.send(url, 0, b"x" * 101).status_code == 413
    url = tus.create("v2.mp4", 20 << 20)["Location"]
    assert tus.send(url, 0, bytes((16 << 20) + 1)).status_code == 413
    assert tus.offset(url) == 0


@pytest.mark.parametrize("name", ["", "a" * 1001, "v1\0.mp4"])
def test_names_that_cannot_be_stored_are_refused(tus: TusClient, name: str) -> None:
    assert tus.create(name, 1).status_code == 400
    assert VideoUpload.objects.count() == 0


def test_odd_names_are_stored_as_they_are_and_never_used_as_paths(
    tus: TusClient, folder: Path
) -> None:
    names = ["../../v0.mp4", "C:\\clips\\v1.mp4", "\u202egnp.v2\n\"'<b>.mp4", "v3.🎬"]
    Video.objects.filter(key="v2").update(key="\u202egnp.v2\n\"'<b>")
    urls = [tus.upload(name, b"x") for name in names]
    assert [stored(url).name for url in urls] == names
    assert {path.name for path in folder.iterdir()} == {str(stored(url).pk) for url in urls}


# --- Resuming -----------------------------------------------------------------------------------


def test_the_same_file_continues_at_its_offset(tus: TusClient) -> None:
    url = tus.create("v1.mp4", len(CONTENT))["Location"]
    tus.send(url, 0, CONTENT[:6000])
    again = tus.create("v1.mp4", len(CONTENT))
    assert (again["Location"], again["Upload-Offset"]) == (url, "6000")
    plan = tus.client.post(
        "/benchmarks/tiny/videos/new/plan/",
        {"files": [{"name": "v1.mp4", "size": len(CONTENT), "modified": 7}]},
        "application/json",
    )
    assert plan.json() == {"files": [{"status": "match", "key": "v1", "sent": 6000}]}


def test_another_file_of_the_same_video_is_refused_until_the_first_is_removed(
    tus: TusClient, django_capture_on_commit_callbacks: Any
) -> None:
    url = tus.create("v1.mp4", len(CONTENT))["Location"]
    assert tus.create("v1.mp4", len(CONTENT), modified=8).status_code == 409
    assert tus.create("v1.avi", len(CONTENT)).status_code == 409
    path = upload_path(stored(url))
    with django_capture_on_commit_callbacks(execute=True):
        assert tus.delete(url) == 204
    assert (path.exists(), tus.delete(url)) == (False, 404)
    assert tus.create("v1.avi", len(CONTENT)).status_code == 201


def test_an_upload_whose_bytes_are_lost_begins_again(tus: TusClient) -> None:
    url = tus.create("v1.mp4", len(CONTENT))["Location"]
    tus.send(url, 0, CONTENT[:6000])
    os.truncate(upload_path(stored(url)), 5999)
    assert tus.client.head(url, headers=tus.headers).status_code == 410
    assert tus.send(url, 6000, CONTENT[6000:]).status_code == 404
    again = tus.create("v1.mp4", len(CONTENT))
    assert (again["Location"] != url, again["Upload-Offset"]) == (True, "0")


@pytest.mark.django_db(transaction=True)
def test_a_killed_web_worker_loses_no_acknowledged_byte(tus: TusClient, tmp_path: Path) -> None:
    """The process is killed during a part. The upload resumes at the start of that part."""
    home = tmp_path / "home"
    with web_server(home) as server:
        cookie = f"sessionid={tus.client.cookies['sessionid'].value}; csrftoken={'a' * 32}"

        def request(method: str, path: str, *lines: str) -> socket.socket:
            connection = socket.create_connection(("127.0.0.1", server.port), timeout=20)
            head = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Cookie: {cookie}"]
            head += [f"X-CSRFToken: {'a' * 32}", "Tus-Resumable: 1.0.0", "Connection: close"]
            connection.sendall("\r\n".join([*head, *lines, "", ""]).encode())
            return connection

        def answer(connection: socket.socket) -> str:
            return b"".join(iter(lambda: connection.recv(65536), b"")).decode()

        length = f"Content-Type: {PART}", "Content-Length: 4000"
        url = tus.create("v1.mp4", 8000)["Location"]
        path = home / "video-uploads" / str(stored(url).pk)
        path.parent.mkdir()
        path.touch()
        first = request("PATCH", url, "Upload-Offset: 0", *length)
        first.sendall(CONTENT[:4000])
        assert answer(first).startswith("HTTP/1.1 204 ")

        half = request("PATCH", url, "Upload-Offset: 4000", *length)
        half.sendall(b"?" * 2000)
        assert wait_for(lambda: is_locked(path))
        (worker,) = server.workers
        os.kill(worker, 9)
        assert wait_for(lambda: worker not in server.workers)
        assert wait_for(server.answers)

        assert re.search("Upload-Offset: (.*)\r", answer(request("HEAD", url)))[1] == "4000"
        rest = request("PATCH", url, "Upload-Offset: 4000", *length)
        rest.sendall(CONTENT[4000:8000])
        ended = answer(rest)
        assert ended.startswith("HTTP/1.1 204 "), ended
        assert path.read_bytes() == CONTENT[:8000]
    assert stored(url).state == UploadState.WAITING


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_two_tabs_at_once_store_each_byte_once(tus: TusClient, lead: User) -> None:
    """While one request sends a part, another one is refused."""
    upload = stored(tus.create("v1.mp4", 8)["Location"])
    first_has_begun, second_has_ended = threading.Event(), threading.Event()

    class SlowBody:
        def read(self, size: int, /) -> bytes:
            first_has_begun.set()
            assert second_has_ended.wait(SECONDS)
            return b"slowpart"[:size]

    class Body:
        def read(self, size: int, /) -> bytes:
            return b"fastpart"[:size]

    def send(body: Any) -> object:
        mine = VideoUpload.objects.select_related("benchmark").get(pk=upload.pk)
        try:
            return services.receive_part(upload=mine, offset=0, length=8, body=body, by=lead)
        except Conflict as conflict:
            return str(conflict)

    def second() -> object:
        assert first_has_begun.wait(SECONDS)
        try:
            return send(Body())
        finally:
            second_has_ended.set()

    assert at_once(lambda: send(SlowBody()), second) == [
        8,
        "Another request is sending a part of this file.",
    ]
    assert upload_path(upload).read_bytes() == b"slowpart"


# --- Limits -------------------------------------------------------------------------------------


def test_on_a_full_disk_the_status_is_507_and_what_arrived_is_kept(
    tus: TusClient, settings: Any, folder: Path
) -> None:
    url = tus.create("v1.mp4", len(CONTENT))["Location"]
    tus.send(url, 0, CONTENT[:4000])
    reserve, settings.DISK_RESERVE_BYTES = settings.DISK_RESERVE_BYTES, 1 << 60
    full = tus.send(url, 4000, CONTENT[4000:])
    assert (full.status_code, "Nothing was stored" in full.content.decode()) == (507, True)
    assert tus.create("v2.mp4", 1).status_code == 507
    assert (VideoUpload.objects.count(), len(list(folder.iterdir()))) == (1, 1)
    settings.DISK_RESERVE_BYTES = reserve
    assert tus.offset(url) == 4000
    assert tus.send(url, 4000, CONTENT[4000:]).status_code == 204


def test_the_size_of_a_file_and_of_all_files_of_a_person_is_limited(
    tus: TusClient, settings: Any
) -> None:
    settings.VIDEO_BYTES_MAX, settings.VIDEO_BYTES_PER_PERSON = 1000, 1500
    assert tus.create("v0.mp4", 1001).status_code == 413
    url = tus.create("v0.mp4", 1000)["Location"]
    full = tus.create("v1.mp4", 501)
    assert (full.status_code, "are not prepared yet" in full.content.decode()) == (413, True)
    assert tus.create("v1.mp4", 500).status_code == 201
    tus.delete(url)
    assert tus.create("v2.mp4", 1000).status_code == 201


@pytest.mark.parametrize(
    ("name", "status"), [("v9.mp4", 400), ("V1.MP4", 201), ("v1", 201), ("x.zip", 201)]
)
def test_only_files_of_videos_and_archives_are_received(
    tus: TusClient, name: str, status: int
) -> None:
    assert tus.create(name, 1).status_code == status


def test_a_playable_video_is_not_replaced(tus: TusClient) -> None:
    Video.objects.filter(key="v1").update(file="tiny/a.mp4", state=MediaState.PLAYABLE)
    assert tus.create("v1.mp4", 1).status_code == 409
    answer = tus.client.post(
        "/benchmarks/tiny/videos/new/plan/",
        {
            "files": [
                {"name": name, "size": 1, "modified": 0}
                for name in ("v1.mp4", "a/v2.mp4", "b/v2.mp4", "v3.webm", "x.mp4", "x.tar.gz")
            ]
        },
        "application/json",
    )
    assert [(file["status"], file["key"]) for file in answer.json()["files"]] == [
        ("present", "v1"),
        ("ambiguous", ""),
        ("ambiguous", ""),
        ("match", "v3"),
        ("new", ""),
        ("archive", ""),
    ]


@pytest.mark.parametrize("body", ["[]", '{"files": 1}', '{"files": [1]}', "{", '{"files": [{}]}'])
def test_a_plan_that_is_no_list_of_files_is_refused(tus: TusClient, body: str) -> None:
    answer = tus.client.post("/benchmarks/tiny/videos/new/plan/", body, "application/json")
    assert answer.status_code == 400


def test_housekeeping_deletes_expired_uploads(tus: TusClient, folder: Path) -> None:
    urls = [tus.create(f"v{n}.mp4", 10)["Location"] for n in range(3)]
    tus.send(urls[1], 0, bytes(10))
    VideoUpload.objects.filter(pk=stored(urls[1]).pk).update(state="refused", reason="broken")
    old = timezone.now() - timedelta(days=7, minutes=1)
    for url in urls[:2]:
        VideoUpload.objects.filter(pk=stored(url).pk).update(changed_at=old)
        os.utime(upload_path(stored(url)), (old.timestamp(),) * 2)
    (folder / "of no row").touch()
    os.utime(folder / "of no row", (old.timestamp(),) * 2)

    figures = {step["step"]: step["removed"] for step in run_housekeeping(by=OPERATOR)}

    assert figures["video-uploads"] == 3
    assert [path.name for path in folder.iterdir()] == [str(stored(urls[2]).pk)]
    assert set(VideoUpload.objects.values_list("name", "state", "is_kept", "reason")) == {
        ("v1.mp4", "refused", False, "broken"),
        ("v2.mp4", "arriving", True, ""),
    }


def test_housekeeping_deletes_files_that_a_killed_worker_left(db: None, folder: Path) -> None:
    now = timezone.now()
    for name, days in (("left", 8), ("used", 2)):  # an import can run for days
        path = folder / f".prepare-{name}" / "0.mp4"
        path.parent.mkdir(parents=True)
        path.touch()
        os.utime(path, ((now - timedelta(days=days)).timestamp(),) * 2)
    run_housekeeping(by=OPERATOR)
    assert [path.parent.name for path in folder.glob("*/*")] == [".prepare-used"]


def test_only_leads_may_send(tus: TusClient, lead: User) -> None:
    url = tus.create("v1.mp4", 3)["Location"]
    for role, status in ((Role.RESEARCHER, 403), (Role.ANNOTATOR, 404)):
        client = Client()
        client.force_login(factories.make_user(role, role))
        other = TusClient(client)
        answers = [other.create("v2.mp4", 3), other.send(url, 0, b"abc")]
        assert [answer.status_code for answer in answers] == [status, status]
        assert other.delete(url) == status
    assert tus.offset(url) == 0


def test_database_queries_of_the_page_do_not_grow_with_the_files(tus: TusClient) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert tus.client.get("/benchmarks/tiny/videos/new/").status_code == 200
        return len(queries)

    tus.create("v0.mp4", 10)
    count()
    with_one = count()
    tus.create("v1.mp4", 10)
    tus.upload("v2.mp4", b"x")
    assert (with_one, count()) == (8, 8)
