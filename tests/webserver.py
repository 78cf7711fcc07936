"""The production web server on the database of the tests, with a separate HEARTH_HOME."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hearth.processes import end
from tests.conftest import ROOT, worker_environment
from tests.processes import children_of
from tests.services import free_port
from tests.waiting import wait_for


@dataclass(frozen=True)
class WebServer:
    """gunicorn with one worker process. Its files are in `home`."""

    process: subprocess.Popen[bytes]
    port: int
    home: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        return (self.home / "gunicorn.log").read_text(encoding="utf-8")

    @property
    def workers(self) -> list[int]:
        return children_of(self.process.pid)

    def answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=10) as connection:
                connection.sendall(b"GET /accounts/login/ HTTP/1.0\r\nHost: localhost\r\n\r\n")
                return connection.recv(12).endswith(b" 200")
        except OSError:
            return False


@contextmanager
def web_server(
    home: Path, *, port: int = 0, threads: int = 2, **variables: str
) -> Iterator[WebServer]:
    """Start gunicorn with these environment variables, and stop it at the end."""
    home.mkdir(parents=True, exist_ok=True)
    port = port or free_port()
    command = ["gunicorn", "config.wsgi", "--config", "deploy/gunicorn.conf.py"]
    environment = {**worker_environment(""), "HEARTH_HOME": str(home), "WEB_CONCURRENCY": "1"}
    environment["WEB_THREADS"] = str(threads)
    with (home / "gunicorn.log").open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", *command, "--bind", f"127.0.0.1:{port}"],
            cwd=ROOT,
            env=environment | variables,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    server = WebServer(process, port, home)
    try:
        assert wait_for(server.answers), server.log
        yield server
    finally:
        end(process)
