"""Find, start or install the servers and the browser that the tests need.

    python -m tests.services                        print `export` lines
    python -m tests.services run -- pytest          run a command with these variables
    python -m tests.services run --own -- pytest    run a command with new servers

For PostgreSQL and Redis, the program uses the first of these that works: the server in DATABASE_URL
or REDIS_URL; a local server on the usual port that accepts a connection without a password; a
temporary server, started from the programs on this machine and stopped with the command; a
temporary server after an installation with apt, as root on Debian. If none works, it prints what to
install and exits with 1. A test without its server fails. It is never skipped.

Existing data is not changed. On PostgreSQL, Django creates a separate database (test_...). On
Redis, the program reserves an empty database and empties it at the end.
"""

from __future__ import annotations

import argparse
import atexit
import ctypes
import getpass
import os
import pwd
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

LOCAL = "127.0.0.1"
START_SECONDS = 60
AS_ROOT = os.geteuid() == 0
PR_CAPBSET_DROP, CAP_SYS_NICE = 24, 23  # from <linux/prctl.h> and <linux/capability.h>
# Debian's package of Chromium without its windows, tabs and menus, which tests do not need.
HEADLESS = "chromium-headless-shell"
REDIS_MARK = "hearth-tests"  # the only key that tests do not delete


_started: list[subprocess.Popen[bytes]] = []


class ServiceMissing(Exception):
    """A server or the browser is neither running nor installed. The message contains the fix."""


# --- Servers and browser ---------------------------------------------------------------------


def ensure_postgres(*, own: bool = False) -> str:
    """Return the URL of a PostgreSQL server whose role may create databases."""
    url = os.environ.get("DATABASE_URL") or os.environ.get("HEARTH_TEST_POSTGRES", "")
    if not own:
        if url.startswith("postgres"):
            return check_answers(url, 5432)
        for role in ("postgres", getpass.getuser()):
            if accepts_role(LOCAL, 5432, role):
                # Each run uses another name. Otherwise, two runs at the same time would drop each
                # other's database.
                return f"postgres://{role}@{LOCAL}:5432/hearth_{os.getpid()}"
    return start_postgres(find_or_install(find_postgres, "postgresql"))


def ensure_redis(*, own: bool = False) -> str:
    """Return the URL of a Redis database that only this process uses."""
    url = os.environ.get("REDIS_URL", "")
    if not own:
        if url:
            check_answers(url, 6379)
            return claim_redis_database(url) or url
        if claimed := claim_redis_database(f"redis://{LOCAL}:6379"):
            return claimed
    return start_redis(find_or_install(lambda: shutil.which("redis-server"), "redis-server"))


def ensure_chromium() -> str:
    """Return the path of a Chromium that starts. The variable CHROMIUM can name one."""
    forbid_real_time_priority()
    return find_or_install(find_chromium, HEADLESS)


def forbid_real_time_priority() -> None:
    """Keep child processes from getting a real-time priority, which Chromium would get as root.

    The audio threads of Chromium request a real-time priority. Two such threads that wait for a
    lock can occupy both cores of a small machine, so that the thread with the lock never runs. The
    tests once stopped for an hour because of this. Without the capability CAP_SYS_NICE, the kernel
    refuses the priority and Chromium continues without it.
    """
    if AS_ROOT and sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_SYS_NICE, 0, 0, 0)


# --- Finding ------------------------------------------------------------------------------


def check_answers(url: str, default_port: int) -> str:
    """Return the URL if a server listens there. Otherwise raise `ServiceMissing`.

    A server that the environment names is never replaced by another one.
    """
    parts = urlsplit(url)
    host, port = parts.hostname or LOCAL, parts.port or default_port
    try:
        socket.create_connection((host, port), timeout=5).close()
    except OSError as error:
        raise ServiceMissing(
            f"{parts.scheme}://{host}:{port}, which the environment names, does not answer: {error}"
        ) from error
    return url


def accepts_role(host: str, port: int, role: str) -> bool:
    """Return whether the server accepts the role without a password (authentication type 0)."""
    words = b"\0".join([b"user", role.encode(), b"database", b"postgres", b"", b""])
    greeting = struct.pack("!ii", 8 + len(words), 3 << 16) + words
    try:
        with socket.create_connection((host, port), timeout=3) as connection:
            connection.sendall(greeting)
            return connection.recv(9) == struct.pack("!cii", b"R", 8, 0)
    except OSError:
        return False


