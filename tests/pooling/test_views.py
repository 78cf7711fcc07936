"""Uploading runs, building pools, and requests for parts of videos."""

from __future__ import annotations

import hashlib
import itertools
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import StreamingHttpResponse
from django.test import Client

from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.jobs.models import Job, JobState
from hearth.jobs.services import run_job
from hearth.shared.ranges import BLOCK_BYTES, ByteRange, FilePart, Unsatisfiable, parse_range
from pooling.enums import MediaState
from pooling.models import Benchmark, Run, Video
from tests import factories
from tests.accounts.world import make_member

CONTENT = bytes(range(256)) * 1000  # 256,000 bytes, more than one block
SIZE = len(CONTENT)


@pytest.fixture
def benchmark(db: None, tmp_path: Path) -> Benchmark:
    return factories.make_benchmark(tmp_path)


@pytest.fixture
def researcher(client: Client, db: None) -> Client:
    client.force_login(factories.make_user("rosa", Role.RESEARCHER))
    return client


@pytest.fixture
def lead(client: Client, db: None) -> Client:
    client.force_login(factories.make_user("lena", Role.LEAD))
    return client


def upload(client: Client, content: bytes, name: str = "clip.run", **fields: str) -> Any:
    file = SimpleUploadedFile(name, content)
    return client.post(
        "/benchmarks/tiny/runs/new/", {"file": file, "system": "CLIP", "format": "auto", **fields}
    )


# --- Runs -----------------------------------------------------------------------------------


def test_upload_becomes_a_job_with_the_file(benchmark: Benchmark, researcher: Client) -> None:
    response = upload(researcher, b"c0 Q0 v0 1 1 x\n", name="../\u202eclip.run", depth="5")
    job = Job.objects.get()
    assert response["Location"] == f"/jobs/{job.pk}/"
    stored_name = job.params.pop("upload")
    assert job.params == {
        "benchmark": "tiny",
        "source": "clip.run",
        "system": "CLIP",
        "name": "",
        "format": "auto",
        "depth": 5,
        "direction": "text-to-video",
    }
    assert (job.kind, job.title, job.benchmark_key, job.created_by.username) == (
        "import_run",
        "Import run CLIP into tiny",
        "tiny",
        "rosa",
    )
    with storages["uploads"].open(stored_name) as stored:
        assert stored.read() == b"c0 Q0 v0 1 1 x\n"


@pytest.mark.django_db(transaction=True)
def test_an_upload_becomes_a_run_and_a_job_that_scores_it(
    tmp_path: Path, researcher: Client
) -> None:
    factories.make_benchmark(tmp_path)
    upload(researcher, b"c0 Q0 v0 1 1 x\n")
    job = Job.objects.get()
    run_job(job.pk)
    assert Job.objects.filter(kind="evaluate", params__runs=[Run.objects.get().pk]).count() == 1
    run = Run.objects.get()
    page = researcher.get(f"/jobs/{job.pk}/").content.decode()
    assert f'<code class="sha" title="{run.sha256}">{run.sha256[:12]}</code>' in page
    assert "Run <strong><bdi>CLIP</bdi></strong> is stored:" in page
    assert f'href="/benchmarks/tiny/runs/{run.pk}/"' in page


@pytest.mark.django_db(transaction=True)
def test_a_failed_upload_shows_file_line_and_reason(tmp_path: Path, researcher: Client) -> None:
    factories.make_benchmark(tmp_path)
    upload(researcher, b"c0 Q0 v0 1 1 x\nc0 Q0 v0 2 1 x\n")
    job = Job.objects.get()
    run_job(job.pk)
    job.refresh_from_db()
    page = researcher.get(f"/jobs/{job.pk}/").content.decode()
    assert job.state == JobState.FAILED
    assert job.error.startswith("clip.run, line 2: ")
    assert '<p class="reason" dir="auto">clip.run, line 2: ' in page
    assert "Nothing was stored." in page
    assert 'href="/benchmarks/tiny/runs/new/"' in page
    assert Run.objects.count() == 0


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"system": ""}, "This field is required."),
        ({"system": "a\u200bb"}, "Use only printable characters."),
        ({"system": "x" * 101}, "Ensure this value has at most 100 characters (it has 101)."),
        (
            {"format": "zip"},
            "Select a valid choice. zip is not one of the available choices.",
        ),
        ({"depth": "0"}, "Ensure this value is greater than or equal to 1."),
        ({"depth": "9" * 30}, "Ensure this value is less than or equal to 1000000."),
    ],
)
def test_upload_with_an_error_stores_nothing(
    fields: dict[str, str], error: str, benchmark: Benchmark, researcher: Client
) -> None:
    before = set(storages["uploads"].listdir("")[1]) if storages["uploads"].exists("") else set()
    response = upload(researcher, b"c0 Q0 v0 1 1 x\n", **fields)
    assert response.status_code == 422
    # The error is shown next to the field and at the top.
    assert response.content.decode().count(error) == 2
    after = set(storages["uploads"].listdir("")[1]) if storages["uploads"].exists("") else set()
    assert (Job.objects.count(), after) == (0, before)


