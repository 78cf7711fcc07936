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
from django.urls import resolve
from rest_framework.test import APIClient

from annotation.enums import GoldUse
from annotation.forms.policy import PolicyForm
from annotation.models import Annotator, Campaign, GoldItem, JudgmentTask, Membership
from annotation.services import annotator_for
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from pooling.models import Run, RunUpload
from tests import factories
from tests.accounts.world import make_member
from tests.pooling.test_run_uploads import make_public, scored
from tests.security.walk import Row, Snapshot, addresses, changes, snapshot

API = "/api/v1/"
HOOK = "https://hooks.example.org/hearth"
GUIDELINE = {
    "after": 0,
    "text": "Judge all parts of the caption.",
    "pictures-TOTAL_FORMS": 0,
    "pictures-INITIAL_FORMS": 0,
}


def hostile_fields() -> dict[str, Any]:
    """Return a value for each column of Hearth's tables, to send as an additional field."""
    values: dict[str, Any] = {}
    for model in apps.get_models():
        if model.__module__.startswith(
            ("config.", "hearth.", "pooling.", "annotation.", "evaluation.")
        ):
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
    """A request that writes. is_json: whether it sends the fields as JSON, without files."""

    path: str
    fields: dict[str, Any]
    is_json: bool = False
    files: dict[str, bytes] = field(default_factory=dict)
    # Fields that the request accepts, so they are not added with another value.
    optional: tuple[str, ...] = ()
    method: str = "post"

    def send(self, client: APIClient, further: dict[str, Any]) -> int:
        added = {name: value for name, value in further.items() if name not in self.optional}
        content = added | self.fields
        if self.is_json:
            send = getattr(client, self.method)
            status: int = send(self.path, content, format="json").status_code
            return status
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
    make_member("ina", Role.ANNOTATOR, of="tiny")
    scored(make_public(opened.benchmark), lead)
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
        Write("/me/habits/", {"break_minutes": 30, "character_keys": "on"}),
        Write("/account/token/", {"name": "a script", "rights": ["read"], "days": "30"}),
    ]


