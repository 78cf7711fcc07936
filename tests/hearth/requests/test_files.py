"""Files and sizes: what a request may contain, and what remains of it on disk."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from annotation.models import Guideline
from hearth.accounts.roles import Role
from hearth.jobs.models import Job
from hearth.requests.files import ABANDONED_SECONDS, file_rule_of, sweep_incoming_files
from pooling.models import Benchmark
from tests.accounts.world import token_of
from tests.factories import make_user
from tests.hearth.requests.world import (
    FORM,
    JSON,
    MULTIPART,
    Body,
    incoming,
    multipart,
    send,
    stored,
)

RUN = b"c0 Q0 v1 1 1.0 t\n"
# Larger than a file that stays in memory.
LARGE = RUN * 200_000
UPLOAD = "/benchmarks/tiny/runs/new/"
API_UPLOAD = "/api/v1/benchmarks/tiny/runs/"
NO_PICTURES = {"pictures-TOTAL_FORMS": "0", "pictures-INITIAL_FORMS": "0"}
FIELDS = {"system": "s", "name": "", "format": "auto", "depth": ""}


def signed_in(*roles: Role, csrf: bool = False) -> Client:
    client = Client(enforce_csrf_checks=csrf)
    client.force_login(make_user("-".join(roles) or "nobody", *roles))
    return client


def with_token(*roles: Role) -> dict[str, str]:
    user = make_user("-".join(roles) or "nobody", *roles)
    return {"HTTP_AUTHORIZATION": f"Token {token_of(user)}"}


@pytest.mark.parametrize("content_type", [MULTIPART, FORM, JSON, "text/plain", ""])
@pytest.mark.parametrize(
    "path", ["/accounts/login/", "/admin/login/", "/accounts/password/reset/", API_UPLOAD]
)
def test_a_large_request_is_refused_before_it_is_read(
    db: None, path: str, content_type: str
) -> None:
    """No visitor can fill the disk or the memory."""
    body = Body()
    sent = 60_000_000 if path != API_UPLOAD or content_type != MULTIPART else 3 << 30
    answer = send(Client(enforce_csrf_checks=True), path, body, content_type, length=sent)
    assert (answer.status_code, body.is_read, incoming()) == (413, False, [])
    limit = "1" if sent == 60_000_000 else "2,147"
    reason = f"The request is larger than {limit} MB. Send less at once."
    if path.startswith("/api/"):
        assert answer.json()["detail"] == reason
    else:
        assert reason in answer.content.decode()
    assert answer["Cache-Control"] == "private, no-store"
    assert "Content-Security-Policy" in answer


def test_a_request_in_chunks_is_refused(db: None) -> None:
    """Without this refusal, Django would read an empty body."""
    body = Body()
    answer = send(
        Client(), "/accounts/login/", body, FORM, length=0, HTTP_TRANSFER_ENCODING="chunked"
    )
    assert (answer.status_code, body.is_read) == (411, False)


@pytest.mark.parametrize("length", ["-1", "1e3", "١", "1 "])
def test_a_length_that_is_no_number_is_refused(db: None, length: str) -> None:
    answer = Client().generic("POST", "/accounts/login/", b"", FORM, CONTENT_LENGTH=length)
    assert answer.status_code == 400


@pytest.mark.parametrize("path", ["/accounts/login/", "/api/v1/judgments/", "/me/keys/"])
def test_other_addresses_receive_no_files(db: None, path: str) -> None:
    """A file that the view does not receive is never stored, not even for a short time."""
    answer = send(signed_in(Role.ADMIN), path, Body(multipart({}, b"x" * 100_000)))
    assert (answer.status_code, incoming()) == (400, [])
    assert "This address receives no files." in answer.content.decode()


@pytest.mark.parametrize("csrf", [True, False])
@pytest.mark.parametrize(
    ("path", "roles", "status"),
    [
        (UPLOAD, (), 404),
        (UPLOAD, (Role.ANNOTATOR,), 404),
        ("/benchmarks/tiny/tags/new/", (Role.RESEARCHER,), 403),
        (API_UPLOAD, (Role.ANNOTATOR,), 403),
        ("/api/v1/benchmarks/tiny/tags/", (Role.RESEARCHER,), 403),
    ],
)
def test_files_of_people_without_the_right_are_not_read(
    benchmark: Benchmark, path: str, roles: tuple[Role, ...], status: int, csrf: bool
) -> None:
    body = Body(multipart(FIELDS, LARGE))
    answer = send(signed_in(*roles, csrf=csrf), path, body)
    assert answer.status_code == (403 if csrf else status)
    assert (body.is_read, incoming(), stored()) == (False, [], [])


def test_files_of_visitors_and_wrong_tokens_are_not_read(benchmark: Benchmark) -> None:
    bodies = [Body(multipart(FIELDS, LARGE)) for _ in range(4)]
    annotator = with_token(Role.ANNOTATOR)
    answers = [
        send(Client(), UPLOAD, bodies[0]),
        send(Client(), API_UPLOAD, bodies[1]),
        send(Client(), API_UPLOAD, bodies[2], HTTP_AUTHORIZATION="Token wrong"),
        send(Client(), API_UPLOAD, bodies[3], **annotator),
    ]
    assert [answer.status_code for answer in answers] == [302, 401, 401, 403]
    assert [body.is_read for body in bodies] == [False] * 4
    assert (incoming(), stored()) == ([], [])


@pytest.mark.parametrize("content", [RUN, LARGE])
def test_a_permitted_file_is_stored_once(benchmark: Benchmark, content: bytes) -> None:
    by_page = send(signed_in(Role.RESEARCHER), UPLOAD, Body(multipart(FIELDS, content)))
    by_token = send(
        Client(), API_UPLOAD, Body(multipart({"system": "t"}, content)), **with_token(Role.LEAD)
    )
    assert (by_page.status_code, by_token.status_code) == (302, 202)
    names = sorted(job.params["upload"] for job in Job.objects.all())
    assert (incoming(), stored()) == ([], names)
    assert len(names) == 2


def test_an_empty_disk_may_be_mounted_while_the_site_runs(
    benchmark: Benchmark, uploads: Path
) -> None:
    shutil.rmtree(uploads)
    answer = send(signed_in(Role.LEAD), UPLOAD, Body(multipart(FIELDS, LARGE)))
    assert (answer.status_code, incoming(), len(stored())) == (302, [], 1)
    shutil.rmtree(uploads)
    assert sweep_incoming_files() == 0


def test_a_refused_form_leaves_no_file(benchmark: Benchmark) -> None:
    lead = signed_in(Role.LEAD)
    refused = send(lead, UPLOAD, Body(multipart({**FIELDS, "system": ""}, LARGE)))
    other_type = send(lead, UPLOAD, Body(multipart(FIELDS, b"\x89PNG\r\n\x1a\n" + LARGE)))
    by_api = send(lead, API_UPLOAD, Body(multipart({}, LARGE)))
    assert [response.status_code for response in (refused, other_type, by_api)] == [422, 422, 400]
    assert (incoming(), stored()) == ([], [])


@pytest.mark.parametrize("path", [UPLOAD, API_UPLOAD])
def test_the_text_fields_of_an_upload_have_the_limit_of_other_forms(
    benchmark: Benchmark, path: str
) -> None:
    body = Body(multipart({**FIELDS, "system": "s" * 1_000_001}, LARGE))
    answer = send(signed_in(Role.LEAD), path, body)
    assert (answer.status_code, incoming(), stored()) == (413, [], [])
    assert "The form has too much text. Send less." in answer.content.decode()


@pytest.mark.parametrize(
    ("path", "status"), [(UPLOAD, 422), (API_UPLOAD, 400)], ids=["page", "api"]
)
def test_a_broken_connection_leaves_no_file(benchmark: Benchmark, path: str, status: int) -> None:
    """The sender disappears in the middle of the file."""
    lead, content = signed_in(Role.LEAD), multipart(FIELDS, LARGE)
    reset = send(lead, path, Body(content, cut=2_000_000))
    closed = send(lead, path, Body(content[:2_000_000]), length=len(content))
    assert (reset.status_code, closed.status_code) == (400, status)
    assert (incoming(), stored(), Job.objects.count()) == ([], [], 0)


@pytest.mark.parametrize("path", [UPLOAD, API_UPLOAD])
def test_a_nearly_full_disk_refuses_files(benchmark: Benchmark, path: str, settings: Any) -> None:
    """Uploads leave space for judgments."""
    settings.DISK_RESERVE_BYTES = 1 << 60
    body = Body(multipart(FIELDS, RUN))
    answer = send(signed_in(Role.LEAD), path, body)
    assert (answer.status_code, body.is_read, incoming(), stored()) == (507, False, [], [])
    text = answer.content.decode()
    assert "Nothing was stored. Tell an admin, and try again later." in text
    assert ("The disk is full" in text) == (path == UPLOAD)


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL has no such limit")
def test_a_full_database_is_a_full_disk(benchmark: Benchmark) -> None:
    """Nothing is half written, and the file of the database stays intact."""
    lead = signed_in(Role.LEAD)
    with connection.cursor() as cursor:
        (pages,) = cursor.execute("PRAGMA page_count").fetchone()
        # Tests before this one may have left free pages, of which a text of 50 kB takes a dozen.
        (free,) = cursor.execute("PRAGMA freelist_count").fetchone()
        cursor.execute(f"PRAGMA max_page_count = {pages + 20}")
        try:
            answers = [
                lead.post(
                    "/benchmarks/tiny/guidelines/new/",
                    {"text": "x" * 50_000, "after": after, **NO_PICTURES},
                )
                for after in range(10 + free // 12)
            ]
        finally:
            cursor.execute(f"PRAGMA max_page_count = {2**30}")
        assert cursor.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    statuses = [answer.status_code for answer in answers]
    written = statuses.count(302)
    assert statuses[: written + 1] == [302] * written + [507]
    assert Guideline.objects.count() == written
    assert "The disk is full" in answers[written].content.decode()


def test_files_of_killed_processes_are_swept(uploads: Path) -> None:
    """A file that is still arriving stays."""
    old, new = (uploads / "incoming" / name for name in ("old", "new"))
    for path in (old, new):
        path.write_bytes(b"x")
    past = time.time() - ABANDONED_SECONDS - 1
    os.utime(old, (past, past))
    assert sweep_incoming_files() == 1
    assert incoming() == ["new"]


def test_only_uploads_receive_files() -> None:
    """A new address that receives files must be added to this list."""
    marked = {route for route, view in addresses(get_resolver()) if file_rule_of(view) is not None}
    assert marked == {
        "imports/new/",
        "benchmarks/<str:key>/captions/update/",
        "benchmarks/<str:key>/runs/new/",
        "benchmarks/<str:key>/proxies/new/",
        "benchmarks/<str:key>/proxies/matrix/",
        "benchmarks/<str:key>/proxies/embeddings/",
        "api/v1/benchmarks/<str:key>/proxies/",
        "api/v1/benchmarks/<str:key>/proxies/uploads/",
        "public/<str:key>/runs/new/",
        "api/v1/public/<str:key>/uploads/",
        "benchmarks/<str:key>/train-captions/new/",
        "api/v1/benchmarks/<str:key>/relevant-pairs/",
        "api/v1/benchmarks/<str:key>/machines/",
        "benchmarks/<str:key>/machines/",
        "benchmarks/<str:key>/relevant-pairs/find/",
        "api/v1/benchmarks/<str:key>/scenes/",
        "benchmarks/<str:key>/scenes/find/",
        "benchmarks/<str:key>/paragraphs/new/",
        "benchmarks/<str:key>/paragraphs/similarities/",
        "benchmarks/<str:key>/paragraphs/focus/",
        "benchmarks/<str:key>/paragraphs/clips/",
        "benchmarks/<str:key>/phrasings/new/",
        "benchmarks/<str:key>/phrasings/embeddings/",
        "benchmarks/<str:key>/runs/phrasings/new/",
        "api/v1/benchmarks/<str:key>/runs/phrasings/",
        "benchmarks/<str:key>/tags/new/",
        "benchmarks/<str:key>/judgments/new/",
        "benchmarks/<str:key>/guidelines/new/",
        "benchmarks/<str:key>/gold/new/",
        "people/invitations/list/",
        "campaigns/<int:pk>/members/",
        "api/v1/imports/",
        "api/v1/benchmarks/<str:key>/videos/uploads/<uuid:pk>/",
        "benchmarks/<str:key>/videos/uploads/<uuid:pk>/",
        "benchmarks/<str:key>/video-addresses/new/",
        "api/v1/benchmarks/<str:key>/gold/",
        "api/v1/benchmarks/<str:key>/judgment-imports/",
        "api/v1/benchmarks/<str:key>/runs/",
        "api/v1/benchmarks/<str:key>/train-splits/",
        "api/v1/benchmarks/<str:key>/tags/",
        "api/v1/benchmarks/<str:key>/phrasings/",
        "api/v1/benchmarks/<str:key>/phrasings/embeddings/",
        "api/v1/benchmarks/<str:key>/paragraphs/",
        "api/v1/benchmarks/<str:key>/paragraphs/clips/",
        "api/v1/benchmarks/<str:key>/runs/similarities/",
        "api/v1/benchmarks/<str:key>/runs/focus/",
    }
    assert django_settings.FILE_UPLOAD_HANDLERS == ["hearth.requests.files.NoFiles"]


def addresses(resolver: URLResolver, before: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for part in resolver.url_patterns:
        route = before + str(part.pattern)
        if isinstance(part, URLPattern):
            found.append((route, part.callback))
        else:
            found += addresses(part, route)
    return found
