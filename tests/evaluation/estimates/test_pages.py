"""The page of a run's estimates, and how other pages mark estimates."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from annotation.models import Campaign
from evaluation.estimates.services import DrawOptions, draw_captions
from evaluation.release.services import publish_label_set
from evaluation.scores.services import evaluate_runs
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.jobs.models import Job
from tests.evaluation.estimates.test_draws import judge_everything, run
from tests.factories import make_user

__all__ = ["run"]


@pytest.fixture
def lead(client):
    client.force_login(make_user("lead", Role.LEAD))
    return client


def test_the_page_plans_and_draws(run, lead) -> None:
    page = reverse("run-estimate", args=["tiny", run.pk])
    text = re.sub(r"\s+", " ", lead.get(page).content.decode())
    assert "40 of 80 captions are undecided" in text
    assert "Draw captions and open the campaign" in text
    chart = lead.get(reverse("run-estimate-chart", args=["tiny", run.pk])).json()
    rows = [row for row in chart["data"]["values"] if row["measure"] == "C@10"]
    assert len(rows) == 1
    assert 0 < rows[0]["points"] < 15
    form = {"measure": "C@5", "captions": 30, "seed": 1}
    assert lead.post(page, form).status_code == 302
    job = Job.objects.get(kind="draw_captions")
    assert (job.params["run"], job.params["measure"], job.params["captions"]) == ("new", "C@5", 30)
    assert lead.post(page, form | {"captions": 0}).status_code == 422


def test_results_mark_estimates_and_label_sets_name_the_run(run, lead) -> None:
    draw = draw_captions(run=run, options=DrawOptions(run="new", captions=30), by=OPERATOR)
    evaluate_runs(benchmark=run.benchmark, by=OPERATOR, labels="original", run_names=["new"])
    results = reverse("results", args=["tiny"])
    assert "estimated 1" not in lead.get(results).content.decode()
    judge_everything(draw, {3})
    found = lead.get(results).content.decode()
    assert found.count("estimated 100.0 ±") == 1
    assert "(50.0 + 50.0 ±" in found
    assert "partly estimated (±" in found
    page = lead.get(reverse("run-estimate", args=["tiny", run.pk])).content.decode()
    assert "30 of 40 undecided captions drawn at random, seed 0" in page
    published = publish_label_set(benchmark=run.benchmark, by=OPERATOR, allow_pending=True)
    page = lead.get(reverse("label-set", args=["tiny", published.version])).content.decode()
    assert "Sampled for" in page
    assert not Campaign.objects.filter(name__icontains="new").exists()


def test_no_proxy_reaches_a_label_set(run, tmp_path) -> None:
    """Label sets are equal byte by byte with and without a machine."""
    draw = draw_captions(run=run, options=DrawOptions(run="new", captions=30), by=OPERATOR)
    judge_everything(draw, {3}, limit=40)
    before = publish_label_set(benchmark=run.benchmark, by=OPERATOR, allow_pending=True)
    from tests.factories import add_proxy

    add_proxy(tmp_path, run.benchmark, [[0.9] * 40] * 80, "machine")
    after = publish_label_set(benchmark=run.benchmark, by=OPERATOR, allow_pending=True)
    assert before.sha256 == after.sha256
