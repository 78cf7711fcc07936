"""What every test may use: a home of its own, a browser, a Redis, a real Celery worker.

The suite runs on SQLite, or on PostgreSQL where DATABASE_URL names one (`make test` does both).
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import hypothesis
import pytest

from tests.services import REDIS_MARK, ensure_chromium, ensure_redis
from tests.waiting import SECONDS, wait_for

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

ROOT = Path(__file__).resolve().parent.parent

# --- Before Django reads its settings -------------------------------------------------------

# The first process makes the folder and removes it; those of pytest-xdist get a part of it each.
XDIST_WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
if not XDIST_WORKER:
    os.environ["HEARTH_TEST_FOLDER"] = tempfile.mkdtemp(prefix="hearth-tests-")
    atexit.register(shutil.rmtree, os.environ["HEARTH_TEST_FOLDER"], ignore_errors=True)
FOLDER = Path(os.environ["HEARTH_TEST_FOLDER"])

# Tests choose their broker themselves, see `broker`.
if "REDIS_URL" in os.environ:
    os.environ["HEARTH_TEST_REDIS_URL"] = os.environ.pop("REDIS_URL")

os.environ.update(
    HEARTH_HOME=str(FOLDER / (XDIST_WORKER or "home")),
    DJANGO_SETTINGS_MODULE="config.settings",
    # Playwright runs an event loop in the thread of the tests, which do no asynchronous work.
    DJANGO_ALLOW_ASYNC_UNSAFE="true",
)

from django.conf import settings  # noqa: E402

if settings.configured:
    # Tests would write to the HEARTH_HOME of somebody's real work.
    raise pytest.UsageError("DJANGO_SETTINGS_MODULE is set in the environment: unset it for tests")
settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # fast

hypothesis.settings.register_profile("ci", deadline=None, derandomize=True)
hypothesis.settings.register_profile("deep", deadline=None, max_examples=2000)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Processes of pytest-xdist read the settings after this file, as the first one did."""
    os.environ.pop("DJANGO_SETTINGS_MODULE", None)


FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """Let fixtures know at their end whether the test failed."""
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@pytest.fixture(autouse=True)
def _empty_cache() -> None:
    """Counts of throttles and rate limits begin anew."""
    from django.core.cache import cache

    cache.clear()


# --- Browser --------------------------------------------------------------------------------

BROWSER_ARGUMENTS = [
    *(["--no-sandbox"] if os.geteuid() == 0 else []),  # Chromium refuses to sandbox for root
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# Nothing in a page moves or fades, so that a test never looks at a page between two states. Less
# motion as a person asks for it, `reduced_motion="reduce"`, would also keep videos from playing.
STILL = """(() => {
  const still = new CSSStyleSheet();
  still.replaceSync(`
    *, ::before, ::after, ::backdrop, ::-webkit-progress-bar, ::-webkit-progress-value {
      transition: none !important; animation: none !important; scroll-behavior: auto !important;
    }
  `);
  document.adoptedStyleSheets = [still];
})()"""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import expect, sync_playwright

    from tests.e2e import waiting

    expect.set_options(timeout=waiting.SECONDS * 1000)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=ensure_chromium(), args=BROWSER_ARGUMENTS, timeout=SECONDS * 1000
        )
        yield chromium
        chromium.close()


@pytest.fixture
def page_problems() -> list[str]:
    """What went wrong in the pages so far; a test that provokes an error takes it out."""
    return []


@pytest.fixture
def new_page(
    request: pytest.FixtureRequest, browser: Browser, live_server: Any, page_problems: list[str]
) -> Iterator[Callable[[], Page]]:
    """Opens a page for one more person, with cookies of their own: `anna = new_page()`.

    The test fails at its end on an error in a console (which is where violations of the
    Content-Security-Policy show), an uncaught exception, or a request to another host.
    """
    contexts: list[BrowserContext] = []

    def open_page() -> Page:
        context = open_context(browser, live_server.url, page_problems)
        contexts.append(context)
        return context.new_page()

    yield open_page

    for number, context in enumerate(contexts):
        if request.node.stash.get(FAILED, False):
            keep_screenshots(context, f"{request.node.name}-{number}")
        context.close()
    let_server_finish()
    assert page_problems == []


@pytest.fixture
def page(new_page: Callable[[], Page]) -> Page:
    return new_page()


def open_context(browser: Browser, url: str, problems: list[str], **options: Any) -> BrowserContext:
    """Open a browser with cookies of its own, whose pages stand still."""
    from tests.e2e import waiting

    context = browser.new_context(base_url=url, **options)
    context.set_default_timeout(waiting.SECONDS * 1000)
    context.add_init_script(STILL)
    collect_problems(context, url, problems)
    return context


def let_server_finish() -> None:
    """Wait for the requests of closed pages: on PostgreSQL a request that still runs and the
    emptying of the tables after the test would wait for each other."""
    assert wait_for(
        lambda: not any("process_request_thread" in one.name for one in threading.enumerate())
    ), "a request never ended"


