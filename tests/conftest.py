"""Fixtures for all tests: a separate HEARTH_HOME, a browser, Redis, a real Celery worker.

The tests run on SQLite, or on the PostgreSQL server in DATABASE_URL. `make test` does both.
"""

from __future__ import annotations

import atexit
import gc
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import hypothesis
import pytest

from hearth.processes import NEW_OBJECTS_OF_COMMANDS, collect_garbage_rarely
from tests.databases import FOLDER as MIGRATED
from tests.databases import locked, migrated_file, migrated_template, share
from tests.secrets_in_logs import SecretsInLogs
from tests.services import REDIS_MARK, ensure_chromium, ensure_redis
from tests.waiting import SECONDS, wait_for

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

ROOT = Path(__file__).resolve().parent.parent
TESTS = f"{ROOT}/tests/"

# --- Before Django reads its settings -------------------------------------------------------

# The first process creates and removes the folder. Each pytest-xdist process has a subfolder.
XDIST_WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
if not XDIST_WORKER:
    os.environ["HEARTH_TEST_FOLDER"] = tempfile.mkdtemp(prefix="hearth-tests-")
    atexit.register(shutil.rmtree, os.environ["HEARTH_TEST_FOLDER"], ignore_errors=True)
FOLDER = Path(os.environ["HEARTH_TEST_FOLDER"])
if not XDIST_WORKER:
    until_the_end = ExitStack()
    until_the_end.enter_context(share())
    atexit.register(until_the_end.close)

# Each test selects its broker, see the fixture `broker`.
if "REDIS_URL" in os.environ:
    os.environ["HEARTH_TEST_REDIS_URL"] = os.environ.pop("REDIS_URL")

os.environ.update(
    HEARTH_HOME=str(FOLDER / (XDIST_WORKER or "home")),
    DJANGO_SETTINGS_MODULE="tests.settings",
    # Playwright runs an event loop in the thread of the tests. The tests themselves are
    # synchronous.
    DJANGO_ALLOW_ASYNC_UNSAFE="true",
)

from django.conf import settings  # noqa: E402

if settings.configured:
    # Otherwise tests would write into a real HEARTH_HOME.
    raise pytest.UsageError("DJANGO_SETTINGS_MODULE is set in the environment: unset it for tests")
# The shared cache would need a database in every test. tests/accounts/test_caches.py tests it.
settings.CACHES["default"] = settings.CACHES["process"] | {"LOCATION": "shared"}

hypothesis.settings.register_profile("ci", deadline=None, derandomize=True)
hypothesis.settings.register_profile("deep", deadline=None, max_examples=2000)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """Make pytest-xdist processes read the settings after this file, as the first process does."""
    os.environ.pop("DJANGO_SETTINGS_MODULE", None)
    compile_tests_once(config.args)


