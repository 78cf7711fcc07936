"""The page of a run's estimates, and how other pages mark estimates."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from annotation.models import Campaign
from evaluation.estimates.services import DrawOptions, draw_captions
from evaluation.lab.analyses import get_analysis
from evaluation.lab.analyses.question import build_question
from evaluation.lab.services import analyse
from evaluation.release.services import publish_label_set
from evaluation.scores.services import evaluate_runs
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.jobs.models import Job
from pooling.services import change_public_page
from tests.evaluation.estimates.test_draws import CAPTIONS, VIDEOS, judge_everything, run
from tests.factories import make_run, make_user

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


def test_a_score_is_complete_by_the_same_rule_everywhere(run, lead, tmp_path) -> None:
    """Rank 1 is relevant, and rank 2 is unjudged: no label changes C@5."""
    own = {f"c{q}": [f"v{q % VIDEOS}", f"v{(q + 1) % VIDEOS}"] for q in range(CAPTIONS)}
    make_run(tmp_path, run.benchmark, own, name="first", system="F")
    draw = draw_captions(run=run, options=DrawOptions(run="new", captions=30), by=OPERATOR)
    judge_everything(draw, {3})
    evaluate_runs(benchmark=run.benchmark, by=OPERATOR, labels="original")
    page = lead.get(reverse("results", args=["tiny"]), {"labels": "original"}).content.decode()
    assert re.findall(r"Judged@\d+ [\d.]+, complete", page) == [
        "Judged@1 100.0, complete",
        "Judged@2 50.0, complete",
        "Judged@2 50.0, complete",
    ]
    states = {}
    for name, measures in (("leaderboard", {"measure": "C@5"}), ("estimates", {"measures": "C@5"})):
        asked = {**measures, "labels": "original"}
        question = build_question(get_analysis(name), run.benchmark, asked)
        states[name] = get_analysis(name).load(analyse(question=question).result)
    assert {row.run: row.state.split()[0] for row in states["leaderboard"].board} == {
        "first": "complete",
        "new": "unjudged",
    }
    assert [row.run for row in states["estimates"].complete] == ["first"]


def test_the_public_leaderboard_marks_estimates(run, client) -> None:
    draw = draw_captions(run=run, options=DrawOptions(run="new", captions=30), by=OPERATOR)
    evaluate_runs(benchmark=run.benchmark, by=OPERATOR, labels="original", run_names=["new"])
    shown = {"is_public": True, "shows_while_judging": True}
    change_public_page(benchmark=run.benchmark, changes=shown, by=OPERATOR)
    public = reverse("public-benchmark", args=["tiny"])
    page = client.get(public).content.decode()
    assert page.count('<span class="state">unjudged pairs</span>') == 1
    assert "estimated" not in page
    judge_everything(draw, {3})
    page = client.get(public).content.decode()
    assert page.count("estimated 100.0 ±") == 1
    assert page.count('<span class="state">partly estimated (±') == 1


def test_no_proxy_reaches_a_label_set(run, tmp_path) -> None:
    """Label sets are equal byte by byte with and without a machine."""
    draw = draw_captions(run=run, options=DrawOptions(run="new", captions=30), by=OPERATOR)
    judge_everything(draw, {3}, limit=40)
    before = publish_label_set(benchmark=run.benchmark, by=OPERATOR, allow_pending=True)
    from tests.factories import add_proxy

    add_proxy(tmp_path, run.benchmark, [[0.9] * 40] * 80, "machine")
    after = publish_label_set(benchmark=run.benchmark, by=OPERATOR, allow_pending=True)
    assert before.sha256 == after.sha256
