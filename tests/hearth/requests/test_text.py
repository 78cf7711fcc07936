"""Characters that no database stores, in every part of a request."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.contrib.auth import SESSION_KEY
from django.test import Client

from config.wsgi import application
from hearth.accounts.roles import Role
from hearth.jobs.models import Job
from pooling.models import Benchmark
from tests.accounts.world import token_of
from tests.factories import make_user
from tests.hearth.requests.world import FORM, JSON, MULTIPART, Body, multipart, send

ENCODED_NUL, ENCODED_SURROGATE = "%00", "%ED%A0%80"
API_UPLOAD = "/api/v1/benchmarks/tiny/runs/"


@pytest.fixture
def lead(benchmark: Benchmark) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(make_user("lena", Role.LEAD))
    return client


@pytest.mark.parametrize(
    "path",
    [
        "/benchmarks/a%00b/",
        "/accounts/password/reset/key/1-%00/",
        "/api/v1/benchmarks/%00/",
        "/jobs/?state=%00",
        "/accounts/login/?next=/%00",
        "/api/v1/benchmarks/tiny/compare/?runs=a%00",
        "/benchmarks/tiny/?q=%ED%A0%80",
        "/benchmarks/tiny/?q=%FF",
        "/benchmarks/tiny/?%00=1",
    ],
)
def test_an_address_with_an_unstorable_character_is_refused(lead: Client, path: str) -> None:
    """On PostgreSQL, a NUL in a database query would be a server error."""
    answer = lead.get(path)
    assert answer.status_code == 400
    assert ("cannot be stored" in answer.content.decode()) == ("%00" in path)


@pytest.mark.parametrize("method", ["get", "post", "put", "delete", "options", "head"])
def test_every_method_is_checked(lead: Client, method: str) -> None:
    assert getattr(lead, method)("/jobs/?state=%00").status_code == 400


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("HTTP_COOKIE", r'sessionid="\000abc"'),
        ("HTTP_COOKIE", "hearth\0=1"),
        ("HTTP_AUTHORIZATION", "Token \0"),
        ("HTTP_USER_AGENT", "browser\0"),
        ("HTTP_X_HEARTH_PERSON", "1\0"),
        ("HTTP_HX_CURRENT_URL", "http://testserver/%00"),
        ("CONTENT_TYPE", "application/json\0"),
    ],
)
@pytest.mark.parametrize("path", ["/jobs/", "/api/v1/jobs/", "/accounts/login/"])
def test_a_header_with_an_unstorable_character_is_refused(
    lead: Client, path: str, header: str, value: str
) -> None:
    if header == "HTTP_COOKIE":
        lead.cookies.clear()
    assert lead.get(path, **{header: value}).status_code == 400


@pytest.mark.parametrize("charset", ["utf-16", "utf-7", "unicode_escape", "zlib", "base64", "idna"])
@pytest.mark.parametrize("content_type", [MULTIPART, FORM, JSON])
@pytest.mark.parametrize("query", ["", "next=/me/"])
def test_only_utf_8_is_read(db: None, query: str, content_type: str, charset: str) -> None:
    """Some of the other codecs decode bytes to surrogates, or do not decode to text."""
    for path in ("/accounts/login/", "/api/v1/judgments/"):
        assert status_of(path, f"{content_type}; charset={charset}", query) == "400"


@pytest.mark.parametrize(
    "content_type",
    [
        "multipart/form-data; boundary*=zlib''x",
        "multipart/form-data; boundary*=none''x",
        "multipart/form-data; boundary*=utf-16''%00",
        "application/json; charset*=unicode_escape''%5Cud800",
        "application/json; charset=utf\0",
        "text/html; =; ;;; x*0*=''%FF",
    ],
)
def test_a_content_type_that_cannot_be_parsed_is_refused(db: None, content_type: str) -> None:
    """Django parses the header before the first middleware."""
    assert status_of("/accounts/login/", content_type) in {"400", "403"}


def test_too_many_parameters_are_refused_before_the_first_middleware(db: None) -> None:
    """With a charset, Django parses the query string together with the header."""
    many = "&".join(f"f{number}=1" for number in range(10_000))
    assert status_of("/accounts/login/", f"{FORM}; charset=utf-8", many) == "400"


def status_of(path: str, content_type: str, query: str = "") -> str:
    """Return the status that a server gets from the WSGI application."""
    environ = {
        **Client()._base_environ(PATH_INFO=path, REQUEST_METHOD="POST", QUERY_STRING=query),
        "CONTENT_TYPE": content_type,
        "CONTENT_LENGTH": "2",
        "wsgi.input": Body(b"{}"),
    }
    statuses: list[str] = []
    b"".join(application(environ, lambda status, headers: statuses.append(status[:3])))
    return statuses[0]


def test_a_form_with_an_unstorable_character_is_refused(lead: Client) -> None:
    visitor = Client(raise_request_exception=False)
    bodies = [
        (b"login=a%00&password=b", FORM),
        (b"log%00in=a", FORM),
        (multipart({"login": "a\0"}), MULTIPART),
        (multipart({"log\0in": "a"}), MULTIPART),
    ]
    for content, content_type in bodies:
        assert send(visitor, "/accounts/login/", Body(content), content_type).status_code == 400
        assert send(lead, "/me/keys/", Body(content), content_type).status_code == 400


def test_a_form_of_the_api_is_checked_with_a_session_and_with_a_token(lead: Client) -> None:
    token = token_of(make_user("lea", Role.LEAD))
    for client, headers in [(lead, {}), (Client(), {"HTTP_AUTHORIZATION": f"Token {token}"})]:
        body = Body(multipart({"system": "a\0"}, b"x"))
        answer = send(client, API_UPLOAD, body, **headers)
        assert (answer.status_code, answer.json()["detail"]) == (
            400,
            "The form contains the character U+0000, which cannot be stored. Remove it.",
        )


UNSTORABLE_JSON = [r'"\u0000"', r'"a\ud800"', r'{"\udfff": 1}', r'[[{"a": ["\u0000"]}]]']
INVALID_JSON = [
    '{"a": 1, "a": 2}',
    "NaN",
    "[1e999, Infinity]",
    "1" * 5000,
    "[" * 100_000,
    '"\ud800"',
    "",
    "\ufeff{}",
]


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/judgments/",
        "/api/v1/escalations/",
        "/api/v1/benchmarks/tiny/runs/",
        "/api/v1/benchmarks/tiny/pools/",
        "/api/v1/benchmarks/tiny/analyses/agreement/",
    ],
)
def test_json_that_cannot_be_stored_or_read_is_refused(lead: Client, path: str) -> None:
    """The response states the reason. Duplicate keys are refused, too."""
    for text in UNSTORABLE_JSON + INVALID_JSON:
        content = text.encode("utf-8", "surrogatepass")
        answer = send(lead, path, Body(content or b" "), JSON)
        assert (answer.status_code, answer["Content-Type"]) == (400, "application/json")
        assert answer.json()["detail"]


def test_surrogates_in_a_request_are_never_sent_back(lead: Client) -> None:
    """Otherwise, the message about a wrong choice would repeat the surrogate."""
    for path, body in [
        ("/api/v1/escalations/", rb'{"assignment": 1, "kind": "\ud800"}'),
        (API_UPLOAD, rb'{"format": "\ud800", "system": "a"}'),
    ]:
        assert send(lead, path, Body(body), JSON).status_code == 400


def test_options_requests_are_refused_on_every_view_of_the_api(lead: Client) -> None:
    """REST framework would look for a serializer, which some views do not have."""
    for path in ("judgments/", "campaigns/", "benchmarks/tiny/analyses/", "benchmarks/tiny/runs/"):
        assert lead.options(f"/api/v1/{path}").status_code == 405


@pytest.mark.parametrize(
    "name",
    [
        *("n" * 900 + ".run", "ü" * 300, "\u202egnp.run", "a\nb\x1b[31m", "😀\0.run"),
        *("../../etc/passwd", "..\\..\\x", 'a\\"b\\".run', "CON"),
    ],
)
def test_long_and_odd_file_names_become_titles(lead: Client, name: str) -> None:
    """The title is cut, and contains no control characters."""
    body = Body(multipart({"system": "s"}, b"c0 Q0 v1 1 1.0 t\n", name))
    answer = send(lead, API_UPLOAD, body)
    assert answer.status_code == 202
    job = Job.objects.get()
    assert len(job.title) <= 300
    assert job.title.isprintable()
    assert job.params["source"].isprintable()
    assert "/" not in job.params["source"]
    assert uuid.UUID(job.params["upload"]).hex == job.params["upload"]


@pytest.mark.parametrize(
    ("content", "content_type"),
    [
        (b"x", "multipart/form-data"),
        (b"x", "multipart/form-data; boundary="),
        (b"--border", MULTIPART),
        (multipart({})[:-6], MULTIPART),
        (b"&".join([b"a=1"] * 5000), FORM),
    ],
)
@pytest.mark.parametrize("path", ["/accounts/login/", "/api/v1/judgments/", API_UPLOAD])
def test_a_form_that_cannot_be_parsed_is_refused_without_a_traceback(
    lead: Client, caplog: pytest.LogCaptureFixture, path: str, content: bytes, content_type: str
) -> None:
    """Otherwise, anyone could fill the log."""
    assert send(lead, path, Body(content), content_type).status_code in {200, 302, 400, 415}
    assert [record.exc_info for record in caplog.records if record.exc_info] == []


@pytest.mark.parametrize(
    "value", ["' OR 1=1 --", "1); DROP TABLE x", "%2e%2e/%2e%2e/etc/passwd", "x" * 100_000]
)
def test_odd_values_in_addresses_get_a_response(lead: Client, value: str) -> None:
    """No odd value causes a server error."""
    paths = [
        "/jobs/?state={}",
        "/jobs/?page={}",
        "/benchmarks/{}/",
        "/api/v1/benchmarks/{}/runs/",
        "/api/v1/jobs/?page={}&page_size={}",
        "/benchmarks/tiny/gold/?q={}",
        "/people/?q={}",
        "/api/v1/benchmarks/tiny/compare/?runs={}",
    ]
    for path in paths:
        assert lead.get(path.format(value, value)).status_code in {200, 302, 400, 403, 404, 422}


def test_large_page_numbers_and_many_fields_cause_no_server_error(lead: Client) -> None:
    """Large numbers and ten thousand fields cause no server error."""
    for query in ("page_size=1000000000", "page=1000000000000", "offset=1000000000000"):
        assert lead.get(f"/api/v1/benchmarks/?{query}").status_code in {200, 404}
    ids = "&".join(f"id__in={number}" for number in range(1000))
    assert lead.get(f"/api/v1/benchmarks/?{ids}").status_code == 200
    many = "&".join(f"f{number}=1" for number in range(10_000))
    assert lead.get(f"/jobs/?{many}").status_code == 400
    assert send(lead, "/me/keys/", Body(many.encode()), FORM).status_code == 400


@pytest.mark.parametrize(
    "headers",
    [
        {"HTTP_HOST": "evil.example"},
        {"HTTP_HOST": "testserver:port"},
        {"HTTP_HOST": "testserver@evil.example"},
        {"HTTP_HOST": "evil.example", "HTTP_X_FORWARDED_HOST": "testserver"},
    ],
)
def test_a_foreign_host_is_refused(db: None, headers: dict[str, Any]) -> None:
    for path in ("/accounts/login/", "/accounts/password/reset/", "/api/v1/benchmarks/"):
        answer = Client().get(path, **headers)
        assert answer.status_code == 400
        assert b"evil" not in answer.content


def test_a_forwarded_host_is_ignored(lead: Client) -> None:
    """No link contains the forwarded host."""
    for path in ("/me/", "/jobs/", "/nothing/"):
        answer = lead.get(path, HTTP_X_FORWARDED_HOST="evil.example")
        assert b"evil" not in answer.content
        assert "evil" not in str(answer.headers)
    assert SESSION_KEY in lead.session
