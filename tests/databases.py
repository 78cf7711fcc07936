"""Migrated databases for the tests and for the programs that tests start.

A migration takes several seconds of processor time, most of which Django spends on the states of
the models between migrations. All processes of `make test`, or of one run of pytest, therefore copy
one migrated database of each kind, and so do the programs that their tests start.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg2

ROOT = Path(__file__).resolve().parent.parent
SQLITE = "sqlite:///"
FILE = "hearth.sqlite3"
TEMPLATE = "template"  # the file that contains the name of the migrated PostgreSQL database
# The URL of the PostgreSQL server of the tests. tests.services sets it, also for tests on SQLite.
SERVER = "HEARTH_TEST_POSTGRES"
# The folder of the migrated databases. `share` sets it.
FOLDER = "HEARTH_TEST_MIGRATED"


def migrate(environment: Mapping[str, str], root: Path = ROOT) -> None:
    """Migrate an empty database. If this run has a migrated database, copy that one instead.

    environment: the variables that name the empty database. root: the folder of `manage.py`.
    """
    url = environment.get("DATABASE_URL") or f"{SQLITE}{environment['HEARTH_HOME']}/{FILE}"
    shared = os.environ.get(FOLDER)
    if shared and root == ROOT and url.startswith(SQLITE):
        file = Path(url.removeprefix(SQLITE))
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(migrated_file(), file)
    elif shared and root == ROOT and is_on_the_server(url):
        create_again(url, migrated_template(url))
    elif shared and root == ROOT and os.environ.get(SERVER):
        copy_to_another_server(url)
    else:
        run_migrations(environment, root)


def copy_to_another_server(url: str) -> None:
    """Write the schema and the rows of the migrated database of this run into an empty one."""
    server = os.environ[SERVER]
    source = database_url(server, migrated_template(server))
    dump = ["pg_dump", "--no-owner", source]
    load = ["psql", "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", url]
    with subprocess.Popen(dump, stdout=subprocess.PIPE) as dumping:
        subprocess.run(load, stdin=dumping.stdout, stdout=subprocess.DEVNULL, check=True)
    assert dumping.returncode == 0


@contextmanager
def share() -> Iterator[None]:
    """Let all child processes copy the same migrated databases, unless they already do."""
    if os.environ.get(FOLDER):
        yield
        return
    with tempfile.TemporaryDirectory(prefix="hearth-migrated-") as folder:
        os.environ[FOLDER] = folder
        try:
            yield
        finally:
            drop_template(Path(folder))
            del os.environ[FOLDER]


def migrated_file() -> Path:
    """Return the path of the migrated SQLite file. The first process creates it. Others wait."""
    folder = Path(os.environ[FOLDER])
    with locked(folder / FILE):
        if not (folder / FILE).exists():
            making = folder / "making"
            shutil.rmtree(making, ignore_errors=True)  # left by a process that was killed
            making.mkdir()
            variables = {"HEARTH_HOME": str(making), "DATABASE_URL": f"{SQLITE}{making / FILE}"}
            run_migrations({**os.environ, **variables}, ROOT)
            with closing(sqlite3.connect(making / FILE)) as made:
                made.execute("VACUUM")  # migrations leave free pages
            (making / FILE).rename(folder / FILE)
    return folder / FILE


def migrated_template(server: str) -> str:
    """Return the name of a migrated database, to be copied, on the server with this URL."""
    folder = Path(os.environ[FOLDER])
    made = folder / TEMPLATE
    with locked(made):
        if not made.exists():
            name = f"hearth_template_{uuid.uuid4().hex[:12]}"
            execute(server, f"CREATE DATABASE {name}")
            variables = {"HEARTH_HOME": str(folder), "DATABASE_URL": database_url(server, name)}
            run_migrations({**os.environ, **variables}, ROOT)
            made.write_text(name)
    return made.read_text()


def drop_template(folder: Path) -> None:
    made = folder / TEMPLATE
    if made.exists():
        server = os.environ.get(SERVER) or os.environ["DATABASE_URL"]
        execute(server, f"DROP DATABASE IF EXISTS {made.read_text()} WITH (FORCE)")


def is_on_the_server(url: str) -> bool:
    """Return whether a database is on the server of the tests. Drills have their own servers."""
    there, here = urlsplit(os.environ.get(SERVER, "")), urlsplit(url)
    return (there.hostname, there.port) == (here.hostname, here.port)


@contextmanager
def empty_postgresql(server: str) -> Iterator[str]:
    """Create an empty database on the server of a URL and yield its URL."""
    name = f"hearth_site_{uuid.uuid4().hex[:12]}"
    execute(server, f"CREATE DATABASE {name}")
    try:
        yield database_url(server, name)
    finally:
        execute(server, f"DROP DATABASE {name} WITH (FORCE)")


def create_again(url: str, template: str = "template1") -> None:
    """Replace the database of a URL by an empty one, or by a copy of a template."""
    name = database_name(url)
    execute(url, f"DROP DATABASE {name}", f"CREATE DATABASE {name} TEMPLATE {template}")


def database_name(url: str) -> str:
    return urlsplit(url).path.removeprefix("/")


def database_url(server: str, name: str) -> str:
    return urlsplit(server)._replace(path=f"/{name}").geturl()


def execute(server: str, *statements: str) -> None:
    """Execute statements in the database `postgres`, which every server has."""
    with closing(psycopg2.connect(database_url(server, "postgres"))) as link:
        link.autocommit = True
        for statement in statements:
            link.cursor().execute(statement)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def run_migrations(environment: Mapping[str, str], root: Path) -> None:
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "--verbosity", "0"],
        cwd=root,
        env=dict(environment),
        check=True,
    )
