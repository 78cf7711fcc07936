"""Videos and pictures in a bucket, on a real HTTP server that speaks the protocol of S3."""

from __future__ import annotations

import hashlib
import hmac
import runpy
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl, quote, urlencode, urlsplit

import boto3
import pytest
import requests
from boto3.s3.transfer import TransferConfig
from django.core.exceptions import ImproperlyConfigured
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.test import Client
from moto.server import ThreadedMotoServer

from annotation.media.pictures import as_jpeg
from annotation.models import GuidelinePicture
from annotation.services import Example, write_guideline
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.operations import housekeeping
from hearth.operations.backup.services import make_backup
from hearth.operations.health import check_bucket
from hearth.shared import buckets
from hearth.shared.buckets import BucketStorage
from hearth.shared.outages import BucketUnavailable
from pooling.models import Video
from pooling.services import preparing
from pooling.services.queueing import queue_uploads
from tests import factories
from tests.conftest import ROOT
from tests.operations.sites import Site, empty_site
from tests.pictures import picture
from tests.pooling.test_media import make_video
from tests.pooling.test_preparing import run_jobs, states_and_reasons
from tests.pooling.uploading import TusClient

KEYS = {"AWS_ACCESS_KEY_ID": "AKIATEST", "AWS_SECRET_ACCESS_KEY": "secret-of-tests"}
SECONDS = 3600
INSECURE = {"MEDIA_BUCKET_ENDPOINT": "http://s3.example", "HTTPS": "1"}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of the server."""
    started = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    started.start()
    host, port = started.get_host_and_port()
    yield f"http://{host}:{port}"
    started.stop()


def read_settings(**variables: str) -> dict[str, Any]:
    """Return the settings of a site with these variables."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        return runpy.run_path(str(ROOT / "config" / "settings.py"))