def compile_tests_once(places: list[str]) -> None:
    """Let one process compile the tests. Otherwise each process would do it at the same time.

    pytest rewrites the assertions of a module before it compiles it, and stores the result. In a
    new clone this takes ten seconds of processor time. hypothesis reads the constants of all
    modules when it draws its first example, and stores them, too.
    """
    done = Path(os.environ[MIGRATED]) / "compiled"
    with locked(done):
        if not done.exists():
            collect = [sys.executable, "-m", "pytest", "--collect-only", "-qq", *places]
            subprocess.run(collect, cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
            done.touch()


# Folders and files whose tests take many seconds each. They run first, so that no process has to
# wait for one of them at the end.
LONG = (
    "faults/",
    "benchmarks/",
    "test_schema.py",
    "annotation/judging/test_labelling_rules.py",
    "e2e/",
    "hearth/test_worker.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not str(item.path).removeprefix(TESTS).startswith(LONG))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Exclude modules and tests from garbage collection, because they stay until the end.

    Other objects are collected rarely, as in commands, which saves 4 % of the processor time.
    """
    if session.config.option.collectonly:  # see compile_tests_once
        hypothesis.given(hypothesis.strategies.integers())(lambda number: None)()
    gc.collect()
    gc.freeze()
    collect_garbage_rarely(NEW_OBJECTS_OF_COMMANDS)


FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """Record whether the test failed, so that fixtures can read it in their teardown."""
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """Let Django use the copied file of SQLite. On PostgreSQL, it copies the template itself."""
    return settings.DATABASES["default"]["ENGINE"].endswith("sqlite3")


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Start from a migrated database, because a migration takes several seconds."""
    from django.db import connection

    if connection.vendor == "sqlite":
        name = connection.creation._get_test_db_name()  # type: ignore[attr-defined]
        shutil.copyfile(migrated_file(), name)
    else:
        template = migrated_template(os.environ["DATABASE_URL"])
        connection.settings_dict["TEST"]["TEMPLATE"] = template


# The rows of these tables depend only on the models, so they are not deleted after a test.
KEPT_TABLES = {"django_content_type", "auth_permission"}


@pytest.fixture(scope="session", autouse=True)
def _flush_quickly() -> None:
    """Empty all tables after a test, including those that triggers protect.

    Django empties the tables of PostgreSQL with TRUNCATE, which writes a hundred files and takes
    about a second. Deleting the few rows of a test takes five milliseconds.
    """
    from django.core.management.commands import flush
    from django.db import connection

    from evaluation import triggers as labels
    from hearth.audit import triggers as audit

    vendor = connection.vendor

    def sql_flush(self: Any, style: Any, tables: list[str], **options: Any) -> list[str]:
        deletions = [f'DELETE FROM "{table}"' for table in tables if table not in KEPT_TABLES]  # noqa: S608
        drop = [*audit.DROP[vendor], *labels.DROP[vendor]]
        return [*drop, *deletions, *audit.CREATE[vendor], *labels.CREATE[vendor]]

    type(connection.ops).sql_flush = sql_flush  # type: ignore[assignment,method-assign]
    flush.emit_post_migrate_signal = lambda *arguments, **options: None  # type: ignore[attr-defined]


@pytest.fixture(scope="session", autouse=True)
def _list_static_files_once() -> Iterator[None]:
    """Let all test clients share WhiteNoise's list of static files.

    Each new client has its own middleware, which would read the metadata of all files again. That
    took a seventh of the processor time of all tests.
    """
    from whitenoise.middleware import WhiteNoiseMiddleware

    found: dict[str, Any] = {}
    list_files = WhiteNoiseMiddleware.add_files_from_finders

    def list_files_once(self: WhiteNoiseMiddleware) -> None:
        if not found:
            list_files(self)
            found.update(self.files)
        self.files.update(found)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WhiteNoiseMiddleware, "add_files_from_finders", list_files_once)
        yield


@pytest.fixture(scope="session")
def secrets_in_logs() -> Iterator[SecretsInLogs]:
    """The handler that reads the log of all tests in this process."""
    from hearth.logs import LineFormatter

    handler = SecretsInLogs()
    handler.setFormatter(LineFormatter())
    logging.getLogger().addHandler(handler)
    with pytest.MonkeyPatch.context() as patch:
        # A command that runs in this process would configure the log again, without this handler.
        patch.setattr(settings, "LOGGING_CONFIG", None)
        handler.watch(patch)
        yield handler
    logging.getLogger().removeHandler(handler)


@pytest.fixture(autouse=True)
def _no_secret_in_logs(secrets_in_logs: SecretsInLogs) -> Iterator[None]:
    """Fail if a log record contains a secret that the test made, or if the log is not read."""
    yield
    assert secrets_in_logs.take_leaks() == [], "a secret is in the log"
    assert secrets_in_logs in logging.getLogger().handlers, "the test removed the handlers of logs"


@pytest.fixture(autouse=True)
def _empty_cache() -> None:
    """Reset the counts of throttles and rate limits, the cached figures, and the metrics.

    The page of metrics has a line for each view and range of times. With the lines of all earlier
    tests, it would take half a second.
    """
    from django.core.cache import caches

    from hearth.requests.throttles import PERMITS
    from hearth.shared.metrics import REQUEST_SECONDS, RESPONSES

    for name in settings.CACHES:
        caches[name].clear()
    PERMITS.clear()
    REQUEST_SECONDS.clear()
    RESPONSES.clear()


# --- Browser --------------------------------------------------------------------------------

PLAIN_HOST = "hearth.test"
BROWSER_ARGUMENTS = [
    *(["--no-sandbox"] if os.geteuid() == 0 else []),  # Chromium has no sandbox for root
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # A name that is not local, so that pages over HTTP are not secure contexts there.
    f"--host-resolver-rules=MAP {PLAIN_HOST} 127.0.0.1",
]
# Pages have no animations or transitions, so that a test never sees a page between two states. The
# setting `reduced_motion="reduce"` is not used, because it also stops the playing of videos.
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
    """The errors in pages so far. A test removes those that it causes on purpose."""
    return []


@pytest.fixture
def new_page(
    request: pytest.FixtureRequest, browser: Browser, live_server: Any, page_problems: list[str]
) -> Iterator[Callable[[], Page]]:
    """Return a function that opens a page with separate cookies: `anna = new_page()`.

    At its end, the test fails if a page had an error in its console, an uncaught exception or a
    request to another host. Violations of the Content-Security-Policy are errors in the console.
    """
    contexts: list[BrowserContext] = []

    def open_page() -> Page:
        context = open_context(browser, live_server.url, page_problems)
        contexts.append(context)
        return context.new_page()

    yield open_page

    for number, context in enumerate(contexts):
        if request.node.stash.get(FAILED, False):
            save_screenshots(context, f"{request.node.name}-{number}")
        context.close()
    wait_for_requests()
    assert page_problems == []


@pytest.fixture
def page(new_page: Callable[[], Page]) -> Page:
    return new_page()


def open_context(browser: Browser, url: str, problems: list[str], **options: Any) -> BrowserContext:
    """Open a browser context with separate cookies, whose pages have no animations."""
    from tests.e2e import waiting

    context = browser.new_context(base_url=url, **options)
    context.set_default_timeout(waiting.SECONDS * 1000)
    context.add_init_script(STILL)
    collect_problems(context, url, problems)
    return context


def wait_for_requests() -> None:
    """Wait until the server has finished the requests of closed pages.

    On PostgreSQL, an unfinished request would block the deletion of the rows after the test.
    """
    assert wait_for(lambda: not unfinished_requests()), "a request never ended:\n" + "\n".join(
        stack_of(thread) for thread in unfinished_requests()
    )


def unfinished_requests() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if "process_request_thread" in one.name]


