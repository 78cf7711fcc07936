"""Web servers in separate processes that use the database of the test."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import requests
from django.contrib.auth.hashers import PBKDF2PasswordHasher

from hearth.accounts.models import User
from tests.conftest import ROOT, database_url_of_tests
from tests.factories import PASSWORD
from tests.services import free_port
from tests.waiting import wait_for


@dataclass(frozen=True)
class Server:
    url: str
    log: Path


def with_production_hash(person: User) -> User:
    """Store the password with a hash that web servers accept. They refuse the fast test hash."""
    person.password = PBKDF2PasswordHasher().encode(PASSWORD, "salt-of-the-test-person")
    person.save()
    return person


@contextmanager
def web_server(
    folder: Path, name: str = "web", port: int = 0, **variables: str
) -> Iterator[Server]:
    """Run gunicorn with one worker process until the block ends.

    `variables` are added to the environment of gunicorn.
    """
    port, log = port or free_port(), folder / f"{name}.log"
    command = ["gunicorn", "--config", "deploy/gunicorn.conf.py", "--workers", "1"]
    command += ["--bind", f"127.0.0.1:{port}", "config.wsgi"]
    environment = {**os.environ, "DATABASE_URL": database_url_of_tests(), **variables}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=ROOT,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    server = Server(f"http://127.0.0.1:{port}", log)
    try:
        assert wait_for(lambda: answers(server.url) or process.poll() is not None)
        assert process.poll() is None, log.read_text()
        yield server
    finally:
        process.terminate()
        process.wait(timeout=60)


def answers(url: str) -> bool:
    try:
        return requests.get(f"{url}/healthz", timeout=5).status_code < 600
    except requests.RequestException:
        return False


class Visitor(requests.Session):
    """A browser without JavaScript that keeps cookies and sends the CSRF token."""

    def __init__(self, server: Server) -> None:
        super().__init__()
        self.url = server.url
        self.trust_env = False

    def open(self, path: str, **options: object) -> requests.Response:
        return self.get(self.url + path, timeout=60, **options)  # type: ignore[arg-type]

    def submit(self, path: str, data: dict[str, str], **options: object) -> requests.Response:
        if "csrftoken" not in self.cookies:
            self.open("/accounts/login/")
        token = {"csrfmiddlewaretoken": self.cookies["csrftoken"]}
        return self.post(self.url + path, data | token, timeout=60, **options)  # type: ignore[arg-type]

    def sign_in(self, name: str, password: str, **options: object) -> requests.Response:
        return self.submit("/accounts/login/", {"login": name, "password": password}, **options)