def test_empty_file_is_refused(benchmark: Benchmark, researcher: Client) -> None:
    response = upload(researcher, b"")
    assert "The submitted file is empty." in response.content.decode()
    assert response.status_code == 422


# --- Pools ----------------------------------------------------------------------------------


def test_pool_becomes_a_job_once(tmp_path: Path, benchmark: Benchmark, lead: Client) -> None:
    factories.make_run(tmp_path, benchmark, {"c0": ["v0"]}, system="A")
    factories.make_run(tmp_path, benchmark, {"c0": ["v1"]}, system="B")
    form = {"depth": "10", "runs": ["B"], "sample": "2", "seed": "7"}
    responses = [lead.post("/benchmarks/tiny/pools/new/", form) for _ in range(2)]
    job = Job.objects.get()
    assert [response["Location"] for response in responses] == [f"/jobs/{job.pk}/"] * 2
    assert (job.kind, job.params) == (
        "build_pool",
        {
            "benchmark": "tiny",
            "depth": 10,
            "runs": [benchmark.runs.get(name="B").pk],
            "sample": 2,
            "video_sample": None,
            "seed": 7,
            "originals": "ranked",
            "similar": None,
            "similar_from": 0.5,
            "strata": [],
            "proxy": "",
            "proxy_from": 0.5,
            "budget": None,
            "expected": "",
        },
    )


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("depth", "0", "Ensure this value is greater than or equal to 1."),
        ("sample", "4", "The sample must not exceed the 3 captions of the benchmark."),
        ("runs", "Z", "Select a valid choice. Z is not one of the available choices."),
        ("seed", "-1", "Ensure this value is greater than or equal to 0."),
    ],
)
def test_a_pool_with_an_error_is_refused(
    field: str, value: str, error: str, benchmark: Benchmark, lead: Client
) -> None:
    form = {"depth": "10", "seed": "0", field: value}
    response = lead.post("/benchmarks/tiny/pools/new/", form)
    assert response.status_code == 422
    assert error in response.content.decode()
    assert Job.objects.count() == 0


# --- Videos ---------------------------------------------------------------------------------


@pytest.fixture
def video(benchmark: Benchmark) -> Video:
    found = Video.objects.get(benchmark=benchmark, key="v0")
    found.state, found.sha256 = MediaState.PLAYABLE, "ab" * 32
    found.file.save("a.mp4", ContentFile(CONTENT))
    return found


def body_of(response: Any) -> bytes:
    return b"".join(response.streaming_content) if response.streaming else response.content


def test_whole_video(video: Video, researcher: Client) -> None:
    response = researcher.get(f"/media/videos/{video.public_id}/")
    assert response.status_code == 200
    assert body_of(response) == CONTENT
    headers = {
        name: response[name]
        for name in (
            "Accept-Ranges",
            "Cache-Control",
            "Content-Disposition",
            "Content-Length",
            "Content-Security-Policy",
            "Content-Type",
            "X-Content-Type-Options",
        )
    }
    assert headers == {
        "Accept-Ranges": "bytes",
        "Cache-Control": "private, max-age=86400",
        "Content-Disposition": "inline",
        "Content-Length": str(SIZE),
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "Content-Type": "video/mp4",
        "X-Content-Type-Options": "nosniff",
    }


LAST = SIZE - 1


@pytest.mark.parametrize(
    ("requested", "start", "stop"),
    [
        ("bytes=0-", 0, SIZE),
        ("bytes=0-0", 0, 1),
        ("bytes=100-199", 100, 200),
        (f"bytes={LAST}-", LAST, SIZE),
        (f"bytes={LAST}-{LAST}", LAST, SIZE),
        ("bytes=-500", SIZE - 500, SIZE),
        (f"bytes=-{SIZE + 10}", 0, SIZE),
        (f"bytes=70000-{10**17}", 70000, SIZE),
        ("BYTES = 5-9 ", 5, 10),
    ],
)
def test_a_range_returns_its_bytes(
    requested: str, start: int, stop: int, video: Video, researcher: Client
) -> None:
    response = researcher.get(f"/media/videos/{video.public_id}/", headers={"Range": requested})
    assert response.status_code == 206
    assert response["Content-Range"] == f"bytes {start}-{stop - 1}/{SIZE}"
    assert response["Content-Length"] == str(stop - start)
    assert body_of(response) == CONTENT[start:stop]


@pytest.mark.parametrize("requested", [f"bytes={SIZE}-", f"bytes={SIZE}-{SIZE + 5}", "bytes=-0"])
def test_a_range_that_cannot_be_satisfied_is_refused(
    requested: str, video: Video, researcher: Client
) -> None:
    response = researcher.get(f"/media/videos/{video.public_id}/", headers={"Range": requested})
    assert (response.status_code, response["Content-Range"]) == (416, f"bytes */{SIZE}")
    assert response.content == b""


