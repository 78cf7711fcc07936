"""The log: no secrets, no forged lines, and the request that each message belongs to."""

from __future__ import annotations

import io
import json
import logging
import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.tokens import default_token_generator
from django.core import mail
from django.test import Client

from hearth.accounts.models import TokenRight
from hearth.accounts.roles import Role
from hearth.accounts.services import create_token, invite
from hearth.jobs.models import Job
from hearth.jobs.services import run_job
from hearth.logs import (
    JsonFormatter,
    LineFormatter,
    RequestInfo,
    client_address,
    current_request,
    logging_settings,
)
from tests.accounts.world import token_of
from tests.factories import PASSWORD, make_user
from tests.secrets_in_logs import SecretsInLogs

# A newline that forges a line, ANSI colours that hide a line, a Unicode line end, a C1 control
# character, and a change of the writing direction.
HOSTILE = "anna\n2026-01-01 ERROR root: forged\r\x1b[2K\x1b[31mred\u2028next\x85\u202egnp\x00\x7f"


def record(message: str, *values: Any, error: BaseException | None = None) -> logging.LogRecord:
    about = None if error is None else (type(error), error, error.__traceback__)
    return logging.LogRecord("hearth.test", logging.WARNING, "", 0, message, values, about)


@pytest.fixture
def in_request() -> Iterator[None]:
    token = current_request.set(RequestInfo("request-0001", "10.0.0.7", 5))
    yield
    current_request.reset(token)


def test_no_text_forges_a_line(in_request: None) -> None:
    line = LineFormatter().format(record("name %s", HOSTILE))
    assert re.sub(r"^\S+ ", "", line) == (
        "WARNING hearth.test [request-0001 user=5 10.0.0.7]: name anna\\n2026-01-01 ERROR root: "
        "forged\\r\\x1b[2K\\x1b[31mred\\u2028next\\x85\\u202egnp\\x00\\x7f"
    )
    assert line.isprintable()


def test_no_error_forges_a_line() -> None:
    try:
        raise ValueError(HOSTILE)
    except ValueError as error:
        lines = LineFormatter().format(record("failed", error=error)).split("\n")
    assert lines[0].endswith("WARNING hearth.test: failed")
    assert all(line.startswith("    ") and line.isprintable() for line in lines[1:])
    assert "    ValueError: anna" in lines


def test_a_json_line_has_the_request(in_request: None) -> None:
    entry = record("name %s", HOSTILE)
    entry.status, entry.path = 200, "/invitations/s3cret/"
    line = JsonFormatter().format(entry)
    assert line.isascii()
    assert line.isprintable()
    values = json.loads(line)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", values.pop("time"))
    assert values == {
        "level": "WARNING",
        "logger": "hearth.test",
        "message": f"name {HOSTILE}",
        "request": "request-0001",
        "user": 5,
        "address": "10.0.0.7",
        "status": 200,
        "path": "/invitations/***/",
    }


@pytest.mark.parametrize("formatter", [LineFormatter(), JsonFormatter()])
@pytest.mark.parametrize(
    "path",
    [
        "/invitations/s3cret/",
        "/accounts/password/reset/key/s3cret-abc-def/",
        "/accounts/confirm-email/MQ:s3cret:abc/",
        "/accounts/oidc/sso/login/callback/?code=s3cret&state=s3cret",
    ],
)
def test_links_that_give_access_are_masked(formatter: logging.Formatter, path: str) -> None:
    try:
        raise ValueError(f"no page {path}")
    except ValueError as error:
        text = formatter.format(record("Not Found: %s", path, error=error))
    assert "s3cret" not in text
    assert text.count("***") == 2 * path.count("s3cret")


@pytest.mark.parametrize(
    ("forwarded", "proxies", "address"),
    [
        ("", 0, "127.0.0.1"),
        ("6.6.6.6", 0, "127.0.0.1"),  # no proxy is trusted, so the client wrote it
        ("6.6.6.6, 10.0.0.7", 1, "10.0.0.7"),
        ("6.6.6.6, 10.0.0.7, 10.0.0.1", 2, "10.0.0.7"),
        ("10.0.0.7", 2, "127.0.0.1"),
        ("evil\nline", 1, "unknown"),
        ("10.0.0.7:5678", 1, "10.0.0.7"),
        ("[2001:db8::1]:5678", 1, "2001:db8::1"),
        ("unknown", 1, "unknown"),
        ("2001:db8::1", 1, "2001:db8::1"),
    ],
)
def test_the_address_of_the_client(rf: Any, forwarded: str, proxies: int, address: str) -> None:
    headers = {"X-Forwarded-For": forwarded} if forwarded else {}
    assert client_address(rf.get("/", headers=headers), proxies) == address


