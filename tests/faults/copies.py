"""Copies of the database file and its write-ahead log, as a power failure would leave them."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

from tests.faults.row import Row
from tests.faults.site import Site
from tests.faults.writers import row_of, writers


def copy_under_writers(site: Site, rounds: int) -> Row:
    """Copy the files `rounds` times while six people judge. Look for the answers in each copy."""
    lost = broken = 0
    with site.server() as server, writers(site, rounds) as group:
        for number in range(rounds):
            group.wait_for_more(5)
            before = set(group.acknowledged)
            copy = copied(site, server.pid, site.folder / f"copy-{number}")
            with closing(sqlite3.connect(copy / site.sqlite_file.name)) as connection:
                broken += connection.execute("PRAGMA integrity_check").fetchall() != [("ok",)]
                keys = {
                    key
                    for (key,) in connection.execute("SELECT client_key FROM annotation_judgment")
                }
            lost += len({key.replace("-", "") for key in before} - keys)
            shutil.rmtree(copy)
    return row_of("Copy the database during writes", site, group, tried=rounds, lost=lost + broken)


def copied(site: Site, pid: int, folder: Path) -> Path:
    """Copy the files while all processes of the server are paused at an arbitrary point."""
    folder.mkdir()
    os.killpg(pid, signal.SIGSTOP)
    try:
        for path in site.folder.glob(f"{site.sqlite_file.name}*"):
            if not path.name.endswith("-shm"):  # it is in memory, and lost with the power
                shutil.copyfile(path, folder / path.name)
    finally:
        os.killpg(pid, signal.SIGCONT)
    return folder
