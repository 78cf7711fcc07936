"""The servers and the browser that the tests need: found, started or installed.

    python -m tests.services                        prints `export` lines
    python -m tests.services run -- pytest          runs a command with them in its environment
    python -m tests.services run --own -- pytest    with servers of its own, whatever runs already

For PostgreSQL and Redis in this order: what DATABASE_URL or REDIS_URL names; a server on its usual
local port that lets one in; a throwaway instance of the programs on this machine, ended with the
command; the programs from apt, where this is root on Debian. Where nothing helps it says what to
install and ends with 1: a test that lacks its server fails, it is never skipped.

Nobody's data is touched: on PostgreSQL Django makes a database of its own (test_...), on Redis an
empty database is claimed and emptied again at the end.
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
PR_CAPBSET_DROP, CAP_SYS_NICE = 24, 23  # of <linux/prctl.h> and <linux/capability.h>
REDIS_MARK = "hearth-tests"  # the one key that a test does not clear away


_started: list[subprocess.Popen[bytes]] = []


class ServiceMissing(Exception):
    """Neither running nor installed; `str()` says what to do."""


# --- The three things ---------------------------------------------------------------------


def ensure_postgres(*, own: bool = False) -> str:
    """URL of a PostgreSQL whose role may create databases; Django makes test_* of its own."""
    given = os.environ.get("DATABASE_URL", "")
    if not own:
        if given.startswith("postgres"):
            return check_answers(given, 5432)
        for role in ("postgres", getpass.getuser()):
            if postgres_lets_in(LOCAL, 5432, role):
                # Two runs at a time would drop each other's database, had it the same name.
                return f"postgres://{role}@{LOCAL}:5432/hearth_{os.getpid()}"
    return start_postgres(find_or_install(find_postgres, "postgresql"))


def ensure_redis(*, own: bool = False) -> str:
    """URL of a Redis database for this process alone, on the given or the local server."""
    given = os.environ.get("REDIS_URL", "")
    if not own:
        if given:
            check_answers(given, 6379)
            return claim_redis_database(given) or given
        if claimed := claim_redis_database(f"redis://{LOCAL}:6379"):
            return claimed
    return start_redis(find_or_install(lambda: shutil.which("redis-server"), "redis-server"))


def ensure_chromium() -> str:
    """Path of a Chromium that starts. CHROMIUM names another than the usual ones."""
    keep_real_time_away()
    return find_or_install(find_chromium, "chromium")


def keep_real_time_away() -> None:
    """Nothing that this process starts may run before all others, as root's Chromium does.

    Its audio threads take a real-time priority. Two of them that wait for a lock keep both cores of
    a small machine to themselves, and whoever holds the lock never gets to run: the tests stood
    still for an hour. Without the capability the kernel refuses, and Chromium goes on without.
    """
    if AS_ROOT and sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_SYS_NICE, 0, 0, 0)


# --- Looking ------------------------------------------------------------------------------


def check_answers(url: str, default_port: int) -> str:
    """The URL again, if something listens there. A given server is used, never replaced."""
    parts = urlsplit(url)
    host, port = parts.hostname or LOCAL, parts.port or default_port
    try:
        socket.create_connection((host, port), timeout=5).close()
    except OSError as error:
        raise ServiceMissing(
            f"{parts.scheme}://{host}:{port}, given in the environment, does not answer: {error}"
        ) from error
    return url


def postgres_lets_in(host: str, port: int, role: str) -> bool:
    """Greet as a client does; authentication of type 0 means that no password is wanted."""
    words = b"\0".join([b"user", role.encode(), b"database", b"postgres", b"", b""])
    greeting = struct.pack("!ii", 8 + len(words), 3 << 16) + words
    try:
        with socket.create_connection((host, port), timeout=3) as connection:
            connection.sendall(greeting)
            return connection.recv(9) == struct.pack("!cii", b"R", 8, 0)
    except OSError:
        return False


def claim_redis_database(url: str) -> str | None:
    """Mark an empty database other than the first as ours; it is emptied when this process ends."""
    used = redis_says(url, "INFO keyspace") or ""
    if not used.startswith("$"):  # wants another password, speaks TLS, or is not there
        return None
    for number in range(15, 0, -1):
        claimed = urlsplit(url)._replace(path=f"/{number}").geturl()
        if f"db{number}:" not in used and redis_says(claimed, f"SET {REDIS_MARK} 1 NX") == "+OK":
            atexit.register(redis_says, claimed, "FLUSHDB")
            return claimed
    return None


def redis_says(url: str, command: str) -> str | None:
    """The answer to one command in the database that the URL names; None where nothing answers."""
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
    """Folder of initdb and postgres, the newest version first; Debian keeps them off PATH."""
    folders = Path("/usr/lib/postgresql").glob("*/bin")
    found = sorted(folders, key=lambda folder: float(folder.parent.name), reverse=True)
    on_path = shutil.which("initdb")
    candidates = [*found, *([Path(on_path).parent] if on_path else [])]
    return next((str(folder) for folder in candidates if (folder / "initdb").exists()), None)


@cache
def find_chromium() -> str | None:
    names = (os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome")
    paths = [path for name in names if name and (path := shutil.which(name))]
    playwright = Path.home() / ".cache/ms-playwright"
    paths += [str(path) for path in sorted(playwright.glob("chromium-*/chrome-linux*/chrome"))]
    return next((path for path in paths if starts(path)), None)


def starts(program: str) -> bool:
    """Whether it tells its version: Ubuntu's chromium-browser only advises to install a snap."""
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
    """What `find` finds, before or after installing Debian's package."""
    if found := find():
        return found
    command = f"apt-get install --yes --no-install-recommends {package}"
    if not AS_ROOT or shutil.which("apt-get") is None:
        other = ", or: python -m playwright install --with-deps chromium"
        raise ServiceMissing(
            f"{package} is missing. On Debian or Ubuntu: sudo {command}"
            + (other if package == "chromium" else "")
        )
    say(f"installing {package} ...")
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
    """A cluster in a temporary folder, without fsync: it lives as long as this process."""
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
        stop_signal=signal.SIGINT,  # "fast": does not wait for clients
        is_ready=lambda: postgres_lets_in(LOCAL, port, "postgres"),
    )
    return f"postgres://postgres@{LOCAL}:{port}/hearth"


