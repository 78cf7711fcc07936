"""Mass assignment: additional fields in a request change nothing.

Each valid write is sent twice, and then with the fields of all tables added. The third request
results in the same rows.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from rest_framework.test import APIClient

from annotation.enums import GoldUse
from annotation.models import Annotator, Campaign, GoldItem, JudgmentTask, Membership
from annotation.services import annotator_for
from config.accounts.models import User
from config.accounts.roles import Role
from tests import factories
from tests.accounts.world import make_member
from tests.security.walk import Row, Snapshot, changes, snapshot

API = "/api/v1/"


def hostile_fields() -> dict[str, Any]:
    """Return a value for each column of the tables of Hearth. The values would be accepted."""
    values: dict[str, Any] = {}
    for model in apps.get_models():
        if model.__module__.startswith(("config.", "pooling.", "annotation.", "evaluation.")):
            for column in model._meta.fields:
                values.setdefault(column.name, "1")
    chosen = {
        "is_staff": "true",
        "is_superuser": "true",
        "is_active": "true",
        "is_relevant": "false",
        "created_at": "2020-01-01T00:00:00Z",
        "username": "eve",
        "groups": ["1"],
        "annotator": "1",
        "by": "1",
        "lead": "1",
    }
    return values | chosen


@dataclass(frozen=True)
class Write:
    """One request that writes, by one person. is_json: JSON for the API, without files."""

    path: str
    fields: dict[str, Any]
    is_json: bool = False
    files: dict[str, bytes] = field(default_factory=dict)
    # Fields that the request accepts, so they are not added with another value.
    optional: tuple[str, ...] = ()

    def send(self, client: APIClient, further: dict[str, Any]) -> int:
        added = {name: value for name, value in further.items() if name not in self.optional}
        content = added | self.fields
        if self.is_json:
            return client.post(self.path, content, format="json").status_code
        files = {name: SimpleUploadedFile(name, body) for name, body in self.files.items()}
        return client.post(self.path, content | files).status_code


@pytest.fixture
def lead(db: None) -> User:
    return make_member("lea", Role.LEAD, of="tiny")


@pytest.fixture
def campaign(lead: User, tmp_path: Path) -> Campaign:
    opened = factories.make_campaign(tmp_path, captions=2, videos=3, joining="chosen")
    rows = [("c0", "v2", 1, "")]
    factories.add_gold_items(tmp_path, opened.benchmark, rows, use=GoldUse.TRAINING)
    anna = annotator_for(make_member("anna", Role.ANNOTATOR, of="tiny"))
    Membership.objects.create(campaign=opened, annotator=anna)
    factories.claim(opened, anna, 2)
    otto = annotator_for(make_member("otto", Role.ANNOTATOR, of="tiny"))
    Membership.objects.create(campaign=opened, annotator=otto)
    return opened


def writes_of_annotators(campaign: Campaign) -> list[Write]:
    anna = Annotator.objects.get(user__username="anna")
    held = factories.shown_id(anna.assignments.earliest("pk"))
    key = str(uuid.UUID(int=7))
    answer = {"assignment": held, "label": 1, "client_key": key}
    return [
        Write(
            f"{API}judgments/",
            answer,
            is_json=True,
            optional=("corrects", "guideline", "missing", "seconds", "viewing"),
        ),
        Write(
            f"{API}escalations/",
            {"assignment": held, "kind": "unsure", "reason": "dark"},
            is_json=True,
        ),
        Write(f"{API}campaigns/{campaign.pk}/release/", {"assignment": held}, is_json=True),
        Write("/account/token/", {"name": "a script", "rights": ["read"], "days": "30"}),
    ]


def writes_of_leads(campaign: Campaign) -> list[Write]:
    otto = Annotator.objects.get(user__username="otto")
    gold = GoldItem.objects.get()
    tiny = f"{API}benchmarks/tiny/"
    run = {"file": b"c0 Q0 v1 1 1.0 t\n"}
    return [
        Write(
            f"{tiny}runs/", {"system": "B", "name": "b", "format": "auto", "depth": 2}, files=run
        ),
        Write(
            f"{API}imports/",
            {"key": "tiny", "name": "", "licence": "", "is_update": True},
            files={"captions": b"caption_id,caption,video_id\nc0,x,v0\n"},
            optional=("companion", "videos", "caption", "caption_id", "video_id"),
        ),
        Write(
            f"{tiny}pools/",
            {"depth": 1, "runs": [], "seed": 3},
            is_json=True,
            optional=("budget", "originals", "similar", "similar_from", "video_sample"),
        ),
        Write(
            f"{tiny}label-sets/",
            {"allow_pending": True, "change": "minor", "notes": "first round"},
            is_json=True,
        ),
        Write(f"/people/{otto.user_id}/state/", {"state": "deactivated"}),
        Write(
            "/people/invitations/new/",
            {"role": "annotator", "scope": "tiny", "days": 3, "note": "a friend"},
        ),
        Write(f"/campaigns/{campaign.pk}/state/", {"state": "paused"}),
        Write(
            f"/campaigns/{campaign.pk}/members/{otto.pk}/", {"action": "pause", "reason": "a break"}
        ),
        Write(f"/benchmarks/tiny/gold/{gold.pk}/", {"action": "retire"}),
    ]


def outcome(write: Write, client: APIClient, further: dict[str, Any]) -> tuple[int, list[Any]]:
    """Return the status and the rows that a request has changed. The changes are rolled back."""
    before = snapshot()
    with transaction.atomic():
        status = write.send(client, further)
        after = snapshot()
        transaction.set_rollback(True)
    return status, changes(before, after)


def differing(one: list[tuple[str, Row]], other: list[tuple[str, Row]]) -> set[tuple[str, str]]:
    """Return the columns in which two lists of changed rows differ, with their tables."""
    if [table for table, _ in one] != [table for table, _ in other]:
        return {("rows", f"{[table for table, _ in one]} {[table for table, _ in other]}")}
    return {
        (table, name)
        for (table, row), (_, same) in zip(one, other, strict=True)
        for name in row
        if row[name] != same[name]
    }


@pytest.mark.parametrize(
    ("person", "writes"), [("anna", writes_of_annotators), ("lea", writes_of_leads)]
)
def test_further_fields_change_nothing(
    campaign: Campaign, person: str, writes: Callable[[Campaign], list[Write]]
) -> None:
    client = APIClient()
    client.force_login(User.objects.get(username=person))
    client.raise_request_exception = False
    further = hostile_fields()
    wrong: dict[str, Any] = {}
    for write in writes(campaign):
        first, again = (outcome(write, client, {}) for _ in range(2))
        hostile = outcome(write, client, further)
        if first[0] >= 400 or not first[1]:
            wrong[write.path] = f"the plain request is answered with {first[0]}"
        elif hostile[0] >= 400:
            wrong[write.path] = f"refused with {hostile[0]}, so nothing was compared"
        # Columns that differ between two equal requests are times, keys and random values.
        elif found := differing(first[1], hostile[1]) - differing(first[1], again[1]):
            wrong[write.path] = found
    assert wrong == {}
    assert len(further) > 150
    assert JudgmentTask.objects.filter(campaign=campaign).exists()


def test_the_snapshot_finds_a_changed_column(lead: User) -> None:
    before: Snapshot = snapshot()
    User.objects.filter(pk=lead.pk).update(is_staff=True)
    ((table, row),) = changes(before, snapshot())
    assert (table, row["is_staff"], row["id"]) == ("accounts.user", True, lead.pk)
