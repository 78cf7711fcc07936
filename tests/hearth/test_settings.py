"""The settings for different environments."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection

from config.settings import DEVELOPMENT_KEY
from hearth.requests.wsgi import answering_unreadable_requests
from tests.conftest import ROOT

OWN_KEY = "k" * 60


def start(home: Path, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run manage.py with these variables, without those of the tests."""
    ours = {"SECRET_KEY", "DEBUG", "ALLOWED_HOSTS", "DATABASE_URL", "REDIS_URL", "HTTPS"}
    # See tests/conftest.py and tests.
    ours |= {"DJANGO_ALLOW_ASYNC_UNSAFE", "DJANGO_SETTINGS_MODULE", "COOKIE_SUFFIX"}
    kept = {name: value for name, value in os.environ.items() if name not in ours}
    return subprocess.run(
        [sys.executable, "manage.py", *command],
        cwd=ROOT,
        env={**kept, "HEARTH_HOME": str(home), **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("environment", [{}, {"SECRET_KEY": DEVELOPMENT_KEY}, {"SECRET_KEY": ""}])
def test_a_public_host_needs_its_own_key(tmp_path: Path, environment: dict[str, str]) -> None:
    done = start(tmp_path, "check", ALLOWED_HOSTS="hearth.example", **environment)
    assert done.returncode != 0
    assert done.stdout == ""
    assert "Set SECRET_KEY to your own long random text" in done.stderr


def test_a_local_host_needs_no_settings(tmp_path: Path) -> None:
    done = start(tmp_path, "check")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_production_site_passes_the_deployment_check(tmp_path: Path) -> None:
    done = start(
        tmp_path,
        *"check --deploy --fail-level WARNING".split(),
        ALLOWED_HOSTS="hearth.example",
        SECRET_KEY=OWN_KEY + "0123456789",
        DATABASE_URL="postgres://db.example/hearth",
        REDIS_URL="redis://redis.example:6379/0",
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", ["home", "lab #1?x=1 c++ 100%41 $x"])
def test_the_database_is_created_below_the_home(tmp_path: Path, name: str) -> None:
    done = start(tmp_path / name, "migrate", "contenttypes", "--verbosity=0")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / name / "hearth.sqlite3").is_file()
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_database_url_with_a_fragment_is_refused(tmp_path: Path) -> None:
    done = start(tmp_path, "check", DATABASE_URL=f"sqlite:///{tmp_path}/lab #1/hearth.sqlite3")
    assert done.returncode != 0
    assert done.stderr.endswith("Write # as %23 in DATABASE_URL, which is a URL.\n")


def test_two_sites_on_one_host_have_different_cookies(tmp_path: Path) -> None:
    """Browsers send cookies to all ports of a host."""
    show = (
        "from django.conf import settings as s; "
        "from django.utils.module_loading import import_string; "
        "messages = import_string(s.MESSAGE_STORAGE).storage_classes[0]; "
        "print(s.SESSION_COOKIE_NAME, s.CSRF_COOKIE_NAME, s.LANGUAGE_COOKIE_NAME, "
        "messages.cookie_name)"
    )
    public = {"ALLOWED_HOSTS": "hearth.example", "SECRET_KEY": OWN_KEY}
    homes = [(tmp_path / "a", {}), (tmp_path / "b", {}), (tmp_path / "c", public)]
    shown = [start(home, "shell", "-v0", "-c", show, **given).stdout for home, given in homes]
    a, b, c = (line.split() for line in shown)
    assert not set(a) & set(b)
    assert all(name.startswith("sessionid_") for name in (a[0], b[0]))
    # All replicas of a public site share the names, wherever their folders are.
    names = ["sessionid", "csrftoken", "django_language", "messages"]
    assert c == [f"__Host-{name}" for name in names]


def test_a_site_below_a_path_is_refused(tmp_path: Path) -> None:
    done = start(tmp_path, "check", SCRIPT_NAME="/hearth")
    assert done.returncode != 0
    assert "Hearth cannot be served below a path. Unset SCRIPT_NAME" in done.stderr

    # Some servers send the path with each request instead.
    statuses: list[str] = []
    served = answering_unreadable_requests(lambda environ, start_response: [b"page"])
    for path in ("", "/", "/hearth"):
        served({"SCRIPT_NAME": path}, lambda status, headers: statuses.append(status))
    assert statuses == ["500 Internal Server Error"]


@pytest.mark.postgresql
def test_the_options_of_the_database(db: None) -> None:
    def values_of(*statements: str) -> list[object]:
        with connection.cursor() as cursor:
            values = []
            for statement in statements:
                cursor.execute(statement)
                values.append(cursor.fetchone()[0])
            return values

    assert connection.settings_dict["ATOMIC_REQUESTS"] is False
    if connection.vendor == "sqlite":
        pragmas = ["journal_mode", "synchronous", "foreign_keys", "busy_timeout"]
        found = values_of(*[f"PRAGMA {pragma}" for pragma in pragmas])
        assert found == ["wal", 2, 1, 20_000]  # 2 is FULL
        assert connection.transaction_mode == "IMMEDIATE"
    else:
        names = ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"]
        assert values_of(*[f"SHOW {name}" for name in names]) == ["15s", "5s", "30s"]
        assert values_of("SHOW cursor_tuple_fraction") == ["1"]
        assert connection.settings_dict["CONN_HEALTH_CHECKS"] is True


def test_an_email_url_names_the_server(tmp_path: Path) -> None:
    show = (
        "from django.conf import settings as s;"
        "print(s.CAN_SEND_EMAIL, s.EMAIL_BACKEND.split('.')[-2], s.EMAIL_HOST, s.EMAIL_PORT)"
    )
    shell = ["shell", "--verbosity=0", "-c", show]
    without = start(tmp_path, *shell)
    assert (without.stdout, without.stderr) == ("False dummy None None\n", "")
    smtp = start(tmp_path, *shell, EMAIL_URL="smtp+tls://hearth:secret@mail.example:587")
    assert (smtp.stdout, smtp.stderr) == ("True smtp mail.example 587\n", "")


def test_emails_are_never_printed(tmp_path: Path) -> None:
    done = start(tmp_path, "check", EMAIL_URL="consolemail://")
    assert done.returncode != 0
    assert "EMAIL_URL must not print e-mails" in done.stderr


@pytest.mark.parametrize(("hosts", "is_demo"), [("localhost", "True"), ("hearth.example", "False")])
def test_the_demo_runs_only_on_this_machine(tmp_path: Path, hosts: str, is_demo: str) -> None:
    show = "from django.conf import settings as s; print(s.DEMO)"
    variables = {"HEARTH_DEMO": "1", "ALLOWED_HOSTS": hosts, "SECRET_KEY": OWN_KEY}
    done = start(tmp_path, "shell", "--verbosity=0", "-c", show, **variables)
    assert (done.stdout, done.stderr) == (f"{is_demo}\n", "")