def writes_of_leads(campaign: Campaign) -> list[Write]:
    otto = Annotator.objects.get(user__username="otto")
    gold = GoldItem.objects.get()
    tiny = f"{API}benchmarks/tiny/"
    run = {"file": b"c0 Q0 v1 1 1.0 t\n"}
    return [
        Write(
            f"{tiny}runs/",
            {
                "system": "B",
                "name": "b",
                "format": "auto",
                "depth": 2,
                "direction": "text-to-video",
            },
            files=run,
        ),
        Write(
            f"{API}imports/",
            {"format": "auto", "key": "tiny", "name": "", "licence": "", "is_update": True},
            files={"captions": b"caption_id,caption,video_id\nc0,x,v0\n"},
            optional=(
                "companion",
                "second_companion",
                "videos",
                "caption",
                "caption_id",
                "video_id",
            ),
        ),
        Write(
            f"{tiny}pools/",
            {"depth": 1, "runs": [], "seed": 3},
            is_json=True,
            optional=(
                *("budget", "strata", "originals", "similar", "similar_from", "video_sample"),
                *("proxy", "proxy_from"),
            ),
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
        Write(
            f"/campaigns/{campaign.pk}/policy/",
            {**PolicyForm.values_of(campaign), "name": "Round 1"},
        ),
        Write(f"{API}campaigns/{campaign.pk}/members/", {"people": ["ina"]}, is_json=True),
        Write(
            f"{API}invitations/",
            {"people": [{"email": "new@example.org"}], "role": "annotator", "scope": "tiny"},
            is_json=True,
            optional=("days",),
        ),
        *_writes_of_benchmark(tiny),
        *_writes_of_public_benchmark(tiny),
        *_uploads_of_leads(),
    ]


def _writes_of_benchmark(tiny: str) -> list[Write]:
    run = Run.objects.get()
    about = {"name": "Tiny", "licence": "CC0", "description": "three videos"}
    of_run = {
        "name": "a",
        "paper": "https://example.org/p",
        "code_url": "",
        "contact": "lea",
        "training_data": "none",
        "description": "first",
    }
    address = f"/benchmarks/tiny/runs/{run.pk}/"
    return [
        Write("/benchmarks/tiny/edit/", about),
        Write(tiny, about, is_json=True, method="patch", optional=("archived",)),
        Write(f"{address}edit/", of_run),
        Write(f"{address}withdraw/", {"reason": "a wrong file"}),
        Write(
            f"{tiny}runs/{run.pk}/",
            of_run,
            is_json=True,
            method="patch",
            optional=("withdrawn", "reason"),
        ),
        Write("/benchmarks/tiny/webhooks/", {"url": HOOK, "events": ["run_scored"]}),
        Write(f"{tiny}webhooks/", {"url": HOOK, "events": ["run_scored"]}, is_json=True),
        Write("/benchmarks/tiny/evaluate/", {"labels": "original", "only": ""}),
        Write(f"{tiny}scores/", {"labels": "original"}, is_json=True),
        Write(
            "/benchmarks/tiny/pools/new/",
            {"depth": 1, "runs": ["A"], "seed": 3, "originals": "ranked", "similar_from": 0.5},
            optional=(
                *(
                    "sample",
                    "video_sample",
                    "similar",
                    "budget",
                    "strata",
                    "rate",
                    "expected",
                    "step",
                ),
                *("proxy", "proxy_from"),
            ),
        ),
        Write(
            "/benchmarks/tiny/labels/publish/",
            {"change": "", "notes": "first round", "allow_pending": "on"},
        ),
        Write("/benchmarks/tiny/guidelines/new/", GUIDELINE),
    ]


def _writes_of_public_benchmark(tiny: str) -> list[Write]:
    private = RunUpload.objects.get().pk
    page = {"runs_per_day": 4, "contact": "lea", "citation": ""}
    about = {
        "name": "d",
        "paper": "",
        "code_url": "",
        "contact": "lea",
        "training_data": "none",
        "description": "",
    }
    run = {
        "system": "D",
        "name": "d",
        "format": "auto",
        "depth": "2",
        "direction": "text-to-video",
    }
    file = {"file": b"c0 Q0 v0 1 1.0 t\n"}
    switches = ("is_public", "shows_while_judging", "shows_texts")
    return [
        Write("/benchmarks/tiny/public/", page, optional=switches),
        Write(f"{tiny}public/", page, is_json=True, method="patch", optional=switches),
        Write("/public/tiny/runs/new/", run, files=file),
        Write(f"{API}public/tiny/uploads/", run, files=file),
        Write(f"/uploads/{private}/publish/", about),
        Write(f"{API}uploads/{private}/publish/", about, is_json=True),
    ]


def _uploads_of_leads() -> list[Write]:
    """Return uploads of files. Each starts a job with the stored file and the other fields."""
    files = {
        "runs": (
            {
                "system": "C",
                "name": "c",
                "format": "auto",
                "depth": "2",
                "direction": "text-to-video",
            },
            "c0 Q0 v1 1 1.0 t",
        ),
        "train-captions": ({"name": "train"}, "caption\na dog"),
        "tags": ({}, "caption_id,tag\nc0,x"),
        "video-addresses": ({}, "video_id,url\nv0,https://example.org/0.mp4"),
        "judgments": (
            dict.fromkeys(("pool_equal", "data_set", "columns", "values", "licence"), "")
            | {"format": "auto", "scale": "binary"},
            "caption_id,video_id,annotator,label\nc0,v0,otto,1",
        ),
        "gold": ({"use": "training"}, "caption_id,video_id,label,explanation\nc0,v1,0,no"),
    }
    uploads = [
        Write(f"/benchmarks/tiny/{noun}/new/", fields, files={"file": content.encode()})
        for noun, (fields, content) in files.items()
    ]
    tiny = f"{API}benchmarks/tiny/"
    for name, noun in {"tags": "tags", "train-splits": "train-captions"}.items():
        fields, content = files[noun]
        uploads.append(Write(f"{tiny}{name}/", fields, files={"file": content.encode()}))
    fields, content = files["judgments"]
    lists = ("columns", "values")
    fields = {name: value for name, value in fields.items() if name not in lists}
    file = {"file": content.encode()}
    uploads.append(Write(f"{tiny}judgment-imports/", fields, files=file, optional=lists))
    captions = {"captions": b"caption_id,caption,video_id\nc0,x,v0\n"}
    update = Write("/benchmarks/tiny/captions/update/", {}, files=captions)
    return [*uploads, update, *_proxies_of_leads(tiny)]


def _proxies_of_leads(tiny: str) -> list[Write]:
    page = "/benchmarks/tiny/proxies/"
    computed = {"method": "BoW", "name": "b", "percent": 25, "stop_words": "none"}
    matrix, vectors = {"file": b"no matrix"}, {"caption_embeddings": b"no vectors"}
    return [
        Write(f"{page}new/", computed),
        Write(f"{page}matrix/", {"name": "m"}, files=matrix),
        Write(f"{page}embeddings/", {"name": "e", "own_as_computed": ""}, files=vectors),
        Write(f"{tiny}proxies/", computed, is_json=True),
        Write(f"{tiny}proxies/uploads/", {"name": "m"}, files=matrix),
    ]


# The writes that no list above contains, by reason. A new address must be in a list or here.
NOT_COMPARED: dict[str, set[str]] = {
    "no field, because the address names the object": {
        "paragraphs-settle", "api-paragraph-labels", "clips-delete",
        "agreement-compute", "api-agreement", "api-delivery-repeat", "api-draft", "api-job-cancel",
        "api-label-set-verify", "api-paper", "api-upload-restore",
        "api-uploader-confirm", "benchmark-delete",
        "campaign-compute", "campaign-delete", "delivery-repeat", "draft-make",
        "invitation-revoke", "job-cancel", "label-set-verify", "me-comments", "paper-compute",
        "person-factors", "phrasings-delete", "pool-delete", "proxy-delete", "run-delete",
        "run-pool", "run-score-ask",
        "token-revoke", "train-captions-delete", "webhook-delete",
    },
    "one field, which selects an action, an object or a state": {
        "api-escalations-withdraw",
        "api-claim", "api-import-accept", "api-upload-refuse", "api-upload-withdraw",
        "benchmark-archive", "desk-undo", "equal-captions", "import-accept", "role-withdraw",
        "run-confirm", "run-upload-refuse", "run-upload-withdraw", "tags-delete",
        "training-close", "training-open",
        "uploader-change", "videos-cancel", "videos-folder", "videos-retry",
    },
    "for visitors: see tests/accounts/test_registration.py": {"register"},
    "nothing is stored": {"api-pool-plan", "me-language", "videos-plan"},
    "only the result of a question is stored": {"analysis-compute", "api-analysis"},
    "headers instead of fields: see tests/pooling/test_uploads.py": {
        "api-video-uploads", "video-uploads",
    },
    "the form calls a service that another form above calls": {
        "campaign-members", "consent", "consent-write", "desk", "gold-pair", "import-new",
        "import-plan",
        "invitation", "invite-list", "judgments-plan", "judgments-reopen", "ordering-open",
        "person-erase",
        "role-grant", "training-comment",
    },
    "all parameters of the job are compared in tests/annotation/campaigns": {"campaign-open"},
    "the keys of the keyboard are compared in tests/annotation": {"me-keys"},
    "all fields are compared in tests/annotation/orderings": {"gold-order"},
    "all options of the action are declared once, and its form takes no others": {
        "api-faithfulness", "faithfulness-open", "api-phrasing-embeddings",
        "phrasing-embeddings-upload", "api-paragraphs",
        "api-phrased-runs", "relevant-pairs-find", "paragraphs-add",
        "run-estimate", "api-fused-runs", "api-expanded-phrasings", "similarities-upload",
        "phrasings-upload", "api-phrasings", "phrased-lists-upload", "phrasings-expand",
        "api-similarities", "clips-upload", "api-clips",
        "api-scenes", "scenes-find", "api-scene-studies", "scenes-describe",
        "gold-spans", "api-gold",
        "api-draws", "api-focus", "api-relevant-pairs", "run-focus", "runs-fuse",
        "machines", "api-machines",
    },
    "all parameters of the job are compared in tests/evaluation/release": {"api-confirmations"},
}  # fmt: skip


def outcome(
    write: Write, client: APIClient, further: dict[str, Any], before: Snapshot
) -> tuple[int, list[Any]]:
    """Return the status and the rows that a request has changed. The changes are rolled back.

    before: the rows before each request.
    """
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
    before = snapshot()
    for write in writes(campaign):
        first, again = (outcome(write, client, {}, before) for _ in range(2))
        hostile = outcome(write, client, further, before)
        if first[0] >= 400 or not first[1]:
            wrong[write.path] = f"the plain request is answered with {first[0]}"
        elif hostile[0] >= 400:
            wrong[write.path] = f"refused with {hostile[0]}, so nothing was compared"
        # Columns that differ between two equal requests are times, primary keys and random values.
        elif found := differing(first[1], hostile[1]) - differing(first[1], again[1]):
            wrong[write.path] = found
    assert wrong == {}
    assert changes(before, snapshot()) == []
    assert len(further) > 150
    assert JudgmentTask.objects.filter(campaign=campaign).exists()


def test_the_snapshot_finds_a_changed_column(lead: User) -> None:
    before: Snapshot = snapshot()
    User.objects.filter(pk=lead.pk).update(is_staff=True)
    ((table, row),) = changes(before, snapshot())
    assert (table, row["is_staff"], row["id"]) == ("accounts.user", True, lead.pk)


def all_writes() -> set[tuple[str, str]]:
    """Return the name and the method of each address that accepts a write.

    Addresses of allauth and of the Django admin are left out.
    """
    client = APIClient(raise_request_exception=False)
    client.force_login(factories.make_user("ada", Role.ADMIN))
    found = set()
    for route, address in addresses().items():
        if route.startswith(("/accounts/", "/admin/")):
            continue
        match = resolve(address)
        if view := getattr(match.func, "view_class", None):
            methods = {method for method in ("post", "put", "patch") if hasattr(view, method)}
        else:
            methods = {"post"} if client.post(address).status_code != 405 else set()
        found |= {(match.url_name or route, method) for method in methods}
    return found


def test_every_write_is_in_a_table(campaign: Campaign) -> None:
    """A new form or operation must be added to the writes above, or to NOT_COMPARED."""
    compared = {
        (resolve(write.path).url_name, write.method)
        for write in (*writes_of_annotators(campaign), *writes_of_leads(campaign))
    }
    exempt = {(name, "post") for names in NOT_COMPARED.values() for name in names}
    exempt.add(("api-video-upload", "patch"))  # its body is a part of a file
    assert compared & exempt == set()
    assert compared | exempt == all_writes()