def claim_redis_database(url: str) -> str | None:
    """Reserve an empty database and return its URL. It is emptied when this process ends.

    Database 0 is never used.
    """
    used = send_to_redis(url, "INFO keyspace") or ""
    if not used.startswith("$"):  # another password, TLS, or no server
        return None
    for number in range(15, 0, -1):
        claimed = urlsplit(url)._replace(path=f"/{number}").geturl()
        if f"db{number}:" not in used and send_to_redis(claimed, f"SET {REDIS_MARK} 1 NX") == "+OK":
            atexit.register(send_to_redis, claimed, "FLUSHDB")
            return claimed
    return None


def send_to_redis(url: str, command: str) -> str | None:
    """Return the reply to one command in the database of the URL, or None if there is no reply."""
    parts = urlsplit(url)
    login = f"AUTH {parts.username or 'default'} {parts.password}" if parts.password else "PING"
    words = [login, f"SELECT {parts.path.strip('/') or 0}", command, "QUIT", ""]
    try:
        with socket.create_connection(
            (parts.hostname or LOCAL, parts.port or 6379), timeout=3
        ) as connection:
            connection.sendall("\r\n".join(words).encode())
            answers = connection.makefile(encoding="utf-8", errors="replace").read()
    except OSError:
        return None
    return answers.split("\n", 2)[-1].removesuffix("+OK\n").strip()


def find_postgres() -> str | None:
    """Return the folder of initdb and postgres, preferring the newest version.

    On Debian this folder is not on PATH.
    """
    folders = Path("/usr/lib/postgresql").glob("*/bin")
    newest_first = sorted(folders, key=lambda folder: float(folder.parent.name), reverse=True)
    on_path = shutil.which("initdb")
    candidates = [*newest_first, *([Path(on_path).parent] if on_path else [])]
    return next((str(folder) for folder in candidates if (folder / "initdb").exists()), None)


@cache
def find_chromium() -> str | None:
    names = (os.environ.get("CHROMIUM"), HEADLESS, "chromium", "chromium-browser", "google-chrome")
    paths = [path for name in names if name and (path := shutil.which(name))]
    playwright = Path.home() / ".cache/ms-playwright"
    paths += [str(path) for path in sorted(playwright.glob("chromium-*/chrome-linux*/chrome"))]
    return next((path for path in paths if starts(path)), None)


def starts(program: str) -> bool:
    """Return whether the program prints its version.

    On Ubuntu, chromium-browser only prints the advice to install a snap.
    """
    try:
        return (
            subprocess.run(
                [program, "--version"], capture_output=True, timeout=60, check=False
            ).returncode
            == 0
        )
    except (OSError, subprocess.TimeoutExpired):
        return False


def find_or_install(find: Callable[[], str | None], package: str) -> str:
    """Return the result of `find`. If it is None, install the Debian package and try again."""
    if found := find():
        return found
    command = f"apt-get install --yes --no-install-recommends {package}"
    if not AS_ROOT or shutil.which("apt-get") is None:
        other = ", or: python -m playwright install --with-deps chromium"
        raise ServiceMissing(
            f"{package} is missing. On Debian or Ubuntu: sudo {command}"
            + (other if package == HEADLESS else "")
        )
    log(f"installing {package} ...")
    apt_update()
    apt(command)
    find_chromium.cache_clear()
    if found := find():
        return found
    raise ServiceMissing(f"{package} is still missing after: {command}")


@cache
def apt_update() -> None:
    apt("apt-get update")