@pytest.fixture
def s3(server: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A client of the server, which has the empty buckets hearth, other and clips."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    requests.post(f"{server}/moto-api/reset", timeout=10)
    client = boto3.client("s3", endpoint_url=server, region_name="us-east-1")
    for bucket in ("hearth", "other", "clips"):
        client.create_bucket(Bucket=bucket)
    return client


@pytest.fixture
def bucket(server: str, s3: Any, settings: Any) -> Any:
    """The settings of a site whose media are in the bucket hearth. Each file is sent in parts."""
    site = read_settings(MEDIA_BUCKET="hearth", MEDIA_BUCKET_ENDPOINT=server, VIDEO_BUCKETS="clips")
    names = ("MEDIA_BUCKET", "MEDIA_BUCKET_ENDPOINT", "VIDEO_BUCKETS", "CONTENT_SECURITY_POLICY")
    for name in names:
        setattr(settings, name, site[name])
    options = {"transfer_config": TransferConfig(multipart_threshold=1)}
    default = site["STORAGES"]["default"]
    default["OPTIONS"] |= options
    settings.STORAGES = {**settings.STORAGES, "default": default}
    return settings


@pytest.fixture
def tus(db: None, tmp_path: Path) -> TusClient:
    factories.make_benchmark(tmp_path, captions=1, videos=3)
    client = Client()
    client.force_login(factories.make_user("lena", Role.LEAD))
    return TusClient(client)


def names_in(s3: Any, bucket: str = "hearth") -> set[str]:
    found = s3.list_objects_v2(Bucket=bucket).get("Contents", ())
    return {one["Key"] for one in found}


def content_of(s3: Any, name: str, bucket: str = "hearth") -> bytes:
    return s3.get_object(Bucket=bucket, Key=name)["Body"].read()


# --- Signed addresses -----------------------------------------------------------------------


def signature_of(address: str, *, method: str = "GET") -> str:
    """Compute the signature of an address, as the documentation of S3 describes it."""
    parts = urlsplit(address)
    parameters = sorted(
        pair
        for pair in parse_qsl(parts.query, keep_blank_values=True)
        if pair[0] != "X-Amz-Signature"
    )
    query = urlencode(parameters, quote_via=quote, safe="-_.~")
    canonical = [method, parts.path, query, f"host:{parts.netloc}\n", "host", "UNSIGNED-PAYLOAD"]
    values = dict(parameters)
    scope = values["X-Amz-Credential"].partition("/")[2]
    digest = hashlib.sha256("\n".join(canonical).encode()).hexdigest()
    key = b"AWS4" + KEYS["AWS_SECRET_ACCESS_KEY"].encode()
    for word in scope.split("/"):
        key = hmac.digest(key, word.encode(), "sha256")
    text = "\n".join(["AWS4-HMAC-SHA256", values["X-Amz-Date"], scope, digest])
    return hmac.digest(key, text.encode(), "sha256").hex()


def test_a_video_is_stored_in_parts_and_played_by_a_signed_address(
    tus: TusClient, bucket: Any, s3: Any, server: str, tmp_path: Path
) -> None:
    tus.upload("v0.mp4", make_video(tmp_path / "good.mp4").read_bytes())
    run_jobs()
    assert states_and_reasons() == {"v0.mp4": ("playable", "")}
    video = Video.objects.get(key="v0")
    types = {".mp4": "video/mp4", ".jpg": "image/jpeg", "-sheet.jpg": "image/jpeg"}
    stored = {f"hearth/tiny/{video.public_id}{end}": kind for end, kind in types.items()}
    assert names_in(s3) == set(stored)

    for part, (name, kind) in zip(("", "poster/", "sheet/"), stored.items(), strict=True):
        head = s3.head_object(Bucket="hearth", Key=name)
        assert (head["ContentType"], head["ETag"][-3:]) == (kind, '-1"')  # one part
        answer = tus.client.get(f"/media/videos/{video.public_id}/{part}")
        assert (answer.status_code, answer["Cache-Control"]) == (302, "private, max-age=900")
        address = answer["Location"]
        assert address.startswith(f"{server}/hearth/{name}?")
        query = {key: value for key, (value,) in parse_qs(urlsplit(address).query).items()}
        assert query["X-Amz-Expires"] == str(SECONDS)
        # The server of the tests does not check signatures, so this test does.
        assert query["X-Amz-Signature"] == signature_of(address)
        for old, new in ((name, "hearth/else"), (f"Expires={SECONDS}", "Expires=9999")):
            assert signature_of(address.replace(old, new)) != query["X-Amz-Signature"]

        content = content_of(s3, name)
        ranged = requests.get(address, headers={"Range": "bytes=2-5"}, timeout=10)
        assert (ranged.status_code, ranged.content) == (206, content[2:6])
        assert ranged.headers["Content-Range"] == f"bytes 2-5/{len(content)}"
        assert (ranged.headers["Content-Type"], ranged.headers["Cache-Control"]) == (
            kind,
            f"private, max-age={SECONDS}",
        )
    address = tus.client.head(f"/media/videos/{video.public_id}/")["Location"]
    assert f"X-Amz-Signature={signature_of(address, method='HEAD')}" in address


def test_large_files_have_several_parts(bucket: Any, s3: Any) -> None:
    size = 6 << 20  # parts have at least 5 MB
    bucket.STORAGES["default"]["OPTIONS"]["transfer_config"].multipart_chunksize = 5 << 20
    content = bytes(range(256)) * (size // 256)
    name = default_storage.save("tiny/large.mp4", ContentFile(content))
    assert s3.head_object(Bucket="hearth", Key=f"hearth/{name}")["ETag"].endswith('-2"')
    with default_storage.open(name) as file:
        assert file.read() == content
    # Nothing is overwritten.
    assert default_storage.save("tiny/large.mp4", ContentFile(b"other")) != name
    assert len(content_of(s3, f"hearth/{name}")) == size
    with pytest.raises(FileNotFoundError):
        default_storage.open("tiny/none.mp4")


def test_without_permission_no_address_is_sent(tus: TusClient, bucket: Any) -> None:
    video = Video.objects.get(key="v0")
    video.file.save("a.mp4", ContentFile(b"0123456789"))
    stranger = Client()
    stranger.force_login(factories.make_outsider("stranger"))
    address = f"/media/videos/{video.public_id}/"
    for client, status in ((Client(), 403), (stranger, 404), (tus.client, 302)):
        answer = client.get(address)
        assert (answer.status_code, "Location" in answer) == (status, status == 302)
    assert tus.client.get(f"{address}poster/").status_code == 404


def test_the_content_security_policy_names_the_bucket_and_no_other_host(
    db: None, bucket: Any, server: str, client: Client
) -> None:
    header = client.get("/accounts/login/")["Content-Security-Policy"]
    policy = dict(part.strip().split(" ", 1) for part in header.split(";"))
    plain = read_settings()["CONTENT_SECURITY_POLICY"]["DIRECTIVES"]
    added = {
        name: set(sources.split()) - set(map(str, plain[name])) for name, sources in policy.items()
    }
    assert {(name, host) for name, hosts in added.items() for host in hosts} == {
        (name, server) for name in ("connect-src", "img-src", "media-src")
    }


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"MEDIA_BUCKET_REGION": "eu-central-1"},
        {"MEDIA_BUCKET_ENDPOINT": "https://s3.example:9000", "MEDIA_BUCKET_PREFIX": "a/b"},
    ],
)
def test_the_content_security_policy_allows_the_signed_addresses(
    s3: Any, variables: dict[str, str]
) -> None:
    site = read_settings(MEDIA_BUCKET="hearth", **variables)
    storage = BucketStorage(**site["STORAGES"]["default"]["OPTIONS"])
    address = storage.signed_address("a.mp4", content_type="video/mp4", method="GET")
    assert "{0.scheme}://{0.netloc}".format(urlsplit(address)) in site["MEDIA_ORIGINS"]
    assert len(site["MEDIA_ORIGINS"]) == 1
    assert "hearth" in site["MEDIA_ORIGINS"][0] or "example" in site["MEDIA_ORIGINS"][0]


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        ({"MEDIA_BUCKET": "my.bucket"}, "without dots"),
        ({"VIDEO_BUCKETS": "clips,b/c"}, "without dots"),
        ({"MEDIA_BUCKET_ENDPOINT": "s3.example"}, "an address without a path"),
        ({**INSECURE, "MEDIA_BUCKET": "hearth"}, "must begin with https://"),
        ({"MEDIA_BUCKET_PREFIX": "/"}, "MEDIA_BUCKET_PREFIX must be a name"),
        ({"MEDIA_ADDRESS_SECONDS": "5"}, "from 60 to 604800"),
    ],
)
def test_wrong_settings_are_refused(variables: dict[str, str], reason: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=reason):
        read_settings(**variables)


