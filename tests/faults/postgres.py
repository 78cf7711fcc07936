"""A private PostgreSQL server for the drills, which stop it, kill it and start it again."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psycopg2

from tests.services import (
    LOCAL,
    accepts_role,
    as_account,
    find_or_install,
    find_postgres,
    free_port,
    postgres_account,
    temporary_folder,
)
from tests.waiting import wait_for

MIGRATED = "migrated"


class PrivatePostgres:
    """A server with its data in a temporary folder. Everything it commits is written to disk."""

    def __init__(self) -> None:
        self.programs = Path(find_or_install(find_postgres, "postgresql"))
        self.account = postgres_account()
        self.folder = temporary_folder("hearth-faults-", self.account)
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None
        self.database = "postgres"
        self.copies = 0
        options = "--username=postgres --auth=trust --encoding=UTF8 --locale=C --no-sync"
        subprocess.run(
            [self.programs / "initdb", *options.split(), "--pgdata", self.folder / "data"],
            **as_account(self.account, self.folder),
            stdout=subprocess.DEVNULL,
            check=True,
        )

    @property
    def url(self) -> str:
        return f"postgres://postgres@{LOCAL}:{self.port}/{self.database}"

    def new_database(self, migrate: Callable[[], None]) -> None:
        """Change to a new copy of the migrated database. The first call creates the original."""
        self.copies += 1
        if self.copies == 1:
            self._create(MIGRATED)
            migrate()
        self._create(f"drill_{self.copies}", template=MIGRATED)

    def start(self) -> None:
        """Start the server, and wait until it accepts connections.

        After a kill, the old processes may still run for a short time, and the server then refuses
        to start.
        """
        assert wait_for(self._started), (self.folder / "log").read_text()[-2000:]

    def stop(self, how: signal.Signals) -> None:
        """Stop the server: SIGINT ends sessions, SIGQUIT aborts them, SIGKILL kills it."""
        assert self.process is not None
        os.kill(self.process.pid, how)
        self.process.wait()

    def __enter__(self) -> PrivatePostgres:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self.process is not None and self.process.poll() is None:
            self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _create(self, database: str, *, template: str = "template1") -> None:
        self.database = "postgres"
        with closing(psycopg2.connect(self.url)) as connection:
            connection.autocommit = True
            connection.cursor().execute(f"CREATE DATABASE {database} TEMPLATE {template}")
        self.database = database

    def _started(self) -> bool:
        settings = {"listen_addresses": LOCAL, "port": self.port, "unix_socket_directories": ""}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [self.programs / "postgres", "-D", self.folder / "data", *options],
                **as_account(self.account, self.folder),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        while self.process.poll() is None:
            if accepts_role(LOCAL, self.port, "postgres"):
                return True
            time.sleep(0.05)
        return False
