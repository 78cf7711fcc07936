"""gunicorn distributes connections evenly among its processes."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from pathlib import Path

from tests.databases import ROOT
from tests.services import free_port
from tests.waiting import wait_for

APPLICATION = """
import os

def application(environ, start_response):
    start_response("200 OK", [("Content-Length", str(len(str(os.getpid()))))])
    return [str(os.getpid()).encode()]
"""


def ask(connection: HTTPConnection) -> int:
    """Return the id of the process that answers."""
    connection.request("GET", "/")
    return int(connection.getresponse().read())


def answering(port: int) -> set[int]:
    """Return the processes that answer two connections at the same time."""
    pair = [HTTPConnection("127.0.0.1", port) for _ in range(2)]
    with closing(pair[0]), closing(pair[1]):
        try:
            return {ask(connection) for connection in pair}
        except OSError:
            return set()


def test_each_process_gets_its_share_of_the_connections(tmp_path: Path) -> None:
    (tmp_path / "process_id.py").write_text(APPLICATION, encoding="utf-8")
    port = free_port()
    words = [f"--config={ROOT}/deploy/gunicorn.conf.py", f"--chdir={tmp_path}", "--workers=2"]
    command = [sys.executable, "-m", "gunicorn", *words, f"--bind=127.0.0.1:{port}"]
    with subprocess.Popen([*command, "process_id:application"], cwd=ROOT) as gunicorn:
        try:
            assert wait_for(lambda: len(answering(port)) == 2)
            with ExitStack() as stack:
                connections = [HTTPConnection("127.0.0.1", port) for _ in range(12)]
                for connection in connections:
                    stack.callback(connection.close)
                processes = [ask(connection) for connection in connections]
                assert sorted(Counter(processes).values()) == [6, 6]
                assert [ask(connection) for connection in connections] == processes
        finally:
            gunicorn.terminate()
