"""Counts of large campaigns read only the tasks that have begun."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.core.consensus import OutcomeCounts
from annotation.enums import CampaignState
from annotation.models import HAS_BEGUN, JudgmentTask
from annotation.selectors.progress import campaign_progress, grouped
from annotation.selectors.tasks import count_new_tasks
from annotation.services import open_campaign, set_campaign_state
from config.accounts.actors import OPERATOR
from config.accounts.roles import Role
from config.shared.caches import process_cache
from evaluation.release.selectors import benchmark_outcomes
from tests.factories import (
    all_pairs,
    build_pool,
    import_benchmark,
    judge,
    make_annotator,
    make_campaign,
    make_run,
    make_user,
    write_captions,
)

pytestmark = pytest.mark.django_db


def test_the_query_of_the_counts_uses_its_index(tmp_path: Path) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL reads tables of three rows whole")
    campaign = make_campaign(tmp_path)
    tasks = JudgmentTask.objects.filter(HAS_BEGUN, campaign__in=[campaign])
    assert "task_begun" in grouped(tasks).explain()


def test_equal_captions_count_in_the_plan(tmp_path: Path) -> None:
    rows = [("c0", "a cat", "v0"), ("c1", "a cat", "v1"), ("c2", "a dog", "v2")]
    benchmark = import_benchmark(key="equal", captions=write_captions(tmp_path, rows)).benchmark
    make_run(tmp_path, benchmark, all_pairs(3, 3))
    build_pool(benchmark=benchmark, depth=3)
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


def test_pairs_of_a_closed_campaign_are_counted_again(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, captions=1, videos=3, double_share=0)
    judge(campaign, make_annotator("anna"), {"v1": 1})
    lead = make_user("lena", Role.LEAD)
    set_campaign_state(campaign=campaign, state=CampaignState.CLOSED, by=lead)
    assert count_new_tasks(campaign.benchmark).tasks == 2
    assert benchmark_outcomes(campaign.benchmark).pairs == 3
    open_campaign(benchmark=campaign.benchmark, by=OPERATOR)
    assert count_new_tasks(campaign.benchmark).tasks == 0
