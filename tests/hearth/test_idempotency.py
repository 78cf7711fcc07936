"""POST requests with an idempotency key are done once."""

from __future__ import annotations

import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from rest_framework.test import APIClient

from hearth.accounts.roles import Role
from hearth.audit.models import AuditEntry
from hearth.idempotency.models import KeyedRequest
from hearth.idempotency.services import StillRunning, claim_key
from hearth.jobs.models import Job, JobState
from hearth.operations.housekeeping import remove_keyed_requests
from tests.accounts.world import make_member, token_of
from tests.factories import at_once, make_benchmark, make_user

pytestmark = pytest.mark.postgresql

UPLOAD = "/api/v1/benchmarks/tiny/runs/"
SCORES = "/api/v1/benchmarks/tiny/scores/"
RUN = b"c0 Q0 v1 1 1.0 t\n"


@pytest.fixture
def client(db: None, tmp_path: Path) -> APIClient:
    make_benchmark(tmp_path)
    return client_of("rita")


def client_of(name: str) -> APIClient:
    client = APIClient()
    token = token_of(make_member(name, Role.RESEARCHER, of="tiny"))
    client.credentials(HTTP_AUTHORIZATION=f"Token {token}")
    return client


def upload(client: APIClient, key: str, content: bytes = RUN, **fields: str) -> Any:
    file = SimpleUploadedFile("my.run", content)
    values = {"file": file, "system": "B", **fields}
    return client.post(UPLOAD, values, headers={"Idempotency-Key": key})


def test_a_repeated_request_gets_the_first_response_and_does_nothing(client: APIClient) -> None:
    first = upload(client, "k1")
    # Otherwise the queue would return the unfinished job for the same work.
    Job.objects.update(state=JobState.DONE)
    again = upload(client, "k1")
    assert (first.status_code, again.status_code) == (202, 202)
    assert again.json() == first.json()
    assert ("Idempotency-Replayed" in first, again["Idempotency-Replayed"]) == (False, "true")
    assert AuditEntry.objects.filter(act="job_started").count() == 1
    assert upload(client, "k2").json()["id"] != first.json()["id"]


@pytest.mark.parametrize("change", [{"content": RUN + RUN}, {"system": "C"}, {"depth": "3"}])
def test_a_key_is_refused_for_other_content(client: APIClient, change: dict[str, Any]) -> None:
    assert upload(client, "k1").status_code == 202
    refused = upload(client, "k1", **change)
    assert refused.status_code == 422
    assert refused.json() == {
        "detail": "Another request already used this Idempotency-Key. Choose a new one."
    }
    other = client.post(SCORES, {}, format="json", headers={"Idempotency-Key": "k1"})
    assert (other.status_code, Job.objects.count()) == (422, 1)


def test_keys_belong_to_people(client: APIClient) -> None:
    upload(client, "k1")
    assert upload(client_of("rolf"), "k1", system="C").status_code == 202
    assert KeyedRequest.objects.count() == 2


def test_a_refused_request_frees_its_key(client: APIClient) -> None:
    assert upload(client, "k1", depth="x").status_code == 400
    assert not KeyedRequest.objects.exists()
    assert upload(client, "k1").status_code == 202
    assert upload(client, "").status_code == 400
    assert upload(client, "x" * 256).status_code == 400


def test_an_unfinished_request_is_not_done_a_second_time(client: APIClient) -> None:
    upload(client, "k1")
    KeyedRequest.objects.update(status=None)
    refused = upload(client, "k1")
    assert (refused.status_code, refused["Retry-After"]) == (409, "2")
    died = timezone.now() - timedelta(minutes=16)
    KeyedRequest.objects.update(began_at=died)
    assert upload(client, "k1").status_code == 202


def test_a_response_is_kept_for_a_day(client: APIClient) -> None:
    upload(client, "old")
    KeyedRequest.objects.update(began_at=timezone.now() - timedelta(days=1, seconds=1))
    assert upload(client, "old", system="C").status_code == 202
    KeyedRequest.objects.update(began_at=timezone.now() - timedelta(days=1, seconds=1))
    upload(client, "new")
    assert remove_keyed_requests(dry_run=False).number == 1
    assert KeyedRequest.objects.get().key == "new"


@pytest.mark.django_db(transaction=True)
def test_only_one_of_several_simultaneous_requests_claims_the_key() -> None:
    user = make_user("rita")
    key = str(uuid.uuid4())

    def claim() -> bool:
        try:
            return claim_key(user_id=user.pk, key=key, sha256="x").status is None
        except StillRunning:
            return False

    assert sorted(at_once(*[claim] * 4)) == [False, False, False, True]
    KeyedRequest.objects.update(began_at=timezone.now() - timedelta(minutes=16))
    assert sorted(at_once(*[claim] * 4)) == [False, False, False, True]