def test_https_is_not_required_if_browsers_read_no_bucket() -> None:
    assert read_settings(**INSECURE, VIDEO_BUCKETS="clips")["MEDIA_ORIGINS"] == []


def test_sites_without_a_bucket_do_not_load_its_library() -> None:
    code = (
        "import django, sys; django.setup(); import config.urls, config.celery; "
        "sys.exit('boto3' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
    assert "FileSystemStorage" in read_settings()["STORAGES"]["default"]["BACKEND"]


def test_pictures_of_guidelines_are_in_the_bucket(tus: TusClient, bucket: Any, s3: Any) -> None:
    benchmark = Video.objects.get(key="v0").benchmark
    example = Example(text="a red square", content=picture())
    for _ in range(2):  # the second version has the same file
        write_guideline(benchmark=benchmark, by=OPERATOR, text="x", pictures=[example])
    (name,) = names_in(s3)
    assert content_of(s3, name) == as_jpeg(picture())
    shown = GuidelinePicture.objects.order_by("pk").last()
    assert shown is not None
    address = f"/media/guidelines/{shown.public_id}/"
    answer = requests.get(tus.client.get(address)["Location"], timeout=10)
    assert (answer.headers["Content-Type"], answer.content) == ("image/jpeg", as_jpeg(picture()))
    assert Client().get(address).status_code == 403


# --- Preparing, housekeeping, backups -------------------------------------------------------


def test_the_same_file_is_copied_in_the_bucket(
    tus: TusClient, bucket: Any, s3: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = make_video(tmp_path / "good.mp4").read_bytes()
    tus.upload("v0.mp4", content)
    run_jobs()
    monkeypatch.delattr(preparing, "limits_of")  # no file is prepared again
    tus.upload("v1.mp4", content)
    run_jobs()
    first, second = Video.objects.exclude(file="").order_by("key")
    for field in ("file", "poster", "sheet"):
        one, two = (f"hearth/{getattr(video, field).name}" for video in (first, second))
        assert content_of(s3, one) == content_of(s3, two)
    assert len(names_in(s3)) == 6


def test_a_bucket_that_refuses_a_file_does_not_stop_the_job(
    tus: TusClient, bucket: Any, s3: Any, tmp_path: Path
) -> None:
    s3.delete_bucket(Bucket="hearth")
    tus.upload("v0.mp4", make_video(tmp_path / "good.mp4").read_bytes())
    tus.upload("v1.mp4", b"no video")
    run_jobs()
    assert states_and_reasons()["v0.mp4"] == ("refused", preparing.NO_BUCKET)
    assert states_and_reasons()["v1.mp4"][0] == "refused"
    finding = check_bucket()
    assert (finding.is_ok, "hearth" in finding.text) == (False, True)

    s3.create_bucket(Bucket="hearth")
    assert check_bucket().is_ok
    bucket.STORAGES["default"]["OPTIONS"]["endpoint_url"] = "http://127.0.0.1:9"
    storage = BucketStorage(**bucket.STORAGES["default"]["OPTIONS"])
    with pytest.raises(BucketUnavailable, match="does not answer"):
        storage.check()
    tus.client.post("/benchmarks/tiny/videos/new/retry/")
    run_jobs()
    assert states_and_reasons()["v0.mp4"] == ("playable", "")


def test_housekeeping_removes_only_objects_to_which_no_row_refers(
    tus: TusClient, bucket: Any, s3: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    video = Video.objects.get(key="v0")
    video.file.save("a.mp4", ContentFile(b"named"))
    example = Example(text="a red square", content=picture())
    write_guideline(benchmark=video.benchmark, by=OPERATOR, text="x", pictures=[example])
    named = names_in(s3)
    strays = ["hearth/stray.mp4", "hearth/tiny/deep/stray.jpg"]
    for name in [*strays, "elsewhere.mp4", "hearth-2/x.mp4"]:
        s3.put_object(Bucket="hearth", Key=name, Body=b"123")
    before = names_in(s3)

    def media() -> tuple[int, int]:
        figures = housekeeping.run_housekeeping(by=OPERATOR)
        (step,) = (one for one in figures if one["step"] == "media")
        return step["removed"], step["bytes"]

    assert media() == (0, 0)  # all are new
    monkeypatch.setattr(housekeeping, "FILE_AGE", timedelta(0))
    assert media() == (2, 6)
    assert before - names_in(s3) == set(strays)
    assert named <= names_in(s3)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("target", ["bucket", "folder"])
def test_a_backup_contains_the_objects(
    bucket: Any, s3: Any, server: str, tmp_path: Path, target: str
) -> None:
    campaign = factories.make_campaign(tmp_path, captions=1, videos=3)
    first, second, _ = Video.objects.order_by("pk")
    first.file.save("a.mp4", ContentFile(b"the bytes of a video"))
    second.file.save("b.mp4", ContentFile(b"of a lost video"))
    example = Example(text="a red square", content=picture())
    write_guideline(benchmark=campaign.benchmark, by=OPERATOR, text="x", pictures=[example])
    facts = make_backup(path=tmp_path / "one.tar", by=OPERATOR)
    assert facts["missing"] == 0
    default_storage.delete(second.file.name or "")
    facts = make_backup(path=tmp_path / "one.tar", by=OPERATOR)
    assert facts["missing"] == 1

    variables = {"MEDIA_BUCKET": "other", "MEDIA_BUCKET_ENDPOINT": server}
    with empty_site(tmp_path) as plain:
        site = Site(plain.home, plain.database_url, variables if target == "bucket" else {})
        restored = site.result_of("restore", str(tmp_path / "one.tar"))
        assert restored["files"] == facts["files"]
        media = site.home / "media"
        found = {
            str(path.relative_to(media)): path.read_bytes()
            for path in media.rglob("*")
            if path.is_file()
        }
    if target == "bucket":
        found = {
            name.removeprefix("hearth/"): content_of(s3, name, "other")
            for name in names_in(s3, "other")
        }
        assert s3.head_object(Bucket="other", Key=f"hearth/{first.file.name}")["ContentType"] == (
            "video/mp4"
        )
    stored = {first.file.name, GuidelinePicture.objects.get().file.name}
    assert found == {name: content_of(s3, f"hearth/{name}") for name in stored}


# --- Buckets from which videos are added ----------------------------------------------------------

FOLDER = "/benchmarks/tiny/videos/new/folder/"


def test_the_videos_of_a_bucket_are_added(
    tus: TusClient,
    bucket: Any,
    s3: Any,
    tmp_path: Path,
    django_capture_on_commit_callbacks: Any,
) -> None:
    good = make_video(tmp_path / "good.mp4").read_bytes()
    objects = {"v0.mp4": good, "deep/v1.mp4": b"no video", "v2.mp4": good * 2, "new.mp4": good}
    hidden = {"deep/": b"", "deep/.v2.mp4": good, ".trash/v0.mp4": good}
    for name, content in {**objects, **hidden}.items():
        s3.put_object(Bucket="clips", Key=f"raw/{name}", Body=content)
    s3.put_object(Bucket="clips", Key="elsewhere/v2.mp4", Body=good)
    assert "s3://clips/" in tus.client.get("/benchmarks/tiny/videos/new/").content.decode()

    for refused in ("s3://hearth/", "s3://clips2/raw", "s3://", "s3:///raw"):
        assert tus.client.post(FOLDER, {"folder": refused}).status_code == 400
    assert tus.client.post(FOLDER, {"folder": "s3://clips/raw/"}).status_code == 302
    page = tus.client.get("/benchmarks/tiny/videos/new/").content.decode()
    assert "The folder has 3 files for videos, 1 file whose name matches no video." in page
    bucket.VIDEO_UPLOAD_ROOT = tmp_path / "fetched"
    bucket.VIDEO_BYTES_MAX = len(good)  # as if a limit was lowered
    with django_capture_on_commit_callbacks(execute=True):
        run_jobs()
    states = states_and_reasons()
    assert states["v0.mp4"] == ("playable", "")
    assert states["v1.mp4"][0] == states["v2.mp4"][0] == "refused"
    assert "VIDEO_MAX_MB" in states["v2.mp4"][1]
    video = Video.objects.get(key="v0")
    assert f"hearth/{video.file.name}" in names_in(s3)
    assert video.sha256 == hashlib.sha256(good).hexdigest()
    # Nothing stays on the disk, and nothing is removed from the bucket.
    assert list(Path(bucket.VIDEO_UPLOAD_ROOT).iterdir()) == []
    assert {f"raw/{name}" for name in objects} <= names_in(s3, "clips")

    # A refused file is fetched again.
    s3.put_object(Bucket="clips", Key="raw/deep/v1.mp4", Body=good)
    s3.delete_object(Bucket="clips", Key="raw/v2.mp4")
    tus.client.post("/benchmarks/tiny/videos/new/retry/")
    run_jobs()
    assert states_and_reasons()["v1.mp4"] == ("playable", "")
    assert states_and_reasons()["v2.mp4"] == (
        "refused",
        "The file cannot be read from the bucket clips. It does not exist.",
    )
    bucket.VIDEO_BUCKETS = []
    tus.client.post("/benchmarks/tiny/videos/new/retry/")
    run_jobs()
    assert (
        states_and_reasons()["v2.mp4"][1] == "The site does not allow this bucket (VIDEO_BUCKETS)."
    )


def test_a_long_bucket_is_read_page_by_page(
    tus: TusClient, bucket: Any, s3: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buckets, "OBJECTS_PER_PAGE", 2)
    for number in range(5):
        s3.put_object(Bucket="clips", Key=f"{number:04}.mp4", Body=b"")
    s3.put_object(Bucket="clips", Key="v0.mp4", Body=b"x")
    tus.client.post(FOLDER, {"folder": "s3://clips"})
    page = tus.client.get("/benchmarks/tiny/videos/new/").content.decode()
    assert "The folder has 1 file for videos, 5 files whose name matches no video." in page
    monkeypatch.setattr("pooling.services.folders.FILES_MAX", 5)
    assert tus.client.post(FOLDER, {"folder": "s3://clips"}).status_code == 400


def test_a_file_that_arrives_too_slowly_is_left_for_other_jobs(
    tus: TusClient, bucket: Any, s3: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    s3.put_object(Bucket="clips", Key="v0.mp4", Body=b"x")
    tus.client.post(FOLDER, {"folder": "s3://clips/"})
    bucket.VIDEO_UPLOAD_ROOT = tmp_path / "fetched"
    monkeypatch.setattr(preparing, "TICK_SECONDS", 0)
    left = iter([60, 0, 0] * 3)
    monkeypatch.setattr(preparing._Work, "seconds_left", property(lambda work: next(left)))
    states = []
    for _ in range(3):
        queue_uploads()
        run_jobs()
        states.append(states_and_reasons()["v0.mp4"])
    assert states == [("waiting", ""), ("waiting", ""), ("refused", preparing.SLOW_BUCKET)]
    assert list((tmp_path / "fetched").iterdir()) == []


def test_a_full_disk_refuses_the_files_of_a_bucket(tus: TusClient, bucket: Any, s3: Any) -> None:
    for number in range(2):
        s3.put_object(Bucket="clips", Key=f"v{number}.mp4", Body=b"x")
    tus.client.post(FOLDER, {"folder": "s3://clips/"})
    bucket.DISK_RESERVE_BYTES = 1 << 60
    run_jobs()
    full = ("refused", preparing.DISK_FULL)
    assert states_and_reasons() == {"v0.mp4": full, "v1.mp4": full}