def stack_of(thread: threading.Thread) -> str:
    """Return the lines at which a thread of this process is now."""
    frame = sys._current_frames().get(thread.ident or 0)
    return "".join(traceback.format_stack(frame)) if frame else f"{thread.name} has ended"


def collect_problems(context: BrowserContext, own_url: str, problems: list[str]) -> None:
    def on_console(message: Any) -> None:
        source = message.location.get("url", "")
        # A browser requests favicon.ico if a page names no icon. The pages of the admin name none.
        if message.type == "error" and not source.endswith("/favicon.ico"):
            problems.append(f"console: {message.text} ({source})")

    def on_request(request: Any) -> None:
        if not request.url.startswith((own_url, "data:", "blob:", "about:")):
            problems.append(f"request to another host: {request.url}")

    context.on("console", on_console)
    context.on("weberror", lambda error: problems.append(f"uncaught: {error.error}"))
    context.on("request", on_request)


def save_screenshots(context: BrowserContext, name: str) -> None:
    safe = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in name)
    for number, open_page in enumerate(context.pages):
        path = ROOT / "test-results" / f"{safe}-{number}.png"
        open_page.screenshot(path=path, full_page=True)
        print(f"screenshot: {path}")


# --- Redis and Celery -----------------------------------------------------------------------


