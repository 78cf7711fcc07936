"""Sending a folder of videos with the client, to a real web server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hearth.accounts.models import TokenRight
from hearth.accounts.roles import Role
from hearth.audit.models import AuditEntry
from hearth_client import Benchmark, Hearth, Refused
from hearth_client.cli import main
from hearth_client.videos import VideoSender, files_of
from pooling.models import VideoUpload
from pooling.selectors.uploads import upload_path
from tests.accounts.world import make_member, token_of
from tests.factories import make_benchmark
from tests.webserver import WebServer

pytestmark = pytest.mark.django_db(transaction=True)
CONTENT = bytes(range(256)) * 10


@pytest.fixture
def url(server: WebServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    make_benchmark(tmp_path, captions=1, videos=3)
    monkeypatch.setattr("hearth_client.videos.PART_BYTES", 1000)
    return server.url


@pytest.fixture
def benchmark(url: str) -> Benchmark:
    return Hearth(url, token_of(make_member("lena", Role.LEAD, of="tiny"))).benchmark("tiny")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "videos"
    (made / "more").mkdir(parents=True)
    for name in ("v0.mp4", "more/v1.mp4", "other.mp4", ".hidden.mp4"):
        (made / name).write_bytes(CONTENT)
    return made


def upload_videos(sender: type[VideoSender], benchmark: Benchmark, folder: Path) -> None:
    path = "benchmarks/tiny/videos/uploads/"
    list(sender(benchmark.site, path, files_of(folder), lambda done, total: None).send())


def stored() -> dict[str, tuple[str, int, bytes]]:
    uploads = VideoUpload.objects.select_related("video")
    return {
        one.video.key: (one.state, one.offset, upload_path(one).read_bytes())
        for one in uploads
        if one.video
    }


def test_a_folder_is_sent_in_parts(benchmark: Benchmark, folder: Path) -> None:
    seen: list[tuple[int, int]] = []
    rows = benchmark.upload_videos(folder, on_bytes=lambda done, total: seen.append((done, total)))
    reason = "The benchmark has no video of this name. (HTTP 400)"
    assert rows == [
        {"name": "more/v1.mp4", "refused": ""},
        {"name": "other.mp4", "refused": reason},
        {"name": "v0.mp4", "refused": ""},
    ]
    complete = ("waiting", len(CONTENT), CONTENT)
    assert stored() == {"v0": complete, "v1": complete}
    parts = [0, 1000, 2000, 2560, 5120, 5120, 6120, 7120, 7680]
    assert seen == [(done, 3 * len(CONTENT)) for done in parts]
    assert {row["name"]: row["state"] for row in benchmark.video_uploads()} == {
        "more/v1.mp4": "waiting",
        "v0.mp4": "waiting",
    }
    assert AuditEntry.objects.filter(interface="api", act="job_started").count() == 1


def test_a_second_call_continues_after_an_interruption(benchmark: Benchmark, folder: Path) -> None:
    sent: list[int] = []

    class Cut(VideoSender):
        def _send_part(self, upload: str, offset: int, part: bytes) -> int:
            is_first = offset not in sent
            sent.append(offset)
            if offset == 2000 and is_first:
                raise KeyboardInterrupt
            return super()._send_part(upload, offset, part)

    with pytest.raises(KeyboardInterrupt):
        upload_videos(Cut, benchmark, folder / "more")
    assert stored()["v1"] == ("arriving", 2000, CONTENT[:2000])
    upload_videos(Cut, benchmark, folder / "more")
    assert stored()["v1"] == ("waiting", len(CONTENT), CONTENT)
    assert sent == [0, 1000, 2000, 2000]


def test_a_part_that_is_repeated_after_a_lost_response_is_stored_once(
    benchmark: Benchmark, folder: Path
) -> None:
    sent: list[int] = []

    class Twice(VideoSender):
        def _send_part(self, upload: str, offset: int, part: bytes) -> int:
            sent.append(offset)
            super()._send_part(upload, offset, part)
            return super()._send_part(upload, offset, part)  # after a lost response

    upload_videos(Twice, benchmark, folder / "more")
    assert stored()["v1"] == ("waiting", len(CONTENT), CONTENT)
    assert sent == [0, 1000, 2000]


def test_uploading_needs_a_token_that_may_write_and_the_role_of_a_lead(
    url: str, folder: Path
) -> None:
    lead, researcher = (
        make_member(name, role, of="tiny")
        for name, role in (("lena", Role.LEAD), ("rosa", Role.RESEARCHER))
    )
    for token in (token_of(lead, TokenRight.READ), token_of(researcher)):
        with pytest.raises(Refused) as refused:
            Hearth(url, token).benchmark("tiny").upload_videos(folder)
        assert refused.value.status == 403
    assert VideoUpload.objects.count() == 0


def test_the_command_prints_the_names_of_the_files(
    benchmark: Benchmark, url: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setenv("HEARTH_URL", url)
    monkeypatch.setenv("HEARTH_TOKEN", benchmark.site._session.auth._token)  # type: ignore[union-attr]
    assert main(["videos", "upload", str(folder), "tiny", "--no-wait", "--json"]) == 0
    output, notes = capsys.readouterr()
    assert [row["name"] for row in json.loads(output)["files"]] == [
        "more/v1.mp4",
        "other.mp4",
        "v0.mp4",
    ]
    assert notes.endswith("2 of 3 files were sent.\n")
