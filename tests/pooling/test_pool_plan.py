"""The preview of a pool, and the options that add or limit its pairs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.test import Client

from annotation.enums import Only
from annotation.models import Judgment
from annotation.selectors.effort import Speed, effort_of, preview_pool
from annotation.services import import_judgments, open_campaign
from annotation.services.drawn import open_drawn
from evaluation.lab.selectors import measured_rates
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.jobs.models import Job
from hearth.jobs.registry import find_outcome
from hearth.jobs.services import run_job
from hearth.shared.errors import Cancelled, InvalidInput, Outdated
from hearth.shared.options import build
from pooling.core.pool_options import PoolOptions
from pooling.models import Benchmark, Pool
from pooling.selectors.pool_plan import codes_of_pool, plan_pool
from pooling.services import import_proxy
from tests.factories import (
    build_pool,
    claim,
    import_benchmark,
    judge,
    make_annotator,
    make_benchmark,
    make_campaign,
    make_run,
    make_user,
    row_counts,
    submit,
    write_captions,
    write_judgments,
    write_videos,
)

pytestmark = pytest.mark.django_db

RUNS = {
    "A": {"c0": ["v0", "v1"], "c1": ["v1", "v2"], "c2": ["v3"]},
    "B": {"c0": ["v1", "v3"], "c1": ["v1", "v0"]},
}


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    # The original positive of c0 is v0, that of c1 is v1, and that of c2 is v2.
    found = make_benchmark(tmp_path, captions=3, videos=4)
    for system, lists in RUNS.items():
        make_run(tmp_path, found, lists, system=system)
    return found


def planned_pairs(benchmark: Benchmark, **options: Any) -> list[str]:
    """Return the new pairs of a preview, each as two digits: its caption and its video."""
    plan = plan_pool(benchmark, PoolOptions(depth=2, **options))
    return [f"{code // 4}{code % 4}" for code in plan.new.tolist()]


@pytest.mark.parametrize(
    ("options", "pairs"),
    [
        ({}, "00 01 03 10 11 12 23"),
        ({"originals": "added"}, "00 01 03 10 11 12 22 23"),
        ({"originals": "left-out"}, "01 03 10 12 23"),
        # Only c1 with v1 and c0 with v1 are ranked by two systems.
        ({"budget": 2}, "01 11"),
        # The next pairs are at rank 1 of one system: c0 with v0, and c2 with v3.
        ({"budget": 4}, "00 01 11 23"),
        # All texts are "caption N". The shared word is not rare, so no two are similar enough.
        ({"runs": ["B"], "similar": 2, "similar_from": 0.99}, "01 03 10 11"),
    ],
)
def test_options_of_a_pool(benchmark: Benchmark, options: dict[str, Any], pairs: str) -> None:
    before = row_counts()
    assert planned_pairs(benchmark, **options) == pairs.split()
    assert row_counts() == before
    built = build_pool(
        benchmark=benchmark, depth=2, run_names=options.pop("runs", ()), **options
    ).pool
    codes = codes_of_pool(built)
    assert codes is not None
    assert [f"{code // 4}{code % 4}" for code in codes.tolist()] == pairs.split()


def test_a_proxy_adds_pairs_that_no_run_found(benchmark: Benchmark, tmp_path: Path) -> None:
    values = np.zeros((3, 4))
    values[0, 2], values[1, 3], values[2, 0], values[0, 0] = 0.8, 0.3, 0.5, 1
    np.save(tmp_path / "p.npy", values)
    import_proxy(benchmark=benchmark, path=tmp_path / "p.npy", by=OPERATOR)
    options = PoolOptions(depth=2, proxy="p", proxy_from=0.5)
    plan = plan_pool(benchmark, options)
    # The proxy adds c0 with v2 and c2 with v0. c0 with v0 is ranked, and c1 with v3 is below 0.5.
    assert [f"{code // 4}{code % 4}" for code in plan.new.tolist()] == [
        *("00", "01", "02", "03", "10", "11", "12", "20", "23")
    ]
    assert plan.n_unranked == 2
    # 0.8 is stored as 0.7998, but it still reaches the threshold 0.8.
    assert planned_pairs(benchmark, proxy="p", proxy_from=0.8) == "00 01 02 03 10 11 12 23".split()
    build_pool(benchmark=benchmark, depth=2)
    assert planned_pairs(benchmark, proxy="p", budget=1) == ["02"]
    built = build_pool(benchmark=benchmark, depth=2, proxy="p", budget=1).pool
    assert (built.limits, built.n_new_pairs) == (
        ["at most 1 new pair", "pairs with a value of at least 0.5 by the proxy p"],
        1,
    )
    codes = codes_of_pool(built)
    assert codes is not None
    assert codes.tolist() == [0, 1, 2, 3, 4, 5, 6, 11]


def test_a_sample_of_videos_limits_the_pairs(benchmark: Benchmark) -> None:
    drawn = planned_pairs(benchmark, video_sample=2, seed=3)
    videos = {pair[1] for pair in drawn}
    assert len(videos) == 2
    assert drawn == [pair for pair in planned_pairs(benchmark) if pair[1] in videos]


def test_each_budget_takes_the_next_pairs(benchmark: Benchmark) -> None:
    first = build_pool(benchmark=benchmark, depth=2, budget=4).pool
    assert (first.n_pairs, first.n_new_pairs, first.limits) == (4, 4, ["at most 4 new pairs"])
    second = build_pool(benchmark=benchmark, depth=2, budget=4).pool
    assert (second.n_pairs, second.n_new_pairs) == (7, 3)
    assert not build_pool(benchmark=benchmark, depth=2, budget=4).created
    codes = codes_of_pool(first)
    assert codes is not None
    assert codes.tolist() == [0, 1, 5, 11]  # later pools do not change a pool


def test_only_the_previewed_pool_is_built(benchmark: Benchmark, tmp_path: Path) -> None:
    seen = plan_pool(benchmark, PoolOptions(depth=1)).sha256
    make_run(tmp_path, benchmark, {"c2": ["v0"]}, system="C")
    with pytest.raises(Outdated, match="This pool would now have 5 new pairs"):
        build_pool(benchmark=benchmark, depth=1, expected=seen)
    seen = plan_pool(benchmark, PoolOptions(depth=1)).sha256
    built = build_pool(benchmark=benchmark, depth=1, expected=seen)
    # If a job is interrupted after its commit, it runs again and must return the same pool.
    again = build_pool(benchmark=benchmark, depth=1, expected=seen)
    assert (built.created, again.created, again.pool) == (True, False, built.pool)


def test_a_preview_counts_equal_captions_once_and_uses_the_measured_speed(tmp_path: Path) -> None:
    rows = [("c0", "a dog", "v0"), ("c1", "A dog.", "v1"), ("c2", "a cat", "v2")]
    videos = [(f"v{number}", "", "") for number in range(4)]
    benchmark = import_benchmark(
        key="tiny",
        captions=write_captions(tmp_path, rows),
        videos=write_videos(tmp_path, videos),
    ).benchmark
    judged = [("c2", f"v{number}", "anna", 1) for number in range(4)]
    import_judgments(
        benchmark=benchmark, path=write_judgments(tmp_path / "j.csv", judged), by=OPERATOR
    )
    make_run(tmp_path, benchmark, {"c0": ["v2", "v3"], "c1": ["v2"], "c2": ["v0"]}, system="A")
    planned = preview_pool(benchmark, PoolOptions(depth=2), rate=15)
    report = planned.report()
    assert (report["pairs"], report["new_pairs"]) == (4, 3)
    assert (report["tasks"], report["new_tasks"]) == (3, 2)
    # Two tasks of one label each at the assumed time. An imported file has no policy.
    assert (report["seconds"], report["answers"], report["has_policy"]) == (8.0, 0, False)
    assert (report["hours"], report["cost"]) == (16 / 3600, 15 * 16 / 3600)
    slower = preview_pool(benchmark, PoolOptions(depth=2), seconds=36).report()
    assert (slower["seconds"], slower["answers"], slower["hours"]) == (36, 0, 0.02)

    for judgment, seconds in zip(Judgment.objects.order_by("pk"), [2, 4, 6, 500], strict=True):
        judgment.seconds = seconds  # 500 seconds are a break
        judgment.save(update_fields=["seconds"])
    effort = effort_of(benchmark, 900, rate=15)
    assert effort.speed.seconds == 4
    assert (effort.labels, effort.hours, effort.cost) == (990, 1.1, 16.5)


def test_only_answers_to_the_question_of_pools_make_the_plan(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, captions=2, videos=3, labels_each=2)
    benchmark, anna = campaign.benchmark, make_annotator("anna")
    judge(campaign, anna, {"v0": 1, "v1": 1})
    Judgment.objects.update(seconds=4)
    spans = open_campaign(benchmark=benchmark, by=OPERATOR, question="spans", only=Only.ALL)
    submit(claim(spans, anna)[0], 0)
    Judgment.objects.filter(task__campaign=spans).update(seconds=90)
    open_drawn(
        benchmark=benchmark,
        codes=np.array([5]),
        positions=np.array([0]),
        waits=np.zeros(1, np.bool_),
        by=OPERATOR,
    )
    effort = effort_of(benchmark, 10)
    assert effort.speed == Speed(4, 4, is_of_benchmark=False)
    assert (effort.labels, effort.has_policy) == (20, True)
    assert measured_rates(benchmark)["seconds"] == 4


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"video_sample": 5}, "The number of sampled videos must be from 1 to 4, not 5."),
        ({"budget": 0}, "The maximum number of new pairs must be from 1 to 2,147,483,647, not 0."),
        ({"similar": 101}, "The number of similar texts must be from 1 to 100, not 101."),
        ({"similar_from": 0.0}, "The lowest similarity must be above 0 and at most 1, not 0.0."),
        (
            {"proxy_from": 0.0},
            "The lowest value of the proxy must be above 0 and at most 1, not 0.0.",
        ),
        ({"proxy": "x"}, "There is no proxy 'x' in tiny. The proxies are: none."),
        (
            {"originals": "x"},
            "The option for original positives must be one of ranked, added, left-out.",
        ),
    ],
)
def test_invalid_options_are_refused(
    benchmark: Benchmark, options: dict[str, Any], error: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        plan_pool(benchmark, PoolOptions(depth=2, **options))
    assert str(refused.value) == error


def test_page_states_that_there_are_no_runs(client: Client, tmp_path: Path) -> None:
    client.force_login(make_user("lena", Role.LEAD))
    make_benchmark(tmp_path, key="bare")
    page = client.get("/benchmarks/bare/pools/new/").content.decode()
    assert "This benchmark has no runs to pool." in page


def test_the_page_builds_the_pool_that_it_previewed(benchmark: Benchmark, client: Client) -> None:
    client.force_login(make_user("lena", Role.LEAD))
    form = {"depth": "2", "seed": "0", "budget": "4", "rate": "10", "step": "preview"}
    assert (
        '<details class="fieldset">' in client.get("/benchmarks/tiny/pools/new/").content.decode()
    )
    page = client.post("/benchmarks/tiny/pools/new/", form)
    text = page.content.decode()
    assert page.status_code == 200
    assert "the maximum leaves out 3" in text
    assert Job.objects.count() == 0
    sha256 = plan_pool(benchmark, PoolOptions(depth=2, budget=4)).sha256
    assert f'name="expected" value="{sha256}"' in text
    client.post("/benchmarks/tiny/pools/new/", {**form, "step": "", "expected": sha256})
    params = Job.objects.get().params
    assert (params["budget"], params["expected"]) == (4, sha256)


def test_a_job_previews_a_pool_with_similar_texts(benchmark: Benchmark, client: Client) -> None:
    client.force_login(make_user("lena", Role.LEAD))
    form = {"depth": "2", "seed": "0", "similar": "2", "similar_from": "0.9", "rate": "10"}
    client.post("/benchmarks/tiny/pools/new/", {**form, "step": "preview"})
    run_job(Job.objects.get().pk)
    job = Job.objects.get()
    options = PoolOptions(depth=2, runs=[], similar=2, similar_from=0.9)
    planned = preview_pool(benchmark, options, rate=10)
    assert job.result == planned.report()
    assert Pool.objects.count() == 0
    outcome = find_outcome(job)
    assert outcome is not None
    assert outcome.url == f"/benchmarks/tiny/pools/new/{job.pk}/"
    text = client.get(outcome.url).content.decode()
    assert f'name="expected" value="{planned.plan.sha256}"' in text
    sent = dict(re.findall(r'<input type="hidden" name="(\w+)" value="(.*?)">', text))
    client.post("/benchmarks/tiny/pools/new/", sent)
    built = Job.objects.get(kind="build_pool").params
    assert build(PoolOptions, built) == options
    assert built["expected"] == planned.plan.sha256
    client.force_login(make_user("rosa", Role.RESEARCHER))
    assert client.get(outcome.url).status_code == 403


def test_a_preview_shows_each_figure_with_its_note(benchmark: Benchmark, client: Client) -> None:
    client.force_login(make_user("lena", Role.LEAD))
    form = {"depth": "2", "seed": "0", "similar": "2", "similar_from": "0.9"}
    client.post("/benchmarks/tiny/pools/new/", {**form, "step": "preview"})
    run_job(Job.objects.get().pk)
    job = Job.objects.get()
    measured = {"seconds": 36.0, "answers": 9, "is_of_benchmark": True, "hours": 0.1, "cost": 2.0}
    counts = {
        "new_pairs": 12,
        "task_pairs": 12,
        "pairs": 13,
        "new_tasks": 10,
        "labels": 10,
        "left_out": 0,
    }
    job.result = {**(job.result or {}), **measured, **counts, "unranked": 1}
    job.save()
    page = client.get(f"/benchmarks/tiny/pools/new/{job.pk}/")
    assert [(name, figure.text, figure.note) for name, figure in page.context["figures"]] == [
        ("Tasks to judge", "10", "(12 pairs)"),
        ("Labels", "10", "needed under the default policy; disagreements need more"),
        ("Time of judging", "6 min 0 s", ""),
        ("Time of an answer", "36.0 s", "median of the last 9 timed answers of this benchmark"),
        ("Pairs of the pool", "13", ""),
        ("Pairs in no earlier pool", "12", ""),
        ("New pairs that no run ranks", "1", ""),
        ("Cost", "2", "in the currency of the rate"),
    ]


def test_the_lead_can_assume_a_time_per_answer(benchmark: Benchmark, client: Client) -> None:
    client.force_login(make_user("lena", Role.LEAD))
    form = {"depth": "2", "seed": "0", "step": "preview"}

    def times(**values: str) -> list[tuple[str, str]]:
        figures = dict(client.post("/benchmarks/tiny/pools/new/", form | values).context["figures"])
        names = ("Labels", "Time of an answer", "Time of judging")
        return [(figures[name].text, figures[name].note) for name in names]

    labels = ("8", "needed under the default policy; disagreements need more")
    assumed = "assumed; you can change it below"
    assert times() == [labels, ("8.0 s", assumed), ("1 min 4 s", "")]
    assert times(seconds="30") == [labels, ("30.0 s", assumed), ("4 min 0 s", "")]
    page = client.post("/benchmarks/tiny/pools/new/", form | {"seconds": "0"})
    assert page.context["form"].errors["seconds"] == [
        "Ensure this value is greater than or equal to 0.1."
    ]


def test_a_preview_with_similar_texts_can_be_cancelled(benchmark: Benchmark) -> None:
    def cancel(done: int, total: int | None, phase: str = "") -> None:
        if phase == "comparing captions":
            raise Cancelled

    with pytest.raises(Cancelled):
        preview_pool(benchmark, PoolOptions(depth=2, similar=1), progress=cancel)


def test_api_plans_a_pool(benchmark: Benchmark, client: Client) -> None:
    client.force_login(make_user("lena", Role.LEAD))
    path = "/api/v1/benchmarks/tiny/pools/plan/"
    answer = client.post(path, {"depth": 2, "budget": 4}, content_type="application/json")
    assert answer.status_code == 200
    assert answer.json() == {
        "pairs": 4,
        "new_pairs": 4,
        "left_out": 3,
        "unranked": 0,
        "tasks": 4,
        "new_tasks": 4,
        "task_pairs": 4,
        "waiting_tasks": 0,
        "waiting_pairs": 0,
        "labels": 4,
        "has_policy": False,
        "seconds": 8.0,
        "answers": 0,
        "is_of_benchmark": False,
        "hours": 4 * 8 / 3600,
        "cost": None,
        "sha256": plan_pool(benchmark, PoolOptions(depth=2, budget=4)).sha256,
    }
    answer = client.post(path, {"depth": 2, "similar": 1}, content_type="application/json")
    assert (answer.status_code, answer.json()["kind"]) == (202, "preview_pool")
    client.force_login(make_user("rosa", Role.RESEARCHER))
    assert client.post(path, {"depth": 2, "budget": 4}).status_code == 403
    assert client.post(path, {"depth": 2, "runs": ["A"]}).status_code == 200