# --- The access log -----------------------------------------------------------------------------


@pytest.fixture
def access_lines() -> Iterator[list[dict[str, Any]]]:
    lines: list[dict[str, Any]] = []
    handler = logging.Handler()
    formatter = JsonFormatter()
    handler.emit = lambda entry: lines.append(json.loads(formatter.format(entry)))  # type: ignore[method-assign]
    logger = logging.getLogger("hearth.access")
    level = logger.level
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    yield lines
    logger.removeHandler(handler)
    logger.setLevel(level)


@pytest.mark.django_db
def test_each_request_has_one_line(access_lines: list[dict[str, Any]]) -> None:
    anna = make_user("anna", Role.ANNOTATOR)
    client = Client()
    client.force_login(anna)
    answer = client.get("/me/?q=typed", headers={"X-Request-ID": "from-the-proxy-1"})
    assert answer["X-Request-ID"] == "from-the-proxy-1"
    (line,) = access_lines
    assert line.pop("milliseconds") > 0
    del line["time"], line["message"]
    assert line == {
        "level": "INFO",
        "logger": "hearth.access",
        "request": "from-the-proxy-1",
        "user": anna.pk,
        "address": "127.0.0.1",
        "method": "GET",
        "path": "/me/",
        "view": "me",
        "status": 200,
        "bytes": len(answer.content),
    }


@pytest.mark.django_db
def test_a_message_that_django_logs_after_the_middleware_names_the_request(
    caplog: pytest.LogCaptureFixture,
) -> None:
    answer = Client().get("/no/such/page/", headers={"X-Request-ID": "from-the-proxy-1"})
    assert answer.status_code == 404
    (one,) = [one for one in caplog.records if one.name == "django.request"]
    values = json.loads(JsonFormatter().format(one))
    assert (values["message"], values["request"]) == (
        "Not Found: /no/such/page/",
        "from-the-proxy-1",
    )
    assert "[from-the-proxy-1 user=- 127.0.0.1]" in LineFormatter().format(one)


@pytest.mark.django_db
@pytest.mark.parametrize("sent", ["short", "a" * 65, "with space inside", "back\\slash", ""])
def test_invalid_request_ids_are_replaced(access_lines: list[dict[str, Any]], sent: str) -> None:
    answer = Client().get("/accounts/login/", headers={"X-Request-ID": sent})
    assert re.fullmatch(r"[0-9a-f]{32}", answer["X-Request-ID"])
    assert [line["request"] for line in access_lines] == [answer["X-Request-ID"]]


@pytest.mark.django_db
def test_the_line_names_the_person_of_a_token_and_no_person_for_a_visitor(
    access_lines: list[dict[str, Any]],
) -> None:
    rita = make_user("rita", Role.RESEARCHER)
    headers = {"Authorization": f"Token {token_of(rita)}"}
    Client().get("/api/v1/benchmarks/", headers=headers)
    Client().get("/api/v1/benchmarks/")
    Client().get("/invitations/s3cret/")
    found = [(line["path"], line["user"], line["status"]) for line in access_lines]
    assert found == [
        ("/api/v1/benchmarks/", rita.pk, 200),
        ("/api/v1/benchmarks/", None, 401),
        ("/invitations/***/", None, 404),
    ]


# --- Secrets ------------------------------------------------------------------------------------


