"""A site for a drill: database, web server, worker, and the people who use it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from hearth.processes import child
from tests.benchmarks.commands import ROOT
from tests.databases import migrate
from tests.faults.postgres import PrivatePostgres
from tests.services import free_port
from tests.waiting import wait_for

CSRF = "0" * 32
# By default, Celery waits ten seconds for a result of a child process that has died.
LOST_WAIT_SECONDS = 0.5
OK = range(200, 300)
# Statuses after which a client repeats the request: too many requests, database unavailable.
LATER = (429, 503)


class Site:
    """A migrated site in a folder. Its database is an SQLite file if `postgres` is None.

    It is a context manager, which ends the process of `world`.
    """

    def __init__(self, folder: Path, postgres: PrivatePostgres | None, **variables: str) -> None:
        self.folder = folder
        self.postgres = postgres
        self.port = free_port()
        self.variables = variables
        self.filler: subprocess.Popen[str] | None = None
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

    def world(self, *command: str) -> dict[str, Any]:
        """Send a command to `tests.faults.world` and return its JSON object.

        All commands share one process, because starting Django takes two seconds.
        """
        if self.filler is None:
            self.filler = self._start_filler()
        assert self.filler.stdin is not None
        assert self.filler.stdout is not None
        self.filler.stdin.write(" ".join(command) + "\n")
        self.filler.stdin.flush()
        line = self.filler.stdout.readline()
        assert line, self.log("world")[-4000:]
        result: dict[str, Any] = json.loads(line)
        return result

    def _start_filler(self) -> subprocess.Popen[str]:
        with (self.folder / "world.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "tests.faults.world"],
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )

    def __enter__(self) -> Site:
        return self

    def __exit__(self, *error: object) -> None:
        if self.filler is not None:
            self.filler.kill()
            self.filler.communicate()

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
        self, *options: str, application: str = "config.wsgi", preload: bool = True
    ) -> Iterator[subprocess.Popen[bytes]]:
        """Run gunicorn with two processes.

        preload: load the site once, before the processes are forked, so that a new process starts
        at once. In production, each process loads the site.
        """
        words = f"gunicorn {application} --config deploy/gunicorn.conf.py"
        words += f" --chdir {ROOT} --bind 127.0.0.1:{self.port} --workers 2 --threads 4"
        arguments = [*words.split(), *options, *(["--preload"] if preload else [])]
        with child(arguments, log=self.folder / "web.log", **self.environment) as process:
            assert wait_for(lambda: self.person("").get("/accounts/login/") == 200), self.log("web")
            yield process

    @contextmanager
    def worker(self, application: str = "config.celery") -> Iterator[subprocess.Popen[bytes]]:
        """Run a worker with one child process, whose death it notices at once.

        At the end, the worker is killed, because a warm shutdown takes five seconds.
        """
        words = f"celery -A {application} worker --loglevel=INFO --concurrency=1".split()
        words += ["--", f".lost_wait={LOST_WAIT_SECONDS}"]
        before = self.log("worker").count(" ready.")
        with child(words, log=self.folder / "worker.log", **self.environment) as process:
            assert wait_for(lambda: self.log("worker").count(" ready.") > before)
            try:
                yield process
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)

    @contextmanager
    def scheduler(self) -> Iterator[subprocess.Popen[bytes]]:
        words = "celery -A config.celery beat --loglevel=INFO".split()
        with child(words, log=self.folder / "scheduler.log", **self.environment) as process:
            yield process

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
        # Statuses of responses that were neither a success nor one of `LATER`.
        self.wrong: list[int] = []

    def get(self, path: str) -> int | None:
        return self._request("GET", path, None, {})[0]

    def post(self, path: str, body: object, **headers: str) -> tuple[int | None, dict[str, Any]]:
        """Send a request. The status is None if no complete response arrived."""
        return self._request("POST", path, json.dumps(body).encode(), headers)

    def insist(self, path: str, body: object, *, seconds: float = 120) -> dict[str, Any]:
        """Repeat a request until it succeeds, and return the response."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            status, response = self.post(path, body)
            if status in OK:
                return response
            if status is not None and status not in LATER:
                self.wrong.append(status)
            time.sleep(0.25)
        raise TimeoutError(f"{path} did not succeed: {self.wrong[-3:]}")

    def claim(self, campaign: int, count: int = 1) -> list[int]:
        """Claim tasks. Return the public ids of the assignments that the person then holds."""
        response = self.insist(f"/api/v1/campaigns/{campaign}/claim/", {"count": count})
        return [item["assignment"] for item in response["items"]]

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
    """Return the number of tasks with too many counted labels, plus repeated labels of a person."""
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
