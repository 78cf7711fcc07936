"""All pages write the same number of tasks to judge, and of their pairs."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from django.test import Client

from annotation.enums import CampaignState
from annotation.selectors.effort import preview_pool
from annotation.selectors.tasks import NewCounts, TaskCounter, count_new_tasks, run_tasks_for_page
from annotation.services import Policy, open_campaign, set_campaign_state
from annotation.tasks import count_new_tasks_task
from evaluation.release.services import publish_label_set
from evaluation.scores.services import evaluate_runs
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.jobs.models import Job
from hearth.jobs.registry import find_outcome
from hearth.jobs.services import run_job
from pooling.core.pool_options import PoolOptions
from pooling.models import Run
from tests import factories

pytestmark = pytest.mark.django_db

ROWS = [
    ("c0", "a dog", "v0"),
    ("c1", "A dog.", "v1"),
    ("c2", "a dog", "v2"),
    ("c3", "a cat", "v3"),
    ("c4", "a cat", "v4"),
    ("c5", "a fox", "v5"),
]
PHRASE = re.compile(r"[\d,]+ tasks? to judge \([\d,]+ pairs?\)")


@pytest.fixture
def new_run(tmp_path: Path) -> Run:
    """A run whose top has other numbers of pairs, unlabelled pairs, new pairs, tasks and pairs.

    The first run is pooled and judged. The equal captions c0, c1 and c2 share tasks, and c3 and c4
    do. Of the ten pairs of the new run, (c0, v0) and (c1, v0) are judged, with one task.
    """
    benchmark = factories.import_benchmark(
        key="tiny",
        captions=factories.write_captions(tmp_path, ROWS),
        videos=factories.write_videos(tmp_path, [(f"v{n}", "", "") for n in range(9)]),
    ).benchmark
    factories.make_run(tmp_path, benchmark, {"c0": ["v0"], "c5": ["v5"]}, system="first")
    factories.build_pool(benchmark=benchmark, depth=1)
    campaign = open_campaign(benchmark=benchmark, by=OPERATOR, policy=Policy(double_share=0))
    factories.judge(campaign, factories.make_annotator("anna"), {"v0": 1, "v5": 1})
    publish_label_set(benchmark=benchmark, by=OPERATOR)
    lists = {
        "c0": ["v0", "v6"],
        "c1": ["v0", "v1"],
        "c2": ["v6", "v7"],
        "c3": ["v3", "v8"],
        "c4": ["v8"],
        "c5": ["v8"],
    }
    run = factories.make_run(tmp_path, benchmark, lists, system="second")
    evaluate_runs(benchmark=benchmark, by=OPERATOR)
    return run


def phrases(page: str) -> set[str]:
    """Return the numbers of tasks and pairs on a page, as they are written."""
    main = page.partition("<main")[2] or page
    return set(PHRASE.findall(unescape(" ".join(re.sub(r"<[^>]+>", " ", main).split()))))


def test_all_pages_write_one_number_of_tasks_and_pairs(new_run: Run, client: Client) -> None:
    benchmark = new_run.benchmark
    # (a dog: v6, v1, v7), (a cat: v3, v8) and (a fox: v8), for 3, 2 and 1 captions.
    expected = NewCounts(tasks=6, pairs=14)
    client.force_login(factories.make_user("lena", Role.LEAD))

    def shown(path: str) -> set[str]:
        return phrases(client.get(path).content.decode())

    run_page = f"/benchmarks/tiny/runs/{new_run.pk}/"
    assert shown(run_page) == {str(expected)} == {"6 tasks to judge (14 pairs)"}
    planned = preview_pool(benchmark, PoolOptions(depth=10))
    assert (planned.added, planned.waiting) == (expected, NewCounts(0, 0))
    form = {"depth": "10", "seed": "0", "step": "preview"}
    figures = dict(client.post("/benchmarks/tiny/pools/new/", form).context["figures"])
    assert (figures["Tasks to judge"].text, figures["Tasks to judge"].note) == ("6", "(14 pairs)")

    Job.objects.all().delete()
    client.post(f"/benchmarks/tiny/runs/{new_run.pk}/pool/")
    run_job(Job.objects.get().pk)
    outcome = find_outcome(Job.objects.get())
    assert outcome is not None
    pages = ("/", "/benchmarks/tiny/", "/benchmarks/tiny/campaigns/", run_page)
    assert {path: shown(path) for path in pages} == {path: {str(expected)} for path in pages}
    assert shown("/benchmarks/tiny/campaigns/new/") == phrases(outcome.text) == {str(expected)}
    again = preview_pool(benchmark, PoolOptions(depth=10))
    assert (again.added, again.waiting) == (NewCounts(0, 0), expected)

    campaign = open_campaign(benchmark=benchmark, by=OPERATOR)
    assert campaign.n_tasks == sum(tasks for _, tasks, _ in campaign.plan) == 6
    assert sum(pairs for *_, pairs in campaign.plan) == 14
    assert [shown(path) for path in pages] == [set(), set(), set(), {str(NewCounts(0, 0))}]


def test_a_preview_separates_the_tasks_of_earlier_pools(new_run: Run, client: Client) -> None:
    benchmark = new_run.benchmark
    factories.build_pool(benchmark=benchmark, depth=1)
    waiting = count_new_tasks(benchmark)
    assert waiting == NewCounts(4, 8)
    client.force_login(factories.make_user("lena", Role.LEAD))
    form = {"depth": "10", "seed": "0", "step": "preview"}
    figures = dict(client.post("/benchmarks/tiny/pools/new/", form).context["figures"])
    assert (figures["Tasks to judge"].text, figures["Tasks to judge"].note) == (
        "2",
        "(6 pairs); 6 tasks to judge (14 pairs) with those of earlier pools",
    )


def test_large_runs_are_counted_by_the_worker(
    new_run: Run, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.selectors.tasks.PAIRS_PER_PAGE", 5)
    client.force_login(factories.make_user("rosa", Role.RESEARCHER))
    assert run_tasks_for_page(new_run) is None
    page = client.get(f"/benchmarks/tiny/runs/{new_run.pk}/").content.decode()
    assert (phrases(page), "being counted" in page) == (set(), True)
    count_new_tasks_task()
    assert run_tasks_for_page(new_run) == NewCounts(6, 14)


@pytest.mark.postgresql
def test_tasks_of_any_pairs_follow_the_rule_of_campaigns(new_run: Run) -> None:
    """Tasks of a closed campaign count again, unless they have a label."""
    benchmark = new_run.benchmark
    factories.build_pool(benchmark=benchmark, depth=1)
    campaign = open_campaign(benchmark=benchmark, by=OPERATOR, policy=Policy(double_share=0))
    factories.judge(campaign, factories.make_annotator("bert"), {"v3": 1})
    space = benchmark.pair_space
    codes = space.encode(np.array([0, 1, 3, 4, 5]), np.array([0, 0, 3, 8, 6]))
    assert TaskCounter(benchmark).count(codes) == NewCounts(1, 1)
    lead = factories.make_user("lena", Role.LEAD)
    set_campaign_state(campaign=campaign, state=CampaignState.CLOSED, by=lead)
    assert TaskCounter(benchmark).count(codes) == NewCounts(2, 3)
