"""A site for a drill: database, web server, worker, and the people who use it."""

from __future__ import annotations

import http.client
import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from config.shared.processes import child
from tests.benchmarks.commands import ROOT
from tests.databases import migrate
from tests.faults.postgres import PrivatePostgres
from tests.services import free_port
from tests.waiting import wait_for

CSRF = "0" * 32
OK = range(200, 300)
# Statuses after which a client repeats the request: too many requests, database unavailable.
LATER = (429, 503)


class Site:
    """A migrated site in a folder. Without `postgres`, its database is an SQLite file."""

    def __init__(self, folder: Path, postgres: PrivatePostgres | None, **variables: str) -> None:
        self.folder = folder
        self.postgres = postgres
        self.port = free_port()
        self.variables = variables
        if postgres is None:
            self.migrate()
        else:
            postgres.new_database(self.migrate)

    @property
    def environment(self) -> dict[str, str]:
        return {
            **{name: value for name, value in os.environ.items() if name != "REDIS_URL"},
            "HEARTH_HOME": str(self.folder),
            "DATABASE_URL": self.postgres.url if self.postgres else f"sqlite:///{self.sqlite_file}",
            **self.variables,
        }

    @property
    def sqlite_file(self) -> Path:
        return self.folder / "hearth.sqlite3"

    @property
    def database(self) -> str:
        return "PostgreSQL" if self.postgres else "SQLite"

    def migrate(self) -> None:
        migrate(self.environment)

    def run(self, *arguments: str) -> bytes:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.PIPE,
            check=True,
        )
        return done.stdout

    def world(self, *arguments: str) -> dict[str, Any]:
        """Run `tests.faults.world` and return its JSON object."""
        result: dict[str, Any] = json.loads(self.run("-m", "tests.faults.world", *arguments))
        return result

    def rows(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Run one statement on the database, and commit it. Return its rows."""
        if self.postgres is None:
            with closing(sqlite3.connect(self.sqlite_file, timeout=60)) as connection, connection:
                return connection.execute(sql, parameters).fetchall()
        import psycopg2

        with closing(psycopg2.connect(self.postgres.url)) as connection, connection:
            cursor = connection.cursor()
            cursor.execute(sql.replace("?", "%s"), parameters)
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def server(
        self, *options: str, application: str = "config.wsgi"
    ) -> Iterator[subprocess.Popen[bytes]]:
        words = f"gunicorn {application} --config config/deploy/gunicorn.conf.py"
        words += f" --chdir {ROOT} --bind 127.0.0.1:{self.port} --workers 2 --threads 4"
        arguments = [*words.split(), *options]
        with child(arguments, log=self.folder / "web.log", **self.environment) as process:
            assert wait_for(lambda: self.person("").get("/accounts/login/") == 200), self.log("web")
            yield process

    @contextmanager
    def worker(self, application: str = "config.celery") -> Iterator[subprocess.Popen[bytes]]:
        """Run a worker with one child process."""
        words = f"celery -A {application} worker --loglevel=INFO --concurrency=1".split()
        before = self.log("worker").count(" ready.")
        with child(words, log=self.folder / "worker.log", **self.environment) as process:
            assert wait_for(lambda: self.log("worker").count(" ready.") > before)
            yield process

    @contextmanager
    def scheduler(self) -> Iterator[subprocess.Popen[bytes]]:
        words = "celery -A config.celery beat --loglevel=INFO".split()
        with child(words, log=self.folder / "scheduler.log", **self.environment) as process:
            yield process

    @contextmanager
    def sweeper(self) -> Iterator[None]:
        """Sweep jobs every half second, as the scheduler does every twenty seconds."""
        words = ["tests.faults.world", "sweep"]
        with child(words, log=self.folder / "sweeper.log", **self.environment):
            yield

    def log(self, name: str) -> str:
        path = self.folder / f"{name}.log"
        return path.read_text() if path.exists() else ""

    def person(self, session: str) -> Person:
        return Person(self.port, session)


class Person:
    """A signed-in person, whose browser repeats a request until it succeeds."""

    def __init__(self, port: int, session: str) -> None:
        self.port = port
        self.headers = {
            "Cookie": f"sessionid={session}; csrftoken={CSRF}",
            "X-CSRFToken": CSRF,
            "Content-Type": "application/json",
        }
        # Statuses of answers that were neither a success nor one of `LATER`.
        self.wrong: list[int] = []

    def get(self, path: str) -> int | None:
        return self._request("GET", path, None, {})[0]

    def post(self, path: str, body: object, **headers: str) -> tuple[int | None, dict[str, Any]]:
        """Send a request. The status is None if no complete answer came."""
        return self._request("POST", path, json.dumps(body).encode(), headers)

    def insist(self, path: str, body: object, *, seconds: float = 120) -> dict[str, Any]:
        """Repeat a request until it succeeds, and return the answer."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            status, answer = self.post(path, body)
            if status in OK:
                return answer
            if status is not None and status not in LATER:
                self.wrong.append(status)
            time.sleep(0.25)
        raise TimeoutError(f"{path} has no answer: {self.wrong[-3:]}")

    def claim(self, campaign: int, count: int = 1) -> list[int]:
        """Return the numbers of the assignments that the person holds."""
        answer = self.insist(f"/api/v1/campaigns/{campaign}/claim/", {"count": count})
        return [item["assignment"] for item in answer["items"]]

    def _request(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[int | None, dict[str, Any]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, {**self.headers, **headers})
            response = connection.getresponse()
            content = response.read()
        except (OSError, http.client.HTTPException):
            return None, {}
        finally:
            connection.close()
        is_json = response.headers.get_content_type() == "application/json"
        return response.status, json.loads(content) if is_json else {}


def judged_too_often(site: Site) -> int:
    """Return the number of tasks with more counted labels than planned, or twice by one person."""
    too_many = site.rows(
        "SELECT COUNT(*) FROM annotation_judgmenttask WHERE labels_live > labels_required"
    )
    twice = site.rows(
        "SELECT COUNT(*) FROM (SELECT 1 FROM annotation_judgment WHERE state = 'live' "
        "GROUP BY task_id, annotator_id HAVING COUNT(*) > 1) AS twice"
    )
    return int(too_many[0][0]) + int(twice[0][0])


def total(site: Site) -> int:
    return int(site.rows("SELECT COUNT(*) FROM annotation_judgment")[0][0])