def apt(command: str) -> None:
    done = subprocess.run(
        shlex.split(command),
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise ServiceMissing(f"{command} failed:\n{done.stderr.strip()}")


# --- Starting -----------------------------------------------------------------------------


def start_postgres(programs: str) -> str:
    """Start a temporary server without fsync. It stops when this process ends."""
    account = postgres_account()
    folder = temporary_folder("hearth-postgres-", account)
    data, port = folder / "data", free_port()
    initdb = (
        f"{programs}/initdb --username=postgres --auth=trust --encoding=UTF8 --locale=C --no-sync"
    )
    subprocess.run(
        [*initdb.split(), "--pgdata", str(data)],
        **as_account(account, folder),
        stdout=subprocess.DEVNULL,
        check=True,
    )
    settings = {"listen_addresses": LOCAL, "port": port, "unix_socket_directories": ""}
    settings |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    start(
        [f"{programs}/postgres", "-D", str(data), *options],
        folder,
        account=account,
        stop_signal=signal.SIGINT,  # a "fast" shutdown, which does not wait for clients
        is_ready=lambda: accepts_role(LOCAL, port, "postgres"),
    )
    return f"postgres://postgres@{LOCAL}:{port}/hearth"


def start_redis(program: str) -> str:
    folder, port = temporary_folder("hearth-redis-", None), free_port()
    url = f"redis://{LOCAL}:{port}/0"
    start(
        [program, "--bind", LOCAL, "--port", str(port), "--save", "", "--appendonly", "no"],
        folder,
        is_ready=lambda: send_to_redis(url, "PING") == "+PONG",
    )
    return url


def start(
    command: list[str],
    folder: Path,
    *,
    is_ready: Callable[[], bool],
    account: str | None = None,
    stop_signal: signal.Signals = signal.SIGTERM,
) -> None:
    """Start a server and wait until it answers. It stops when this process ends.

    It has its own session, so that Ctrl-C does not stop it before the tests.
    """
    log_file = folder / "log"
    with log_file.open("wb") as output:
        process = subprocess.Popen(
            command,
            **as_account(account, folder),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    atexit.register(stop, process, stop_signal, folder)
    _started.append(process)
    log(f"started {Path(command[0]).name} (process {process.pid}) in {folder}")
    deadline = time.monotonic() + START_SECONDS
    while not is_ready():
        if process.poll() is not None or time.monotonic() > deadline:
            raise ServiceMissing(f"{command[0]} did not start:\n{log_file.read_text()[-2000:]}")
        time.sleep(0.05)


def stop(process: subprocess.Popen[bytes], stop_signal: signal.Signals, folder: Path) -> None:
    process.send_signal(stop_signal)
    try:
        process.wait(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    shutil.rmtree(folder, ignore_errors=True)


def postgres_account() -> str | None:
    """Return the account for the server, or None for the current user.

    PostgreSQL refuses to run as root, so root uses the account of the Debian package, or `nobody`.
    """
    if not AS_ROOT:
        return None
    accounts = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in ("postgres", "nobody") if name in accounts)


def as_account(account: str | None, folder: Path) -> dict[str, Any]:
    options: dict[str, Any] = {"cwd": folder}
    if account:
        options |= {"user": account, "group": pwd.getpwnam(account).pw_gid, "extra_groups": []}
    return options


def temporary_folder(prefix: str, account: str | None) -> Path:
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    if account:
        shutil.chown(folder, account)
    return folder


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOCAL, 0))
        port: int = probe.getsockname()[1]
        return port


def log(text: str) -> None:
    print(f"tests.services: {text}", file=sys.stderr, flush=True)


# --- Command line -------------------------------------------------------------------------


def environment(*, own: bool) -> Iterator[tuple[str, str]]:
    url = ensure_postgres(own=own)
    yield "DATABASE_URL", url
    yield "HEARTH_TEST_POSTGRES", url  # also for tests on SQLite, which have no DATABASE_URL
    yield "REDIS_URL", ensure_redis(own=own)
    yield "CHROMIUM", ensure_chromium()


def export(variables: dict[str, str]) -> int:
    for name, value in variables.items():
        print(f"export {name}={shlex.quote(value)}", flush=True)
    if _started:
        log("the started servers run until this process ends; press Ctrl-C to end it")
        with suppress(KeyboardInterrupt):
            signal.pause()
    return 0


def run(command: list[str], variables: dict[str, str]) -> int:
    """Run the command and return its exit status. On Ctrl-C, wait until the command ends."""
    # Containers often set this. Each process of the tests would then compile all modules again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    process = subprocess.Popen(command, env={**os.environ, **variables})
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    status = process.wait()
    return status if status >= 0 else 128 - status


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.services",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("action", nargs="?", choices=("export", "run"), default="export")
    parser.add_argument("--own", action="store_true", help="always start new servers")
    words = sys.argv[1:]
    cut = words.index("--") if "--" in words else len(words)
    command = words[cut + 1 :]
    options = parser.parse_args(words[:cut])
    if (options.action == "run") != bool(command):
        parser.error("run needs a command after --, and export takes none")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        variables = dict(environment(own=options.own))
    except ServiceMissing as error:
        log(str(error))
        return 1
    return run(command, variables) if command else export(variables)


if __name__ == "__main__":
    sys.exit(main())
