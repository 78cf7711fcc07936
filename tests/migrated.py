"""Migrated SQLite files for the programs that tests start.

A migration takes ten seconds of processor time, most of which Django spends on the states of the
models between migrations. All processes of one run of pytest therefore copy one migrated file.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SQLITE = "sqlite:///"
FILE = "hearth.sqlite3"


def migrate(environment: Mapping[str, str], root: Path = ROOT) -> None:
    """Migrate the empty database of these variables, or copy the migrated file of this run."""
    url = environment.get("DATABASE_URL") or f"{SQLITE}{environment['HEARTH_HOME']}/{FILE}"
    shared = os.environ.get("HEARTH_TEST_FOLDER")  # set by tests/conftest.py
    if shared and root == ROOT and url.startswith(SQLITE):
        file = Path(url.removeprefix(SQLITE))
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(migrated_file(Path(shared) / "migrated"), file)
    else:
        run_migrations(environment, root)


def migrated_file(folder: Path) -> Path:
    """Return the migrated file in a folder. The first process makes it, and others wait for it."""
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / FILE).exists():
            making = folder / "making"
            shutil.rmtree(making, ignore_errors=True)  # of a process that was killed
            making.mkdir()
            variables = {"HEARTH_HOME": str(making), "DATABASE_URL": f"{SQLITE}{making / FILE}"}
            run_migrations({**os.environ, **variables}, ROOT)
            (making / FILE).rename(folder / FILE)
    return folder / FILE


def run_migrations(environment: Mapping[str, str], root: Path) -> None:
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "--verbosity", "0"],
        cwd=root,
        env=dict(environment),
        check=True,
    )
