"""A job shows its progress where it was started, and leads to its result."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.jobs import registry
from hearth.jobs.models import Job, JobState
from hearth.jobs.services import cancel_job, enqueue_job, run_job
from hearth.shared.errors import NotPermitted
from pooling.models import Benchmark, Run
from tests.accounts.world import make_member
from tests.factories import make_benchmark, make_run, make_user

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true", "HX-Current-URL": "http://testserver/benchmarks/tiny/"}


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    return make_benchmark(tmp_path)


@pytest.fixture
def client(benchmark: Benchmark) -> Client:
    client = Client()
    client.force_login(make_user("lena", Role.LEAD))
    return client


def poll(client: Client, job: Job, here: str = "/benchmarks/tiny/") -> Any:
    headers = {"HX-Request": "true", "HX-Current-URL": f"http://testserver{here}"}
    return client.get(f"/jobs/{job.pk}/progress/?in_place=on&seen=", headers=headers)


def test_all_kinds_of_jobs_are_registered(benchmark: Benchmark) -> None:
    assert sorted(registry.job_kinds()) == [
        "add_paragraphs",
        "agreement",
        "analyse",
        "build_pool",
        "campaign_figures",
        "compute_proxy",
        "delete_benchmark",
        "delete_campaign",
        "delete_phrasingset",
        "delete_pool",
        "delete_run",
        "draft_labels",
        "draw_captions",
        "evaluate",
        "expand",
        "find_relevant_pairs",
        "find_scenes",
        "focus_run",
        "fuse_runs",
        "import_benchmark",
        "import_clips",
        "import_embeddings",
        "import_gold",
        "import_judgments",
        "import_phrased_lists",
        "import_phrasings",
        "import_proxy",
        "import_run",
        "import_similarities",
        "import_tags",
        "import_text_vectors",
        "import_train_captions",
        "judge_by_machine",
        "open_campaign",
        "open_confirmation",
        "paper",
        "plan_import",
        "plan_judgments",
        "prepare_videos",
        "preview_pool",
        "publish_labels",
        "reopen_judgments",
        "score_upload",
        "set_addresses",
        "settle_paragraphs",
        "verify_labels",
    ]


@pytest.mark.parametrize(
    ("kind", "params", "result", "outcome"),
    [
        (
            "analyse",
            {"analysis": "overlap", "given": {"labels": "2", "depth": "2"}},
            {"analysis": "overlap", "key": "0"},
            (
                "/benchmarks/tiny/analyses/overlap/?depth=2&labels=2",
                "To the analysis",
            ),
        ),
        (
            "draft_labels",
            {},
            {"pairs": 2, "analyses": 0, "sha256": "0"},
            ("/benchmarks/tiny/labels/#draft", "To the draft"),
        ),
    ],
)
def test_analyses_and_drafts_link_to_their_result(
    client: Client, kind: str, params: Any, result: Any, outcome: tuple[str, str]
) -> None:
    job = Job.objects.create(
        kind=kind, params=params, result=result, state=JobState.DONE, benchmark_key="tiny"
    )
    made = registry.find_outcome(job)
    assert made is not None
    assert (made.url, made.link) == outcome
    page = client.get(f"/jobs/{job.pk}/").content.decode()
    assert f'href="{made.url.replace("&", "&amp;")}"' in page


def test_a_job_of_a_kind_that_no_longer_exists_is_shown(client: Client) -> None:
    job = Job.objects.create(kind="gone", title="Old", result={}, state=JobState.DONE)
    assert "The job is done." in client.get(f"/jobs/{job.pk}/").content.decode()


def test_the_response_to_a_form_is_the_progress_in_its_place(client: Client) -> None:
    address = "/benchmarks/tiny/agreement/"
    assert client.post(address)["Location"] == f"/jobs/{Job.objects.get().pk}/"
    answer = client.post(address, headers=HTMX)
    job = Job.objects.get()  # the same one
    assert (answer.status_code, answer["X-Job"]) == (200, str(job.pk))
    part = answer.content.decode()
    assert 'id="job-in-place"' in part
    assert f"/jobs/{job.pk}/progress/" in part
    assert "in_place=on" in part
    assert "<html" not in part


def test_the_browser_goes_to_the_result(client: Client, tmp_path: Path) -> None:
    make_run(tmp_path, Benchmark.objects.get(), {"c0": ["v1"]})
    form = {"depth": "1", "runs": ["A"], "seed": "0"}
    answer = client.post("/benchmarks/tiny/pools/new/", form, headers=HTMX)
    job = Job.objects.get(pk=uuid.UUID(answer["X-Job"]))
    assert "HX-Redirect" not in poll(client, job)
    run_job(job.pk)
    done = poll(client, job, "/benchmarks/tiny/pools/new/")
    assert done["HX-Redirect"] == "/benchmarks/tiny/campaigns/#pools"
    page = client.get("/benchmarks/tiny/campaigns/").content.decode()
    assert (
        "The next campaign would have 1 task to judge (1 pair). The pool has 1 pair, 1 of" in page
    )
    # If the browser already shows this page, a redirect to a fragment of it would only scroll.
    again = poll(client, job, "/benchmarks/tiny/campaigns/")
    assert (again["HX-Refresh"], "HX-Redirect" in again) == ("true", False)


@pytest.mark.parametrize(
    ("page", "header"),
    [
        ("/benchmarks/tiny/labels/", ("HX-Refresh", "true")),
        ("/benchmarks/tiny/analyses/?labels=draft", ("HX-Refresh", "true")),
        ("/benchmarks/tiny/", ("HX-Redirect", "/benchmarks/tiny/labels/#draft")),
    ],
)
def test_after_drafting_the_browser_shows_the_draft(
    client: Client, page: str, header: tuple[str, str]
) -> None:
    result = {"pairs": 2, "analyses": 0, "sha256": "0"}
    job = Job.objects.create(
        kind="draft_labels", result=result, state=JobState.DONE, benchmark_key="tiny"
    )
    done = poll(client, job, page)
    found = [(name, done[name]) for name in ("HX-Refresh", "HX-Redirect") if name in done]
    assert found == [header]


def test_a_failed_job_shows_its_reason_and_the_way_to_try_again(client: Client) -> None:
    content = SimpleUploadedFile("my.run", b"c0 Q0 v9 1 1.0 t\n")
    form = {"file": content, "system": "A", "format": "auto"}
    answer = client.post("/benchmarks/tiny/runs/new/", form, headers=HTMX)
    job = Job.objects.get(pk=uuid.UUID(answer["X-Job"]))
    run_job(job.pk)
    failed = poll(client, job, "/benchmarks/tiny/runs/new/")
    assert (failed["HX-Retarget"], failed["HX-Reswap"]) == ("#job-in-place", "outerHTML")
    text = failed.content.decode()
    assert "my.run, line 1: unknown video &#x27;v9&#x27;" in text
    assert "Nothing was stored." in text
    assert '<a href="/benchmarks/tiny/runs/new/">Try again</a>' in text
    assert Run.objects.count() == 0


def test_a_job_is_cancelled_in_place(client: Client) -> None:
    job = enqueue_job(kind="agreement", title="A", params={}, benchmark_key="tiny", by=OPERATOR)
    assert client.post(f"/jobs/{job.pk}/cancel/", headers=HTMX).status_code == 204
    text = poll(client, job).content.decode()
    assert "The job was cancelled and nothing was stored." in text


def test_a_file_of_a_wrong_type_starts_no_job(client: Client) -> None:
    png = SimpleUploadedFile("tags.csv", b"\x89PNG\r\n\x1a\n....")
    answer = client.post("/benchmarks/tiny/tags/new/", {"file": png})
    assert answer.status_code == 422
    assert "This is a PNG image. A CSV or JSON file is expected." in answer.content.decode()
    assert Job.objects.count() == 0


def test_jobs_need_a_role_in_their_benchmark() -> None:
    nobody, rita = make_user("nobody"), make_member("rita", Role.RESEARCHER, of="tiny")
    values: dict[str, Any] = {"kind": "agreement", "title": "A", "params": {}}
    for by, key in ((nobody, "tiny"), (rita, "elsewhere"), (rita, "")):
        with pytest.raises(NotPermitted):
            enqueue_job(**values, benchmark_key=key, by=by)
    job = enqueue_job(**values, benchmark_key="tiny", by=rita)
    with pytest.raises(NotPermitted):
        cancel_job(job=job, by=make_member("otto", Role.RESEARCHER, of="tiny"))
    with pytest.raises(AttributeError):  # None is not the operator
        enqueue_job(**values, benchmark_key="tiny", by=None)  # type: ignore[arg-type]
    assert Job.objects.get().created_by == rita
