"""The API as a whole: access, responses and description."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import get_resolver, resolve
from django.utils import timezone
from rest_framework.test import APIClient

from annotation.models import Campaign
from annotation.services import open_campaign
from evaluation.monitor.services import compute_agreement
from evaluation.release.services import publish_label_set
from evaluation.scores.services import evaluate_runs
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.jobs.models import Job, JobState
from hearth.jobs.services import run_job
from pooling.models import Benchmark, Run
from tests.accounts.world import make_member
from tests.conftest import ROOT
from tests.factories import (
    PASSWORD,
    add_judgments,
    build_pool,
    make_benchmark,
    make_run,
    make_user,
    row_counts,
)

API = "/api/v1/"
ALL_ROLES = [None, Role.ANNOTATOR, Role.RESEARCHER, Role.LEAD, Role.ADMIN]


def client_for(*roles: Role, name: str = "") -> APIClient:
    return signed_in(make_user(name or "-".join(roles) or "nobody", *roles).username)


def signed_in(username: str) -> APIClient:
    client = APIClient(enforce_csrf_checks=True)
    assert client.login(username=username, password=PASSWORD)
    client.cookies["csrftoken"] = "a" * 32
    client.credentials(HTTP_X_CSRFTOKEN="a" * 32)
    return client


@pytest.fixture
def benchmark(db: None, tmp_path: Path, settings: Any) -> Benchmark:
    """Two captions, three videos, a run, judgments and a label set, without scores."""
    benchmark = make_benchmark(tmp_path, captions=2, videos=3)
    make_run(tmp_path, benchmark, {"c0": ["v1", "v0"], "c1": ["v1"]})
    add_judgments(tmp_path, benchmark, [("c0", "v1", "a", 1), ("c0", "v1", "b", 1)])
    publish_label_set(benchmark=benchmark, by=OPERATOR)
    return benchmark


# --- Access -----------------------------------------------------------------------------------

NOT_THERE = "00000000-0000-0000-0000-000000000000"

# Path, method, the roles with access, and the status for them. Others get 403, visitors 401.
RESEARCH: set[Role | None] = {Role.RESEARCHER, Role.LEAD, Role.ADMIN}
LEADS: set[Role | None] = {Role.LEAD, Role.ADMIN}
JUDGES: set[Role | None] = {Role.ANNOTATOR, Role.LEAD, Role.ADMIN}
OPERATIONS: list[tuple[str, str, set[Role | None], int]] = [
    ("benchmarks/", "get", RESEARCH, 200),
    ("benchmarks/tiny/", "get", RESEARCH, 200),
    ("benchmarks/tiny/public/", "get", LEADS, 200),
    ("benchmarks/tiny/public/", "patch", LEADS, 200),
    ("benchmarks/tiny/uploaders/", "get", LEADS, 200),
    ("benchmarks/tiny/uploaders/0/", "delete", LEADS, 404),
    ("benchmarks/tiny/uploaders/0/confirm/", "post", LEADS, 404),
    # `tiny` is not public. tests/evaluation/public tests the operations of a public benchmark.
    ("public/tiny/uploads/", "post", set(ALL_ROLES), 404),
    ("uploads/", "get", set(ALL_ROLES), 200),
    (f"uploads/{NOT_THERE}/", "get", set(ALL_ROLES), 404),
    (f"uploads/{NOT_THERE}/publish/", "post", set(ALL_ROLES), 404),
    (f"uploads/{NOT_THERE}/withdraw/", "post", set(ALL_ROLES), 404),
    (f"uploads/{NOT_THERE}/restore/", "post", set(ALL_ROLES), 404),
    (f"uploads/{NOT_THERE}/refuse/", "post", set(ALL_ROLES), 404),
    ("benchmarks/tiny/runs/", "get", RESEARCH, 200),
    ("benchmarks/tiny/runs/", "post", RESEARCH, 400),
    ("benchmarks/tiny/", "patch", LEADS, 200),
    ("benchmarks/tiny/", "delete", LEADS, 409),
    ("benchmarks/tiny/runs/0/", "get", RESEARCH, 404),
    ("benchmarks/tiny/runs/0/", "patch", RESEARCH, 404),
    ("benchmarks/tiny/runs/0/", "delete", RESEARCH, 404),
    ("benchmarks/tiny/pools/0/", "delete", RESEARCH, 404),
    ("benchmarks/tiny/proxies/", "get", RESEARCH, 200),
    ("benchmarks/tiny/proxies/", "post", RESEARCH, 400),
    ("benchmarks/tiny/proxies/uploads/", "post", RESEARCH, 400),
    ("benchmarks/tiny/proxies/0/", "get", RESEARCH, 404),
    ("benchmarks/tiny/proxies/0/", "delete", RESEARCH, 404),
    ("benchmarks/tiny/proxies/0/matrix/", "get", RESEARCH, 404),
    ("campaigns/0/", "delete", RESEARCH, 404),
    ("benchmarks/tiny/train-splits/", "get", RESEARCH, 200),
    ("benchmarks/tiny/train-splits/", "post", LEADS, 400),
    ("benchmarks/tiny/paragraphs/", "post", RESEARCH, 400),
    ("benchmarks/tiny/paragraphs/clips/", "get", RESEARCH, 200),
    ("benchmarks/tiny/paragraphs/clips/", "post", RESEARCH, 400),
    ("benchmarks/tiny/paragraphs/clips/0/", "delete", RESEARCH, 404),
    ("benchmarks/tiny/runs/0/moments/tvr/", "get", RESEARCH, 404),
    ("benchmarks/tiny/paragraphs/labels/", "post", LEADS, 400),
    ("benchmarks/tiny/runs/similarities/", "post", RESEARCH, 400),
    ("benchmarks/tiny/runs/focus/", "post", RESEARCH, 400),
    ("benchmarks/tiny/relevant-pairs/0/training/", "get", RESEARCH, 404),
    ("benchmarks/tiny/relevant-pairs/", "get", RESEARCH, 200),
    ("benchmarks/tiny/machines/", "get", RESEARCH, 200),
    ("benchmarks/tiny/machines/", "post", RESEARCH, 400),
    ("benchmarks/tiny/relevant-pairs/", "post", RESEARCH, 400),
    ("benchmarks/tiny/relevant-pairs/parts/", "get", RESEARCH, 400),
    ("benchmarks/tiny/scenes/studies/", "post", LEADS, 400),
    ("benchmarks/tiny/scenes/", "get", RESEARCH, 200),
    ("benchmarks/tiny/scenes/", "post", LEADS, 202),
    ("benchmarks/tiny/faithfulness/", "post", LEADS, 400),
    ("benchmarks/tiny/phrasings/embeddings/", "post", LEADS, 400),
    ("benchmarks/tiny/phrasings/", "get", RESEARCH, 200),
    ("benchmarks/tiny/phrasings/", "post", LEADS, 400),
    ("benchmarks/tiny/phrasings/expanded/", "post", LEADS, 400),
    ("benchmarks/tiny/runs/fused/", "post", RESEARCH, 400),
    ("benchmarks/tiny/runs/phrasings/", "post", RESEARCH, 400),
    ("benchmarks/tiny/phrasings/0/", "delete", LEADS, 404),
    ("benchmarks/tiny/tags/", "get", RESEARCH, 200),
    ("benchmarks/tiny/tags/", "post", LEADS, 400),
    ("benchmarks/tiny/queries/", "get", RESEARCH, 200),
    ("benchmarks/tiny/videos/", "get", RESEARCH, 200),
    ("benchmarks/tiny/videos/uploads/", "get", LEADS, 200),
    ("benchmarks/tiny/videos/uploads/", "post", LEADS, 412),
    (f"benchmarks/tiny/videos/uploads/{NOT_THERE}/", "delete", LEADS, 412),
    ("benchmarks/tiny/pairs/", "get", RESEARCH, 200),
    ("benchmarks/tiny/gold/", "post", LEADS, 400),
    ("benchmarks/tiny/judgment-imports/", "post", LEADS, 400),
    ("benchmarks/tiny/pools/", "get", RESEARCH, 200),
    ("benchmarks/tiny/pools/", "post", RESEARCH, 400),
    ("benchmarks/tiny/pools/plan/", "post", RESEARCH, 400),
    ("benchmarks/tiny/agreement/", "get", RESEARCH, 404),
    ("benchmarks/tiny/agreement/", "post", RESEARCH, 202),
    ("benchmarks/tiny/scores/", "get", RESEARCH, 200),
    ("benchmarks/tiny/scores/", "post", RESEARCH, 202),
    ("benchmarks/tiny/draft/", "get", RESEARCH, 404),
    ("benchmarks/tiny/draft/", "post", RESEARCH, 202),
    ("benchmarks/tiny/paper/1.0.0/", "get", RESEARCH, 404),
    ("benchmarks/tiny/paper/1.0.0/", "post", RESEARCH, 202),
    ("benchmarks/tiny/label-sets/", "get", RESEARCH, 200),
    ("benchmarks/tiny/label-sets/", "post", LEADS, 202),
    ("benchmarks/tiny/confirmations/", "post", LEADS, 400),
    ("benchmarks/tiny/draws/", "get", RESEARCH, 200),
    ("benchmarks/tiny/draws/", "post", LEADS, 400),
    ("benchmarks/tiny/estimate/", "get", RESEARCH, 400),
    ("benchmarks/tiny/label-sets/1/csv/", "get", RESEARCH, 200),
    ("benchmarks/tiny/label-sets/1/since/1/", "get", RESEARCH, 200),
    ("benchmarks/tiny/label-sets/1/since/1/csv/", "get", RESEARCH, 200),
    ("benchmarks/tiny/label-sets/1/verify/", "post", RESEARCH, 202),
    ("benchmarks/tiny/label-sets/1/judgments/", "get", RESEARCH, 200),
    ("benchmarks/tiny/analyses/", "get", RESEARCH, 200),
    ("benchmarks/tiny/analyses/positives/", "get", RESEARCH, 404),
    ("benchmarks/tiny/analyses/positives/", "post", RESEARCH, 202),
    ("benchmarks/tiny/compare/", "get", RESEARCH, 200),
    ("benchmarks/tiny/compare/caption/", "get", RESEARCH, 200),
    ("imports/", "get", LEADS, 200),
    ("imports/", "post", LEADS, 400),
    (f"imports/{NOT_THERE}/", "get", LEADS, 404),
    (f"imports/{NOT_THERE}/accept/", "post", LEADS, 404),
    ("benchmarks/tiny/webhooks/", "get", LEADS, 200),
    ("benchmarks/tiny/webhooks/", "post", LEADS, 400),
    ("benchmarks/tiny/webhooks/0/", "delete", LEADS, 404),
    ("benchmarks/tiny/webhooks/0/deliveries/", "get", LEADS, 404),
    (f"benchmarks/tiny/webhooks/0/deliveries/{NOT_THERE}/repeat/", "post", LEADS, 404),
    ("campaigns/", "get", JUDGES, 200),
    ("campaigns/0/members/", "post", LEADS, 404),
    ("invitations/", "post", LEADS, 400),
    ("campaigns/0/claim/", "post", JUDGES, 404),
    ("campaigns/0/release/", "post", JUDGES, 404),
    ("campaigns/0/history/", "get", JUDGES, 404),
    ("escalations/", "post", JUDGES, 400),
    ("escalations/withdraw/", "post", JUDGES, 400),
    ("judgments/", "post", JUDGES, 400),
    ("audit/", "get", {Role.ADMIN}, 200),
    ("jobs/", "get", RESEARCH, 200),
    (f"jobs/{NOT_THERE}/", "get", RESEARCH, 404),
    (f"jobs/{NOT_THERE}/cancel/", "post", RESEARCH, 404),
    ("schema/", "get", set(ALL_ROLES), 200),
]
# The operations that need no account, and the status for everyone.
FOR_VISITORS = {"public/": 200, "public/tiny/": 404}


def test_every_operation_is_listed_above() -> None:
    operations = {
        pattern.name
        for pattern in get_resolver("config.api_urls").url_patterns  # type: ignore[attr-defined]
    }
    listed = {resolve(API + path).url_name for path, *_ in OPERATIONS}
    assert listed | {resolve(API + path).url_name for path in FOR_VISITORS} == operations


@pytest.mark.parametrize("role", ALL_ROLES)
def test_each_role_has_its_access(benchmark: Benchmark, role: Role | None) -> None:
    client = client_for(*([role] if role else []))
    for path, method, roles, status in OPERATIONS:
        # Everyone gets 404 for an unknown campaign, except from the operation that adds members.
        is_hidden = status == 404 and "campaigns" in path and "members" not in path
        expected = status if role in roles or is_hidden else 403
        answer = getattr(client, method)(
            API + path, {}, format="json" if method == "post" else None
        )
        assert (path, method, answer.status_code) == (path, method, expected)


@pytest.mark.parametrize("role", [Role.ANNOTATOR, Role.RESEARCHER, Role.LEAD])
def test_other_benchmarks_seem_not_to_exist(benchmark: Benchmark, role: Role) -> None:
    make_member("stranger", role, of="elsewhere")
    client = signed_in("stranger")
    job = Job.objects.create(kind="import_run", title="secret", benchmark_key="tiny")
    campaign = Campaign.objects.get()
    before = row_counts()
    for path, method, *_ in OPERATIONS:
        there = path.replace(NOT_THERE, str(job.pk))
        there = there.replace("campaigns/0/", f"campaigns/{campaign.pk}/")
        not_there = path.replace("/tiny/", "/nothing/")
        if there == not_there:
            continue
        answers = [
            getattr(client, method)(API + address, {}, format="json" if method == "post" else None)
            for address in (there, not_there)
        ]
        assert (path, answers[0].status_code) == (path, answers[1].status_code)
        assert answers[0].status_code in (403, 404)
        assert answers[0].content == answers[1].content
    assert row_counts() == before


@pytest.mark.postgresql
def test_lists_contain_only_visible_benchmarks(benchmark: Benchmark, tmp_path: Path) -> None:
    make_benchmark(tmp_path, key="elsewhere")
    for key in ("tiny", "elsewhere", ""):
        Job.objects.create(kind="import_run", title=key, benchmark_key=key)
    opened = open_campaign(benchmark=benchmark_with_a_pool(tmp_path, "elsewhere"), by=OPERATOR)
    open_campaign(benchmark=benchmark_with_a_pool(tmp_path, "tiny"), by=OPERATOR)
    make_member("stranger", Role.LEAD, of="elsewhere")
    client = signed_in("stranger")
    benchmarks = client.get(API + "benchmarks/").json()
    assert (benchmarks["count"], [row["key"] for row in benchmarks["results"]]) == (
        1,
        ["elsewhere"],
    )
    jobs = client.get(API + "jobs/").json()
    assert (jobs["next"], [row["title"] for row in jobs["results"]]) == (None, ["elsewhere"])
    assert [row["id"] for row in client.get(API + "campaigns/").json()] == [opened.pk]


def benchmark_with_a_pool(folder: Path, key: str) -> Benchmark:
    found = Benchmark.objects.get(key=key)
    make_run(folder, found, {"c0": ["v2"]}, system="pooled")
    build_pool(benchmark=found, depth=1)
    return found


def test_visitors_have_no_access(benchmark: Benchmark) -> None:
    before = row_counts()
    for path, method, *_ in OPERATIONS:
        answer = getattr(APIClient(), method)(API + path)
        assert (path, method, answer.status_code) == (path, method, 401)
        assert answer.data == {"detail": "Authentication credentials were not provided."}
    assert row_counts() == before


@pytest.mark.parametrize("role", [*ALL_ROLES, "visitor"])
def test_everyone_has_access_to_what_is_public(benchmark: Benchmark, role: Any) -> None:
    client = APIClient() if role == "visitor" else client_for(*([role] if role else []))
    statuses = {path: client.get(API + path).status_code for path in FOR_VISITORS}
    assert statuses == FOR_VISITORS


def test_a_session_needs_its_csrf_token_everywhere(benchmark: Benchmark) -> None:
    client = client_for(Role.ADMIN)
    client.credentials()
    before = row_counts()
    for path, method, *_ in OPERATIONS:
        if method == "post":
            answer = client.post(API + path, {}, format="json")
            assert (path, answer.status_code) == (path, 403)
            assert answer.json()["detail"].startswith("CSRF Failed")
    assert row_counts() == before


# --- Responses --------------------------------------------------------------------------------


def test_a_benchmark_with_its_runs(benchmark: Benchmark) -> None:
    client = client_for(Role.RESEARCHER)
    entry = {
        "key": "tiny",
        "name": "tiny",
        "licence": "",
        "description": "",
        "equal_texts": "folded",
        "n_queries": 2,
        "n_videos": 3,
        "archived_at": None,
    }
    assert client.get(API + "benchmarks/").json() == {
        "count": 1,
        "next": None,
        "previous": None,
        "results": [entry],
    }
    assert client.get(API + "benchmarks/tiny/").json() == entry
    run = Run.objects.get()
    (listed,) = client.get(API + "benchmarks/tiny/runs/").json()["results"]
    assert {name: listed[name] for name in ("name", "system", "sha256", "depth", "format")} == {
        "name": "A",
        "system": "A",
        "sha256": run.sha256,
        "depth": 2,
        "format": "trec",
    }
    for path in (
        "",
        "runs/",
        "train-splits/",
        "tags/",
        "pools/",
        "scores/",
        "label-sets/",
        "agreement/",
    ):
        assert client.get(f"{API}benchmarks/nothing/{path}").status_code == 404


def test_stored_scores_and_agreement_are_returned(benchmark: Benchmark) -> None:
    client = client_for(Role.RESEARCHER)
    nothing = client.get(API + "benchmarks/tiny/scores/").json()
    assert nothing["runs"]["A"]["original"] is None
    evaluated = evaluate_runs(benchmark=benchmark, by=OPERATOR)
    report = compute_agreement(benchmark=benchmark, resamples=10, by=OPERATOR)

    scores = client.get(API + "benchmarks/tiny/scores/").json()
    (result,) = evaluated.runs
    (label_set,) = client.get(API + "benchmarks/tiny/label-sets/").json()["results"]
    assert scores == {
        "labels": "1.0.0",
        "labels_sha256": label_set["sha256"],
        "runs": {
            "A": {
                "direction": "text-to-video",
                "sha256": result.run.sha256,
                "original": result.original,
                "labelled": result.labelled,
                "judged": result.judged,
                "reads": result.reads,
                "unjudged": result.unjudged,
                "bounds": result.bounds,
            }
        },
    }
    agreement = client.get(API + "benchmarks/tiny/agreement/").json()
    assert "annotators" not in agreement
    assert (agreement["agreement"], agreement["alpha"]) == (1.0, None)
    assert agreement["undefined"] == report.result["undefined"]


def test_scores_by_unknown_labels_are_refused(benchmark: Benchmark) -> None:
    client = client_for(Role.RESEARCHER)
    for labels in ("2", "-1", "x", "1.0", "9" * 30, "9" * 5000, "١"):
        answer = client.get(API + "benchmarks/tiny/scores/", {"labels": labels})
        assert (labels, answer.status_code) == (labels, 400)
        posted = client.post(API + "benchmarks/tiny/scores/", {"labels": labels}, format="json")
        assert (labels, posted.status_code) == (labels, 400)
    assert Job.objects.count() == 0


def test_the_size_of_a_page_is_limited(db: None) -> None:
    Benchmark.objects.bulk_create(
        Benchmark(key=f"b{n}", name=str(n), n_queries=0, n_videos=0) for n in range(1001)
    )
    client = client_for(Role.RESEARCHER)
    sizes = {"": 100, "limit=1": 1, "limit=1000000000": 1000, "offset=1000": 1, "limit=x": 100}
    sizes |= {"limit=" + "9" * 40: 1000, "offset=" + "9" * 40: 0}
    for query, size in sizes.items():
        page = client.get(f"{API}benchmarks/?{query}").json()
        assert (query, page["count"], len(page["results"])) == (query, 1001, size)


def titles_by_page(client: APIClient, address: str, name: str) -> list[list[str]]:
    """Follow the `next` addresses of a list, and return the titles of each page."""
    pages = []
    while address:
        page = client.get(address).json()
        assert list(page) == ["next", "results"]
        pages.append([str(row[name]) for row in page["results"]])
        address = page["next"]
    return pages


@pytest.mark.postgresql
def test_cursors_work_for_jobs_created_at_the_same_time(db: None) -> None:
    at, later = timezone.now(), timezone.now() + timedelta(seconds=1)
    ids = [uuid.UUID(int=n << 64) for n in (3, 1, 2**63, 4, 2)]
    Job.objects.bulk_create(
        Job(pk=pk, kind="import_run", title=str(pk.int >> 64), created_at=at) for pk in ids
    )
    Job.objects.create(kind="import_run", title="newest", created_at=later)
    client = client_for(Role.RESEARCHER)
    assert titles_by_page(client, f"{API}jobs/?limit=2", "title") == [
        ["newest", str(2**63)],
        ["4", "3"],
        ["2", "1"],
    ]
    page = client.get(f"{API}jobs/?limit=1").json()
    Job.objects.create(kind="import_run", title="added", created_at=later + timedelta(seconds=1))
    (row,) = client.get(page["next"]).json()["results"]
    assert row["title"] == str(2**63)  # the new job does not move the others
    for wrong in ("x", "-1", "9" * 70, str(2**190 + 1), "1.5"):
        assert client.get(f"{API}jobs/?cursor={wrong}").status_code == 400
    assert client.get(f"{API}jobs/?cursor={2**190}").status_code == 200


@pytest.mark.postgresql
def test_runs_are_listed_newest_first(benchmark: Benchmark, tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        make_run(tmp_path, benchmark, {"c0": [f"v{ord(name) % 3}"]}, system=name)
    found = titles_by_page(
        client_for(Role.RESEARCHER), f"{API}benchmarks/tiny/runs/?limit=2", "name"
    )
    assert [name for page in found for name in page][:3] == ["c", "a", "b"]
    assert {len(page) for page in found[:-1]} == {2}


# --- Jobs -------------------------------------------------------------------------------------


def upload(client: APIClient, content: bytes, name: str = "my.run", **values: Any) -> Any:
    file = SimpleUploadedFile(name, content)
    return client.post(API + "benchmarks/tiny/runs/", {"file": file, "system": "B", **values})


def test_a_run_is_uploaded_checked_and_stored(benchmark: Benchmark) -> None:
    client = client_for(Role.RESEARCHER)
    answer = upload(client, b"c0 Q0 v2 1 1.0 t\n")
    job = Job.objects.get()
    assert answer.status_code == 202
    assert (answer.json()["id"], answer.json()["state"]) == (str(job.pk), "queued")
    assert answer.json()["title"] == "Run my.run (tiny)"
    run_job(job.pk)

    done = client.get(f"{API}jobs/{job.pk}/").json()
    run = Run.objects.get(name="B")
    assert (done["state"], done["error"]) == ("done", "")
    assert done["result"] == {
        "run": "B",
        "pk": run.pk,
        "direction": "text-to-video",
        "queries": 1,
        "depth": 1,
        "sha256": run.sha256,
        "created": True,
        "scoring": [str(Job.objects.get(kind="evaluate").pk)],
        "warnings": ["captions without a ranked list: 1 of 2"],
    }


def test_a_bad_upload_fails_with_file_line_and_reason(benchmark: Benchmark) -> None:
    client = client_for(Role.RESEARCHER)
    before = row_counts()
    job = Job.objects.get(pk=upload(client, b"c0 Q0 v2 1 1.0 t\nc0 Q0 v2 2 0.5 t\n").json()["id"])
    run_job(job.pk)
    done = client.get(f"{API}jobs/{job.pk}/").json()

    assert (done["state"], done["result"]) == ("failed", None)
    assert done["error"].startswith("my.run, line 2: ")
    started = {name: before[name] + 1 for name in ("audit.AuditEntry", "audit.AuditAddress")}
    assert row_counts() == {**before, **started, "jobs.Job": 1}


@pytest.mark.parametrize(
    "values",
    [
        {"system": ""},
        {"system": "x" * 101},
        {"depth": 0},
        {"depth": 10**12},
        {"format": "pickle"},
        {"file": "not a file"},
    ],
)
def test_an_invalid_upload_is_refused(benchmark: Benchmark, values: dict[str, Any]) -> None:
    assert upload(client_for(Role.RESEARCHER), b"x", **values).status_code == 400
    assert Job.objects.count() == 0


@pytest.mark.parametrize(
    "name", ["x" * 300 + ".run", "../../etc/passwd", "a\nb.run", "ü🐈\u202e.run", 'q"u;o.run']
)
def test_an_upload_can_have_any_name(benchmark: Benchmark, name: str) -> None:
    answer = upload(client_for(Role.RESEARCHER), b"c0 Q0 v2 1 1.0 t\n", name)
    assert answer.status_code == 202
    job = Job.objects.get()
    run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.error) == (JobState.DONE, "")
    assert len(job.title) <= 300
    assert "/" not in job.title


@pytest.mark.parametrize(
    "values",
    [
        {"depth": 0},
        {"depth": 10**12},
        {"depth": 2, "seed": 10**30},
        {"depth": 2, "sample": 0},
        {"depth": 2, "runs": "A"},
        {"depth": 2, "runs": ["no such run"]},
    ],
)
def test_an_invalid_pool_is_refused(benchmark: Benchmark, values: dict[str, Any]) -> None:
    client = client_for(Role.LEAD)
    answer = client.post(API + "benchmarks/tiny/pools/", values, format="json")
    assert answer.status_code == 400
    assert Job.objects.count() == 0


@pytest.mark.parametrize(
    ("values", "status"),
    [
        ({"depth": 10, "runs": ["A"]}, 202),
        ({"depth": 11, "runs": ["A"]}, 403),
        ({"depth": 1, "runs": ["A"], "sample": 1}, 403),
        ({"depth": 1, "runs": ["A", "B"]}, 403),
        ({"depth": 1}, 403),
    ],
)
def test_researchers_may_pool_only_one_run(
    benchmark: Benchmark, values: dict[str, Any], status: int, tmp_path: Path
) -> None:
    make_run(tmp_path, benchmark, {"c0": ["v0"]}, system="B")
    rosa, lea = client_for(Role.RESEARCHER), client_for(Role.LEAD)
    answers = [
        client.post(API + "benchmarks/tiny/pools/", values, format="json") for client in (rosa, lea)
    ]
    assert [answer.status_code for answer in answers] == [status, 202]


def test_long_work_is_done_by_jobs(benchmark: Benchmark) -> None:
    client = client_for(Role.LEAD)
    requests: list[tuple[str, dict[str, Any]]] = [
        ("pools", {"depth": 1}),
        ("agreement", {}),
        ("scores", {"labels": "original"}),
        ("label-sets", {}),
    ]
    results = []
    for path, body in requests:
        answer = client.post(f"{API}benchmarks/tiny/{path}/", body, format="json")
        assert answer.status_code == 202
        run_job(answer.json()["id"])
        job = client.get(f"{API}jobs/{answer.json()['id']}/").json()
        assert (job["state"], job["error"]) == ("done", "")
        results.append(job["result"])

    pooled, agreement, scored, published = results
    # The import of the judgments has already pooled caption 0 with video 1.
    assert (pooled["pairs"], pooled["new_pairs"]) == (2, 1)
    assert agreement["alpha"] is None
    assert scored == {"labels": "original", "runs": ["A"]}
    assert (published["version"], published["pairs"]) == ("1.0.1", 1)
    (pool, _) = client.get(API + "benchmarks/tiny/pools/").json()["results"]
    assert (pool["depth"], pool["runs"], pool["n_pairs"], pool["n_new_pairs"]) == (1, ["A"], 2, 1)


def test_a_job_is_cancelled_by_the_person_who_started_it_or_by_a_lead(benchmark: Benchmark) -> None:
    rosa, otto = client_for(Role.RESEARCHER, name="rosa"), client_for(Role.RESEARCHER, name="otto")
    job = rosa.post(API + "benchmarks/tiny/agreement/", {}, format="json").json()
    url = f"{API}jobs/{job['id']}/cancel/"
    assert otto.post(url).status_code == 403
    assert Job.objects.get().state == JobState.QUEUED
    assert rosa.post(url).json()["state"] == "cancelled"
    again = client_for(Role.LEAD).post(url)
    assert (again.status_code, again.json()) == (409, {"detail": "The job has already ended."})


# --- Files ------------------------------------------------------------------------------------


@pytest.mark.postgresql
def test_a_label_set_is_downloaded_as_it_was_frozen(benchmark: Benchmark) -> None:
    client = client_for(Role.RESEARCHER)
    answer = client.get(API + "benchmarks/tiny/label-sets/1/csv/")
    content = b"".join(answer.streaming_content)  # type: ignore[attr-defined]
    assert content == (
        b"caption_id,video_id,label,source,judgments,relevant\nc0,v1,1,majority,2,2\n"
    )
    assert answer["Content-Disposition"] == 'attachment; filename="tiny-labels-v1.0.0.csv"'
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    for path in ("2/csv/", "1/exe/", "0/csv/", f"{10**30}/csv/"):
        assert client.get(f"{API}benchmarks/tiny/label-sets/{path}").status_code == 404


# --- Description ------------------------------------------------------------------------------


def test_the_schema_is_valid_and_complete(db: None, tmp_path: Path) -> None:
    path = tmp_path / "schema.json"
    command = "manage.py spectacular --validate --fail-on-warn --format openapi-json --file"
    done = subprocess.run(
        [sys.executable, *command.split(), str(path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    described = {
        (url, method)
        for url, methods in json.loads(path.read_text())["paths"].items()
        for method in methods
    }
    operations = {(resolve(API + path).url_name, method) for path, method, *_ in OPERATIONS}
    # The tus protocol consists of headers, which the schema does not describe.
    operations -= {("api-video-uploads", "post"), ("api-video-upload", "delete")}
    operations |= {(resolve(API + path).url_name, "get") for path in FOR_VISITORS}
    assert len(described) == len(operations)


def test_every_operation_of_jobs_and_the_api_itself_are_described(db: None) -> None:
    schema = client_for(Role.RESEARCHER).get(API + "schema/?format=json").json()
    assert "## Authentication" in schema["info"]["description"]
    described = {
        (path, method): operation.get("description", "").split("\n")[0]
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
        if "/jobs/" in path
    }
    assert described == {
        (
            "/api/v1/jobs/",
            "get",
        ): "List the jobs of the benchmarks that you may see, newest first.",
        ("/api/v1/jobs/{id}/", "get"): "Return one job.",
        ("/api/v1/jobs/{id}/cancel/", "post"): "Cancel a job.",
    }


def test_a_public_site_shows_its_api_documentation_to_everyone(db: None, settings: Any) -> None:
    docs = API + "docs/"
    assert Client().get(docs)["Location"] == f"/accounts/login/?next={docs}"
    assert Client().get(API + "schema/").status_code == 401
    settings.PUBLIC_SITE = True
    page = Client().get(docs)
    assert page.status_code == 200
    assert 'data-schema="/api/v1/schema/"' in page.content.decode()
    assert Client().get(API + "schema/").status_code == 200
    assert Client().get(API + "benchmarks/").status_code == 401


@pytest.mark.parametrize("path", ["/api/", "/api/v1/", "/api/v1/nothing/", "/api/v2/jobs/"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_the_response_to_an_unknown_address_is_json(db: None, method: str, path: str) -> None:
    answer = getattr(Client(), method)(path)
    assert (answer.status_code, answer["Content-Type"]) == (404, "application/json")
    assert answer.json() == {
        "detail": "The API has no such address. Its documentation is at /api/v1/docs/."
    }
    assert "no-store" in answer["Cache-Control"]
    assert "text/html" in Client().get("/nothing/")["Content-Type"]