@pytest.fixture(scope="session")
def redis_server_url() -> str:
    """A Redis database that only this process uses."""
    url = os.environ.get("HEARTH_TEST_REDIS_URL")
    if not url:
        return ensure_redis()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REDIS_URL", url)
        return ensure_redis()


@pytest.fixture
def redis_url(redis_server_url: str) -> Iterator[str]:
    """The Redis database, empty at the start and after the end of the test."""
    clear_redis(redis_server_url)
    yield redis_server_url
    clear_redis(redis_server_url)


def clear_redis(url: str) -> None:
    import redis

    with redis.Redis.from_url(url) as client:
        # A database without the mark comes from the environment and can contain other data.
        if client.exists(REDIS_MARK):
            for key in set(client.scan_iter()) - {REDIS_MARK.encode()}:
                client.delete(key)


@pytest.fixture(params=["redis"] if "DATABASE_URL" in os.environ else ["filesystem", "redis"])
def broker(request: pytest.FixtureRequest) -> Iterator[str]:
    """The broker of Celery, for this process and for workers.

    On SQLite, the test runs once with each broker, and on PostgreSQL only with Redis. For one
    broker, use `@pytest.mark.parametrize("broker", ["redis"], indirect=True)`.
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
    app._after_fork()  # type: ignore[attr-defined]  # drops its connection pools


def take_tasks() -> list[tuple[str, list[Any]]]:
    """Remove all messages from the queue of Celery. Return the names and arguments of the tasks."""
    from config.celery import app

    taken = []
    with (
        app.connection_for_read() as link,
        link.SimpleQueue("celery") as queue,
        suppress(queue.Empty),
    ):
        while True:
            message = queue.get(block=False)
            message.ack()
            taken.append((message.headers["task"], message.payload[0]))
    return taken


WORKER = "celery -A config.celery worker --loglevel=INFO --concurrency=1".split()


@dataclass(frozen=True)
class Worker:
    """A Celery worker with its children, in a separate process group."""

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
        """Kill the worker and its children immediately, like a power failure."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """Stop the worker as a deployment does. It is killed if it does not end in ten seconds."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self.kill()


@contextmanager
def running_worker(log: Path, broker_url: str, *arguments: str) -> Iterator[Worker]:
    """Run a worker on the database of the tests. At the end, it is killed.

    A warm shutdown with the filesystem broker would take five seconds.
    """
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", *WORKER, *arguments],
            cwd=ROOT,
            env=worker_environment(broker_url),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    worker = Worker(process, log)
    try:
        worker.wait_until_ready()
        yield worker
    finally:
        worker.kill()


@pytest.fixture
def start_worker(
    request: pytest.FixtureRequest, tmp_path: Path, broker: str, transactional_db: None
) -> Iterator[Callable[..., Worker]]:
    """Return a function that starts a worker on the test's database: `start_worker("--beat")`."""
    logs: list[Path] = []
    with ExitStack() as workers:

        def start(*arguments: str) -> Worker:
            logs.append(tmp_path / f"worker-{len(logs)}.log")
            return workers.enter_context(running_worker(logs[-1], broker, *arguments))

        yield start
    for log in logs:
        request.node.add_report_section("teardown", log.name, log.read_text())


@pytest.fixture
def celery_worker_process(start_worker: Callable[..., Worker]) -> Worker:
    """A running worker. It does the tasks that the test sends with `delay_on_commit`."""
    return start_worker()


def worker_environment(broker_url: str) -> dict[str, str]:
    """Return the environment of this process, with the database and broker of the test."""
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
