"""Counts of large campaigns read only the tasks that have begun."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.core.consensus import OutcomeCounts
from annotation.enums import CampaignState, Order, Priority
from annotation.models import HAS_BEGUN, JudgmentTask
from annotation.selectors.progress import campaign_progress, grouped
from annotation.selectors.tasks import count_new_tasks
from annotation.services import Policy, open_campaign, set_campaign_state
from annotation.tasks import count_new_tasks_task
from evaluation.release.selectors import benchmark_outcomes
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.shared.caches import process_cache
from pooling.enums import EqualTexts
from pooling.models import Benchmark
from pooling.selectors.captions import caption_parts
from pooling.services import set_equal_texts
from tests.conftest import take_tasks
from tests.factories import (
    all_pairs,
    build_pool,
    import_benchmark,
    judge,
    make_annotator,
    make_benchmark,
    make_campaign,
    make_run,
    make_user,
    write_captions,
)

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db]


def test_the_database_query_of_the_counts_uses_its_index(tmp_path: Path) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL reads a table of three rows without its index")
    campaign = make_campaign(tmp_path)
    tasks = JudgmentTask.objects.filter(HAS_BEGUN, campaign__in=[campaign])
    assert "task_begun" in grouped(tasks).explain()


def make_equal_captions(tmp_path: Path, key: str = "equal", **options: Any) -> Benchmark:
    """Make a pool of all pairs of three captions, of which two are equal, and three videos."""
    rows = [("c0", "a cat", "v0"), ("c1", "a dog", "v1"), ("c2", "a cat", "v2")]
    captions = write_captions(tmp_path, rows)
    benchmark = import_benchmark(key=key, captions=captions, **options).benchmark
    make_run(tmp_path, benchmark, all_pairs(3, 3))
    build_pool(benchmark=benchmark, depth=3)
    return benchmark


def test_equal_captions_count_in_the_plan(tmp_path: Path) -> None:
    benchmark = make_equal_captions(tmp_path)
    campaign = open_campaign(benchmark=benchmark, by=OPERATOR)
    assert sum(pairs for _, _, pairs in campaign.plan) == 9
    assert sum(tasks for _, tasks, _ in campaign.plan) == campaign.n_tasks == 6
    judge(campaign, make_annotator("anna"), {"v0": 1})
    progress = campaign_progress(campaign)
    assert (progress.tasks, progress.pairs, progress.labels) == (6, 9, 2)
    assert benchmark_outcomes(benchmark).pairs == 9


def test_a_campaign_without_labels_reads_no_task(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, captions=2, videos=5, double_share=0)
    progress = campaign_progress(campaign)
    assert (progress.tasks, progress.pairs, progress.labels_required) == (10, 10, 10)
    assert progress.outcomes == OutcomeCounts()
    assert not JudgmentTask.objects.filter(HAS_BEGUN).exists()


def test_pairs_are_not_read_if_all_of_them_are_in_campaigns(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, captions=2, videos=3)
    process_cache.clear()
    with CaptureQueriesContext(connection) as queries:
        assert count_new_tasks(campaign.benchmark).tasks == 0
    assert [one["sql"] for one in queries if "pooling_pair" in one["sql"]] == []


def test_pages_use_the_count_of_the_worker(tmp_path: Path) -> None:
    """The closed campaign is not the newest one, so a worker must read and count the pairs."""
    benchmark = make_benchmark(tmp_path, captions=1, videos=4)
    make_run(tmp_path, benchmark, {"c0": ["v0", "v1", "v2"]}, system="A")
    build_pool(benchmark=benchmark, depth=3)
    first = open_campaign(benchmark=benchmark, by=OPERATOR)
    make_run(tmp_path, benchmark, {"c0": ["v3"]}, system="B")
    build_pool(benchmark=benchmark, depth=3)
    open_campaign(benchmark=benchmark, by=OPERATOR)
    set_campaign_state(campaign=first, state=CampaignState.CLOSED, by=make_user("lena", Role.LEAD))
    count_new_tasks_task()
    process_cache.clear()
    with CaptureQueriesContext(connection) as queries:
        assert count_new_tasks(benchmark).tasks == 3
    read = [one["sql"] for one in queries if 'FROM "pooling_pair"' in one["sql"]]
    assert read == []


@pytest.mark.parametrize("broker", ["filesystem"], indirect=True)
def test_a_worker_counts_the_pairs_of_a_new_pool_at_once(
    tmp_path: Path, broker: str, django_capture_on_commit_callbacks: Any
) -> None:
    """No page reads the pairs, not even before the scheduler starts the count."""
    benchmark = make_benchmark(tmp_path, captions=1, videos=4)
    make_run(tmp_path, benchmark, {"c0": ["v0", "v1", "v2"]}, system="A")
    with django_capture_on_commit_callbacks(execute=True):
        build_pool(benchmark=benchmark, depth=3)
    assert (count_new_tasks_task.name, []) in take_tasks()
    count_new_tasks_task()
    process_cache.clear()
    with CaptureQueriesContext(connection) as queries:
        assert count_new_tasks(benchmark).tasks == 3
    assert [one["sql"] for one in queries if 'FROM "pooling_pair"' in one["sql"]] == []


def test_pairs_of_a_closed_campaign_are_counted_again(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, captions=1, videos=3, double_share=0)
    judge(campaign, make_annotator("anna"), {"v1": 1})
    lead = make_user("lena", Role.LEAD)
    set_campaign_state(campaign=campaign, state=CampaignState.CLOSED, by=lead)
    with CaptureQueriesContext(connection) as queries:
        assert count_new_tasks(campaign.benchmark).tasks == 2
    assert [one["sql"] for one in queries if "pooling_pair" in one["sql"]] == []
    assert benchmark_outcomes(campaign.benchmark).pairs == 3
    # The second campaign has the same two pairs. When both campaigns are closed, each of these
    # pairs is counted only once.
    second = open_campaign(benchmark=campaign.benchmark, by=OPERATOR)
    assert count_new_tasks(campaign.benchmark).tasks == 0
    set_campaign_state(campaign=second, state=CampaignState.CLOSED, by=lead)
    assert count_new_tasks(campaign.benchmark).tasks == 2


@pytest.mark.parametrize("rule", [EqualTexts.OFF, EqualTexts.FOLDED])
def test_the_count_after_a_campaign_is_closed_equals_the_tasks_of_the_next_one(
    tmp_path: Path, rule: EqualTexts
) -> None:
    benchmark = make_equal_captions(tmp_path, equal_texts=EqualTexts.OFF)
    campaign = open_campaign(benchmark=benchmark, by=OPERATOR)
    judge(campaign, make_annotator("anna"), {"v0": 1})
    lead = make_user("lena", Role.LEAD)
    set_campaign_state(campaign=campaign, state=CampaignState.CLOSED, by=lead)
    benchmark = set_equal_texts(benchmark=benchmark, rule=rule, by=OPERATOR)
    counted = count_new_tasks(benchmark)
    second = open_campaign(benchmark=benchmark, by=OPERATOR)
    _, tasks, pairs = np.sum(second.plan, axis=0).tolist()
    assert (counted.tasks, counted.pairs) == (tasks, pairs)
    assert tasks == (6 if rule == EqualTexts.OFF else 4)


@pytest.mark.parametrize("order", Order)
def test_a_campaign_that_is_opened_in_parts_has_the_same_tasks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: Order
) -> None:
    policy = Policy(double_share=0.4, order=order, priority=Priority.RANK)
    tasks = []
    for number, pairs_per_part in enumerate((200_000, 2)):
        benchmark = make_equal_captions(tmp_path, key=f"equal{number}")
        monkeypatch.setattr("annotation.selectors.tasks.PAIRS_PER_PART", pairs_per_part)
        campaign = open_campaign(benchmark=benchmark, by=OPERATOR, policy=policy, seed=5)
        columns = ("unit", "n_pairs", "position", "labels_planned", "pair__query__key")
        tasks.append(list(campaign.tasks.order_by("pk").values_list(*columns)))
        assert {position for _, _, position, _, _ in tasks[-1]} == set(range(6))
        parts = list(caption_parts(benchmark, pairs_per_part))
        assert [len(part.ids) for part in parts] == ([3] if number == 0 else [2, 1])
    assert tasks[0] == tasks[1]