@pytest.mark.parametrize(
    "requested",
    [
        "bytes=0-0,5-9",  # several ranges, which a server may ignore
        "bytes=" + "0-0," * 1000,
        "bytes=9-5",
        "bytes=-",
        "bytes=a-b",
        "bytes=١-٢",
        "items=0-5",
        "bytes=1" + "0" * 5000 + "-",
        "",
    ],
)
def test_an_invalid_or_multiple_range_returns_the_whole_file(
    requested: str, video: Video, researcher: Client
) -> None:
    response = researcher.get(f"/media/videos/{video.public_id}/", headers={"Range": requested})
    assert response.status_code == 200
    assert body_of(response) == CONTENT


def test_range_of_a_changed_file_returns_the_whole_file(video: Video, researcher: Client) -> None:
    address = f"/media/videos/{video.public_id}/"
    etag = researcher.head(address)["ETag"]
    same = researcher.get(address, headers={"Range": "bytes=0-4", "If-Range": etag})
    other = researcher.get(address, headers={"Range": "bytes=0-4", "If-Range": '"old"'})
    assert (same.status_code, body_of(same)) == (206, CONTENT[:5])
    assert (other.status_code, body_of(other)) == (200, CONTENT)


def test_head_and_cached_video(video: Video, researcher: Client) -> None:
    address = f"/media/videos/{video.public_id}/"
    head = researcher.head(address, headers={"Range": "bytes=0-4"})
    assert (head.status_code, head["Content-Length"], head.content) == (200, str(SIZE), b"")
    known = researcher.get(address, headers={"If-None-Match": head["ETag"]})
    assert (known.status_code, known.content) == (304, b"")


@pytest.mark.parametrize("prefix", ["", "/protected/"])
def test_no_header_contains_the_key_or_the_hash_of_a_video(
    video: Video, researcher: Client, settings: Any, prefix: str
) -> None:
    """Anyone who has the data set could find the video by the hash of its file."""
    settings.MEDIA_ACCEL_PREFIX = prefix
    video.poster.save("a.jpg", ContentFile(CONTENT))
    video.sheet.save("a.jpg", ContentFile(CONTENT))
    of_file = hashlib.sha256(CONTENT).hexdigest()
    Video.objects.filter(pk=video.pk).update(sha256=of_file, key="public-name")
    etags = set()
    for part in ("", "poster/", "sheet/"):
        answer = researcher.get(f"/media/videos/{video.public_id}/{part}")
        assert not re.search(f"{of_file[:12]}|public-name", str(answer.headers))
        etags.add(answer.get("ETag", part))
    assert len(etags) == 3


def test_the_etag_changes_with_the_content_and_with_the_secret_of_the_site(
    video: Video, researcher: Client, settings: Any
) -> None:
    address = f"/media/videos/{video.public_id}/"
    first = researcher.head(address)["ETag"]
    assert re.fullmatch('"[0-9a-f]{32}"', first)
    Video.objects.filter(pk=video.pk).update(sha256="cd" * 32)
    second = researcher.head(address)["ETag"]
    settings.SECRET_KEY = "another"
    researcher.force_login(User.objects.get(username="rosa"))
    assert len({first, second, researcher.head(address)["ETag"]}) == 3


def test_a_part_of_a_video_needs_the_same_right(video: Video) -> None:
    """The right is checked even if `If-None-Match` would be answered with 304."""
    address = f"/media/videos/{video.public_id}/"
    headers = {"Range": "bytes=0-4", "If-None-Match": "*"}
    visitor, stranger = Client(), Client()
    stranger.force_login(make_member("stranger", Role.ANNOTATOR, of="other"))
    assert visitor.get(address, headers=headers).status_code == 403
    assert stranger.get(address, headers=headers).status_code == 404


def test_file_is_closed_when_the_browser_hangs_up(db: None, tmp_path: Path) -> None:
    # `db`: closing a response checks the database connection, which earlier tests may have opened.
    path = tmp_path / "a.mp4"
    path.write_bytes(CONTENT)
    for blocks_sent in (0, 1):
        file = path.open("rb")
        response = StreamingHttpResponse(FilePart(file, ByteRange(5, SIZE)))
        sent = b"".join(itertools.islice(response.streaming_content, blocks_sent))
        response.close()
        assert (sent, file.closed) == (CONTENT[5 : 5 + blocks_sent * BLOCK_BYTES], True)


def test_nginx_sends_the_bytes(video: Video, researcher: Client, settings: Any) -> None:
    settings.MEDIA_ACCEL_PREFIX = "/protected/"
    response = researcher.get(f"/media/videos/{video.public_id}/", headers={"Range": "bytes=0-4"})
    assert response["X-Accel-Redirect"] == f"/protected/{video.file.name}"
    assert (response["Content-Type"], response.content) == ("video/mp4", b"")


def test_a_video_without_a_file_is_not_found(benchmark: Benchmark, researcher: Client) -> None:
    video = Video.objects.filter(benchmark=benchmark).latest("number")
    assert researcher.get(f"/media/videos/{video.public_id}/").status_code == 404
    assert researcher.get(f"/media/videos/{video.public_id}/poster/").status_code == 404


def test_parse_range_of_an_empty_file() -> None:
    for header in ("bytes=0-", "bytes=-5", "bytes=0-0"):
        with pytest.raises(Unsatisfiable):
            parse_range(header, 0)
    assert parse_range("bytes=0-0", 1) == ByteRange(0, 1)