def start_redis(program: str) -> str:
    folder, port = temporary_folder("hearth-redis-", None), free_port()
    url = f"redis://{LOCAL}:{port}/0"
    start(
        [program, "--bind", LOCAL, "--port", str(port), "--save", "", "--appendonly", "no"],
        folder,
        is_ready=lambda: redis_says(url, "PING") == "+PONG",
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
    """Start a server and wait until it answers; it ends with this process.

    In a session of its own: a Ctrl-C is for the tests, which need the server until they end.
    """
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            **as_account(account, folder),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    atexit.register(stop, process, stop_signal, folder)
    _started.append(process)
    say(f"started {Path(command[0]).name} (process {process.pid}) in {folder}")
    deadline = time.monotonic() + START_SECONDS
    while not is_ready():
        if process.poll() is not None or time.monotonic() > deadline:
            raise ServiceMissing(f"{command[0]} did not start:\n{log.read_text()[-2000:]}")
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
    """PostgreSQL refuses to run as root: the account that Debian's package makes, or nobody."""
    if not AS_ROOT:
        return None
    accounts = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in ("postgres", "nobody") if name in accounts)


def as_account(account: str | None, folder: Path) -> dict[str, Any]:
    where: dict[str, Any] = {"cwd": folder}
    if account:
        where |= {"user": account, "group": pwd.getpwnam(account).pw_gid, "extra_groups": []}
    return where


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


def say(text: str) -> None:
    print(f"tests.services: {text}", file=sys.stderr, flush=True)


# --- Command line -------------------------------------------------------------------------


def environment(*, own: bool) -> Iterator[tuple[str, str]]:
    yield "DATABASE_URL", ensure_postgres(own=own)
    yield "REDIS_URL", ensure_redis(own=own)
    yield "CHROMIUM", ensure_chromium()


def export(variables: dict[str, str]) -> int:
    for name, value in variables.items():
        print(f"export {name}={shlex.quote(value)}", flush=True)
    if _started:
        say("the servers started here run until this process ends; Ctrl-C ends it")
        with suppress(KeyboardInterrupt):
            signal.pause()
    return 0


def run(command: list[str], variables: dict[str, str]) -> int:
    """The command's exit status. A Ctrl-C reaches it as well; this waits for its end."""
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
    parser.add_argument("--own", action="store_true", help="start servers of its own in any case")
    words = sys.argv[1:]
    cut = words.index("--") if "--" in words else len(words)
    command = words[cut + 1 :]
    options = parser.parse_args(words[:cut])
    if (options.action == "run") != bool(command):
        parser.error("run wants a command after --, export none")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        variables = dict(environment(own=options.own))
    except ServiceMissing as error:
        say(str(error))
        return 1
    return run(command, variables) if command else export(variables)


if __name__ == "__main__":
    sys.exit(main())