def collect_problems(context: BrowserContext, own_url: str, problems: list[str]) -> None:
    def on_console(message: Any) -> None:
        source = message.location.get("url", "")
        # A browser asks for favicon.ico by itself where a page, like the admin's, names no icon.
        if message.type == "error" and not source.endswith("/favicon.ico"):
            problems.append(f"console: {message.text} ({source})")

    def on_request(request: Any) -> None:
        if not request.url.startswith((own_url, "data:", "blob:", "about:")):
            problems.append(f"request to another host: {request.url}")

    context.on("console", on_console)
    context.on("weberror", lambda error: problems.append(f"uncaught: {error.error}"))
    context.on("request", on_request)


def keep_screenshots(context: BrowserContext, name: str) -> None:
    safe = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in name)
    for number, open_page in enumerate(context.pages):
        path = ROOT / "test-results" / f"{safe}-{number}.png"
        open_page.screenshot(path=path, full_page=True)
        print(f"screenshot: {path}")


# --- Redis and Celery -----------------------------------------------------------------------


@pytest.fixture(scope="session")
def redis_server_url() -> str:
    """A Redis database of this process's own."""
    given = os.environ.get("HEARTH_TEST_REDIS_URL")
    if not given:
        return ensure_redis()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REDIS_URL", given)
        return ensure_redis()


@pytest.fixture
def redis_url(redis_server_url: str) -> Iterator[str]:
    """The same, empty at the start of the test and after it."""
    clear_redis(redis_server_url)
    yield redis_server_url
    clear_redis(redis_server_url)


def clear_redis(url: str) -> None:
    import redis

    with redis.Redis.from_url(url) as client:
        # Unmarked, the database was given and may hold what others want to keep.
        if client.exists(REDIS_MARK):
            for key in set(client.scan_iter()) - {REDIS_MARK.encode()}:
                client.delete(key)


@pytest.fixture(params=["filesystem", "redis"])
def broker(request: pytest.FixtureRequest) -> Iterator[str]:
    """Celery's broker, for this process and for workers: the test runs once over each.

    For one only: `@pytest.mark.parametrize("broker", ["redis"], indirect=True)`.
    """
    from config.celery import app, make_queue_folders

    conf = app.conf
    before = conf.broker_url, conf.broker_transport_options
    if request.param == "redis":
        use_broker(request.getfixturevalue("redis_url"), settings.REDIS_TRANSPORT_OPTIONS)
    else:
        shutil.rmtree(settings.QUEUE_DIR, ignore_errors=True)
        use_broker("filesystem://", settings.FILESYSTEM_TRANSPORT_OPTIONS)
        make_queue_folders()
    yield conf.broker_url
    use_broker(*before)


def use_broker(url: str, options: dict[str, Any]) -> None:
    from config.celery import app

    app.conf.update(broker_url=url, broker_transport_options=options)
    app._after_fork()  # type: ignore[attr-defined]  # forgets its pools of connections


WORKER = "celery -A config.celery worker --loglevel=INFO --concurrency=1".split()


@dataclass(frozen=True)
class Worker:
    """A Celery worker with its children, in a process group of its own."""

    process: subprocess.Popen[bytes]
    log: Path

    def wait_until_ready(self) -> None:
        wait_for(lambda: self.is_ready or self.process.poll() is not None)
        if not self.is_ready:
            pytest.fail(f"the Celery worker did not start:\n{self.log.read_text()}")

    @property
    def is_ready(self) -> bool:
        return " ready." in self.log.read_text()

    def kill(self) -> None:
        """As a power cut would: the worker and its children at once."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """As a deployment does; a job that does not end in ten seconds is cut off."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self.kill()


@pytest.fixture
def start_worker(
    request: pytest.FixtureRequest, tmp_path: Path, broker: str, transactional_db: None
) -> Iterator[Callable[..., Worker]]:
    """Starts a real worker on the test's database and broker: `start_worker("--beat")`."""
    workers: list[Worker] = []

    def start(*arguments: str) -> Worker:
        log = tmp_path / f"worker-{len(workers)}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", *WORKER, *arguments],
                cwd=ROOT,
                env=worker_environment(broker),
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        worker = Worker(process, log)
        workers.append(worker)
        worker.wait_until_ready()
        return worker

    yield start

    for worker in workers:
        worker.kill()  # a warm shutdown over the filesystem takes five seconds
        request.node.add_report_section("teardown", worker.log.name, worker.log.read_text())


@pytest.fixture
def celery_worker_process(start_worker: Callable[..., Worker]) -> Worker:
    """A running worker; what the test sends with `delay_on_commit` is done by it."""
    return start_worker()


def worker_environment(broker_url: str) -> dict[str, str]:
    """The environment of this process, with the test's database and broker instead."""
    variables = {**os.environ, "DATABASE_URL": database_url_of_tests()}
    if broker_url.startswith("redis"):
        variables["REDIS_URL"] = broker_url
    return variables


def database_url_of_tests() -> str:
    from django.db import connection

    name = str(connection.settings_dict["NAME"])
    if connection.vendor == "sqlite":
        return f"sqlite:///{name}"
    return urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}").geturl()
