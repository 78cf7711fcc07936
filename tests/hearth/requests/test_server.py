"""Requests to gunicorn, with a limit on the size of files in place of a full disk."""

from __future__ import annotations

import http.client
import json
import os
import re
import resource
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from hearth.accounts.roles import Role
from hearth.jobs.models import Job
from tests.accounts.world import token_of
from tests.conftest import ROOT
from tests.factories import make_benchmark, make_user
from tests.hearth.requests.world import FORM, MULTIPART, multipart
from tests.waiting import wait_for
from tests.webserver import WebServer, web_server

pytestmark = pytest.mark.django_db(transaction=True)

FILE_BYTES_MAX = 24 << 20
TOO_LARGE = 60_000_000
API_UPLOAD = "/api/v1/benchmarks/tiny/runs/"
FULL = "Nothing was stored. Tell an admin, and try again later."
RUN = b"c0 Q0 v1 1 1.0 t\n"


@pytest.fixture(scope="module")
def limited(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    with web_server(tmp_path_factory.mktemp("home"), DISK_RESERVE_MB="1") as started:
        for pid in started.workers:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (FILE_BYTES_MAX, FILE_BYTES_MAX))
        yield started


@pytest.fixture
def server(transactional_db: None, limited: WebServer) -> WebServer:
    """The web server of all tests here, without uploads."""
    shutil.rmtree(limited.home / "uploads", ignore_errors=True)
    return limited


def request(
    server: WebServer, method: str, path: str, body: bytes | None = None, **headers: str
) -> tuple[int, str]:
    """Return the status and the text of the response. It may come before the body was sent."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        # The server sends its response to a refused body, and then closes the connection.
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.request(method, path, body, named)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def uploads_of(server: WebServer) -> list[str]:
    return sorted(path.name for path in (server.home / "uploads").rglob("*") if path.is_file())


def test_an_upload_that_fills_the_disk_is_refused_and_a_smaller_one_is_stored(
    server: WebServer, tmp_path: Path
) -> None:
    make_benchmark(tmp_path, captions=2, videos=3)
    token = token_of(make_user("rosa", Role.RESEARCHER))
    headers = {"Authorization": f"Token {token}", "Content_Type": MULTIPART}
    large = RUN * (TOO_LARGE // len(RUN))

    refused = request(server, "POST", API_UPLOAD, multipart({"system": "s"}, large), **headers)
    assert refused[0] == 507, refused
    assert json.loads(refused[1]) == {"detail": FULL}
    assert (uploads_of(server), Job.objects.count()) == ([], 0)

    taken = request(server, "POST", API_UPLOAD, multipart({"system": "s"}, RUN), **headers)
    assert taken[0] == 202, taken
    assert uploads_of(server) == [Job.objects.get().params["upload"]]


HALF_SENT = (
    b"POST /accounts/login/ HTTP/1.1\r\nHost: localhost\r\n",
    b"POST /accounts/login/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nlogin",
    b"",
)


def threads_of_serve() -> int:
    """Return the number of threads that `make serve` sets for each process."""
    made = subprocess.run(
        ["make", "--print-data-base", "--dry-run", "serve"],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name != "WEB_THREADS"},
        capture_output=True,
        text=True,
        check=True,
    )
    (threads,) = re.findall(r"^serve: WEB_THREADS = (\d+)$", made.stdout, re.MULTILINE)
    return int(threads)


def test_sixteen_half_sent_requests_make_no_one_wait(db: None, tmp_path: Path) -> None:
    """One process serves the site here. `make serve` starts several."""
    with web_server(tmp_path / "home", threads=threads_of_serve()) as server, ExitStack() as held:
        for number in range(16):
            half = socket.create_connection(("127.0.0.1", server.port))
            held.enter_context(half)
            half.sendall(HALF_SENT[number % len(HALF_SENT)])
        for _ in range(3):
            began = time.monotonic()
            assert server.answers()
            assert time.monotonic() - began < 2


@pytest.mark.parametrize("kept_open", [False, True])
def test_an_upload_whose_connection_is_cut_stores_nothing(
    server: WebServer, tmp_path: Path, kept_open: bool
) -> None:
    """The line that was cut could be valid, so only the announced length shows the loss."""
    make_benchmark(tmp_path, captions=2, videos=3)
    token = token_of(make_user("rosa", Role.RESEARCHER))
    body = multipart({"system": "s"}, RUN * 400_000)
    head = (
        f"POST {API_UPLOAD} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        f"Authorization: Token {token}\r\nContent-Type: {MULTIPART}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(head.encode() + body[: len(body) // 2])
        if kept_open:  # the server can still answer
            connection.shutdown(socket.SHUT_WR)
            status = int(connection.recv(1000).split()[1])
            assert status == 400

    assert wait_for(lambda: uploads_of(server) == [])
    assert Job.objects.count() == 0
    taken = request(
        server,
        "POST",
        API_UPLOAD,
        multipart({"system": "s"}, RUN),
        Authorization=f"Token {token}",
        Content_Type=MULTIPART,
    )
    assert taken[0] == 202, taken


def test_a_visitor_stores_nothing(server: WebServer) -> None:
    """Without the request border, the CSRF check would store 60 MB before it refuses them."""
    token = {"Cookie": f"csrftoken={'a' * 32}"}
    login, body = "/accounts/login/", multipart({"login": "a"}, b"x" * TOO_LARGE)
    for content_type in (MULTIPART, FORM):
        refused = request(server, "POST", login, body, Content_Type=content_type, **token)
        assert (refused[0], "The request is larger than 1 MB." in refused[1]) == (413, True)
    assert uploads_of(server) == []

    encoded = "multipart/form-data; boundary*=none''x"
    assert request(server, "POST", login, b"x", Content_Type=encoded)[0] == 400
    chunked = {"Transfer_Encoding": "chunked", "Content_Type": FORM}
    assert request(server, "POST", login, b"1\r\na\r\n0\r\n\r\n", **chunked)[0] == 411
    foreign = request(server, "GET", f"http://evil.example{login}", Host="evil.example")
    assert (foreign[0], "evil" in foreign[1]) == (400, False)
    own = f"127.0.0.1:{server.port}"
    absolute = request(server, "GET", f"http://evil.example{login}", Host=own)
    assert (absolute[0], "evil" in absolute[1]) == (200, False)
