"""gunicorn with a limit on the size of files, which stands for a full disk (F8)."""

from __future__ import annotations

import http.client
import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from rest_framework.authtoken.models import Token

from config.accounts.roles import Role
from config.jobs.models import Job
from config.shared.processes import end
from tests.config.requests.world import FORM, MULTIPART, multipart
from tests.conftest import ROOT, worker_environment
from tests.factories import make_benchmark, make_user
from tests.services import free_port
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)

FILE_BYTES_MAX = 24 << 20
TOO_LARGE = 60_000_000
API_UPLOAD = "/api/v1/benchmarks/tiny/runs/"
FULL = "Nothing was stored. Tell an admin, and try again later."
RUN = b"c0 Q0 v1 1 1.0 t\n"


@pytest.fixture
def uploads(tmp_path: Path) -> Path:
    """The folder of the server, whose files are not those of other tests."""
    return tmp_path / "home" / "uploads"


@pytest.fixture
def port(transactional_db: None, tmp_path: Path, uploads: Path) -> Iterator[int]:
    found = free_port()
    gunicorn = [sys.executable, "-m", "gunicorn", "config.wsgi", "--bind", f"127.0.0.1:{found}"]
    log = tmp_path / "gunicorn.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*gunicorn, "--threads", "2", "--config", "config/deploy/gunicorn.conf.py"],
            cwd=ROOT,
            env={**worker_environment(""), "HEARTH_HOME": str(tmp_path / "home")}
            | {"WEB_CONCURRENCY": "1", "DISK_RESERVE_MB": "1"},
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    try:
        assert wait_for(lambda: answers(found)), log.read_text()
        for pid in children_of(process.pid):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (FILE_BYTES_MAX, FILE_BYTES_MAX))
        yield found
    finally:
        end(process)


def children_of(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in path.read_text().split()]


def answers(port: int) -> bool:
    try:
        return request(port, "GET", "/accounts/login/")[0] == 200
    except OSError:
        return False


def request(
    port: int, method: str, path: str, body: bytes | None = None, **headers: str
) -> tuple[int, str]:
    """Return the status and the text of an answer, which may come before the body was sent."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        # The server closes the connection of a refused body, and has sent its answer before.
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.request(method, path, body, named)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def files_in(folder: Path) -> list[Any]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_a_full_disk_stops_uploads_and_nothing_else(
    port: int, tmp_path: Path, uploads: Path
) -> None:
    make_benchmark(tmp_path, captions=2, videos=3)
    token = Token.objects.create(user=make_user("rosa", Role.RESEARCHER))
    headers = {"Authorization": f"Token {token.key}", "Content_Type": MULTIPART}
    large = RUN * (TOO_LARGE // len(RUN))

    refused = request(port, "POST", API_UPLOAD, multipart({"system": "s"}, large), **headers)
    assert refused[0] == 507, refused
    assert json.loads(refused[1]) == {"detail": FULL}
    assert (files_in(uploads), Job.objects.count()) == ([], 0)

    taken = request(port, "POST", API_UPLOAD, multipart({"system": "s"}, RUN), **headers)
    assert taken[0] == 202, taken
    assert [path.name for path in files_in(uploads)] == [Job.objects.get().params["upload"]]


@pytest.mark.parametrize("content_type", [MULTIPART, FORM])
def test_a_visitor_stores_nothing(port: int, uploads: Path, content_type: str) -> None:
    """A1: the sign-in page had parsed 60 MB into a file before it asked who sent them."""
    body = multipart({"login": "a"}, b"x" * TOO_LARGE)
    status, text = request(port, "POST", "/accounts/login/", body, Content_Type=content_type)
    assert (status, "The request is larger than 1 MB." in text) == (413, True)
    assert files_in(uploads) == []


def test_unreadable_and_chunked_requests_are_answered(port: int) -> None:
    encoded = "multipart/form-data; boundary*=none''x"
    assert request(port, "POST", "/accounts/login/", b"x", Content_Type=encoded)[0] == 400
    chunked = {"Transfer_Encoding": "chunked", "Content_Type": FORM}
    assert request(port, "POST", "/accounts/login/", b"1\r\na\r\n0\r\n\r\n", **chunked)[0] == 411
    assert request(port, "GET", "/accounts/login/")[0] == 200


def test_the_reserve_is_on_the_disk_of_the_uploads() -> None:
    assert Path(settings.FILE_UPLOAD_TEMP_DIR).parent == settings.UPLOAD_ROOT