@pytest.fixture
def whole_log() -> Iterator[io.StringIO]:
    """All messages of all loggers, at the lowest level, as both formats write them."""
    out = io.StringIO()
    handlers = [logging.StreamHandler(out), logging.StreamHandler(out)]
    handlers[0].setFormatter(LineFormatter())
    handlers[1].setFormatter(JsonFormatter())
    root = logging.getLogger()
    level = root.level
    root.setLevel(logging.DEBUG)
    for handler in handlers:
        root.addHandler(handler)
    yield out
    root.setLevel(level)
    for handler in handlers:
        root.removeHandler(handler)


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
@pytest.mark.filterwarnings("ignore")
def test_no_secret_and_no_personal_data_is_logged(whole_log: io.StringIO, settings: Any) -> None:
    """Plant secrets in every place where a person types one, and search the whole log for them."""
    # Django logs SQL statements only for debugging, so this test does not read them.
    logging.getLogger("django.db.backends").setLevel(logging.WARNING)
    settings.CAN_SEND_EMAIL = True
    admin = make_user("admin", Role.ADMIN)
    planted = {"password": "canary-password-1", "mail": "canary-mail@example.org"}
    client = Client(raise_request_exception=False)
    for path in ("/accounts/login/", "/admin/login/"):
        names = {"login": "canary-login-name", "username": "canary-login-name"}
        client.post(path, {**names, "password": planted["password"]})
    client.post("/accounts/login/", {"login": "admin", "password": PASSWORD})
    client.post("/accounts/password/change/", {"oldpassword": "canary-password-2"})

    made = invite(role=Role.LEAD, by=admin, note="canary-note")
    visitor = Client(raise_request_exception=False)
    visitor.get(f"/invitations/{made.token}/")
    form = {"username": "canary-user-name", "name": "Canary Person", "email": planted["mail"]}
    joined = {**form, "password1": "canary-password-3", "password2": "canary-password-3"}
    visitor.post("/invitation/", {**joined, "what": "join"})
    visitor.post("/accounts/password/reset/", {"email": planted["mail"]})
    for message in mail.outbox:
        for link in re.findall(r"/accounts/password/reset/key/\S+", message.body):
            visitor.get(link)

    token = token_of(admin)
    for header in (f"Token {token}", "Token canary-wrong-token"):
        visitor.get("/api/v1/benchmarks/?search=canary-search", headers={"Authorization": header})
    visitor.post("/api/v1/nothing/", {"text": "canary-body"}, content_type="application/json")
    failed = Job.objects.create(kind="import_run", title="canary-title", params={"canary-key": 1})
    run_job(failed.pk)
    failed.refresh_from_db()
    assert "canary" not in failed.error

    text = whole_log.getvalue()
    assert "/api/v1/benchmarks/" in text  # something was logged
    # The name of a failed sign-in may be logged, because an operator must see what is attacked.
    allowed = "canary-login-name"
    assert sorted(set(re.findall(r"canary[\w@.-]*", text.replace(allowed, ""), re.I))) == []
    for secret in (made.token, token):
        assert secret not in text
    for cookies in (client.cookies, visitor.cookies):
        for cookie in cookies.values():
            assert not cookie.value or cookie.value not in text


def test_the_settings_write_one_line_for_each_message(capsys: pytest.CaptureFixture[str]) -> None:
    script = (
        "import logging, logging.config; from hearth.logs import logging_settings as s;"
        "logging.config.dictConfig(s('json', 'INFO'));"
        "logging.getLogger('django.request').warning('one %s', 'a\\nb');"
        "logging.getLogger('kombu.connection').warning('hidden')"
    )
    import subprocess

    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert [json.loads(line)["message"] for line in done.stderr.splitlines()] == ["one a\nb"]
    assert logging_settings("line", "INFO")["formatters"]["own"]["()"].endswith("LineFormatter")


@pytest.mark.django_db
def test_every_test_fails_if_a_secret_is_logged(secrets_in_logs: SecretsInLogs) -> None:
    rita = make_user("rita", Role.RESEARCHER)
    client = Client()
    client.force_login(rita)
    token = create_token(by=rita, name="a", rights=[TokenRight.READ], days=None)
    link = default_token_generator.make_token(rita)
    assert secrets_in_logs.leaks == []

    log = logging.getLogger("somewhere.else")
    for secret in (PASSWORD, str(client.session.session_key), token.key, f"/open/{link}/"):
        log.warning("Signed in with %s.", secret)
    # The formatter of the server masks the secret part of this address.
    log.warning("GET /accounts/password/reset/key/%s/", link)
    log.warning("Signed in.")
    assert len(secrets_in_logs.take_leaks()) == 4
