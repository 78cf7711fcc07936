"""Estimates of scores and differences in the command, the API, on pages and in papers."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.db import DatabaseError, transaction
from django.urls import reverse
from rest_framework.test import APIClient

from annotation.models import JudgmentTask
from evaluation.core.estimates import shares
from evaluation.core.estimates.values import Z_AT_END, Method, Refusal
from evaluation.estimates.analyses import paper_table
from evaluation.estimates.further import corrected_estimate, rates_before
from evaluation.estimates.models import Draw
from evaluation.estimates.request import EstimateOptions
from evaluation.estimates.results import estimate, p_text
from evaluation.estimates.selectors import LoadedDraw
from evaluation.estimates.services import DrawOptions, draw_captions
from evaluation.lab.analyses import get_analysis
from evaluation.lab.analyses.question import build_question
from evaluation.lab.paper.paper import plan_paper, write_paper
from evaluation.lab.services import analyse
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.shared.errors import InvalidInput
from hearth.shared.options import OptionFault
from pooling.models import Run
from tests.evaluation.estimates.test_draws import CAPTIONS, VIDEOS, judge_everything, run
from tests.factories import (
    add_judgments,
    add_proxy,
    claim,
    make_annotator,
    make_run,
    make_user,
    submit,
)

__all__ = ["run"]


@pytest.fixture
def other(run: Run, tmp_path: Any) -> Run:
    """A run with the own video first for captions 20 to 59, so 60 captions are undecided for one
    run: 20 for the other only, 20 for the first only, and 20 for both."""
    lists = {}
    for query in range(CAPTIONS):
        own = query % VIDEOS
        others = [(own + 2 + 3 * step) % VIDEOS for step in range(10)]
        ranked = [own, *others[:9]] if 20 <= query < 60 else others
        lists[f"c{query}"] = [f"v{video}" for video in ranked]
    return make_run(tmp_path, run.benchmark, lists, name="old", system="B")


def judge_by_truth(draw: Draw) -> None:
    """Judge so that the first run is right in captions divisible by 2, the second by 3."""
    wanted = {}
    for row in draw.captions:
        first, second = row["codes"], row["second"]["codes"]
        for codes, divisor in ((second, 3), (first, 2)):
            for place, code in enumerate(codes):
                wanted[code] = int(place == 4 and row["query"] % divisor == 0) or wanted.get(
                    code, 0
                )
    judge_all(draw, wanted)


def judge_all(draw: Draw, wanted: dict[int, int]) -> None:
    """Give each pair its label."""
    annotator = make_annotator("ann")
    while held := claim(draw.campaign, annotator, 50):
        for assignment in held:
            pair = assignment.task.pair
            submit(assignment, wanted[pair.query.number * VIDEOS + pair.video.number])


@pytest.mark.postgresql
def test_captions_of_two_runs_are_drawn_by_strata(run: Run, other: Run) -> None:
    options = DrawOptions(run="new", other="old", captions=30, measure="C@10")
    draw = draw_captions(run=run, options=options, by=OPERATOR)
    assert draw.populations["C@10"]["strata"] == [20, 20, 20]
    assert draw.populations["C@10"]["known"] == [20, 20]
    counts = np.bincount([row["stratum"] for row in draw.captions]).tolist()
    assert counts == [9, 9, 12]
    tasks = JudgmentTask.objects.filter(campaign=draw.campaign)
    assert tasks.filter(seats_open=0).count() == 0
    # In the strata of one run, only its ten pairs are judged.
    both = {row["query"] for row in draw.captions if row["stratum"] == 2}
    single = tasks.exclude(pair__query__number__in=both).count()
    assert single == 180
    draw.other_sha256 = "0" * 64
    with pytest.raises(DatabaseError, match="A draw never changes"), transaction.atomic():
        draw.save()
    again = DrawOptions(run="new", other="new")
    with pytest.raises(InvalidInput, match="must be another run"):
        draw_captions(run=run, options=again, by=OPERATOR)


def test_a_difference_has_an_interval_and_p(run: Run, other: Run) -> None:
    benchmark = run.benchmark
    options = EstimateOptions(runs=("new", "old"))
    with pytest.raises(InvalidInput, match="No captions were drawn for the difference of new and"):
        estimate(benchmark, options)
    draw = draw_captions(
        run=run, options=DrawOptions(run="new", other="old", captions=60), by=OPERATOR
    )
    (now,) = estimate(benchmark, options)
    assert (now.value, now.refusal) == (None, Refusal.UNJUDGED.value)
    judge_by_truth(draw)
    (found,) = estimate(benchmark, options)
    # All undecided captions were drawn, so the interval is a point.
    first = 40 + sum(query % 2 == 0 for query in range(40, 80))
    second = 40 + sum(query % 3 == 0 for query in (*range(20), *range(60, 80)))
    assert found.value == pytest.approx((first - second) / 80)
    assert found.interval == pytest.approx((found.value, found.value))
    assert (found.method, found.is_final) == (Method.TWO_STRATA.text, True)
    assert (found.p, found.p_holm) == (pytest.approx(0), pytest.approx(0))
    (opposite,) = estimate(benchmark, EstimateOptions(runs=("old", "new")))
    assert (opposite.run, opposite.other) == ("old", "new")
    assert opposite.value == pytest.approx(-found.value)
    assert "C@10 of new minus old" in found.sentence
    assert "p below .001 by Holm" in found.sentence
    assert p_text(0.0312) == "0.031"


def test_the_drawn_difference_of_means(run: Run, other: Run) -> None:
    options = DrawOptions(run="new", other="old", captions=40, measure="AP@10", seed=3)
    draw = draw_captions(run=run, options=options, by=OPERATOR)
    assert draw.populations["AP@10"]["size"] == 80
    judge_by_truth(draw)
    (found,) = estimate(run.benchmark, EstimateOptions(runs=("new", "old"), measure="AP@10"))
    assert found.method == Method.DIFFERENCE.text
    assert found.interval is not None
    assert found.value is not None
    assert found.interval[0] < found.value < found.interval[1]
    assert found.p is not None


def test_a_run_without_undecided_captions_needs_no_draw(run: Run, tmp_path: Any) -> None:
    own = {f"c{q}": [f"v{q % VIDEOS}"] for q in range(CAPTIONS)}
    make_run(tmp_path, run.benchmark, own, name="perfect", system="P")
    draw = draw_captions(run=run, options=DrawOptions(run="new", captions=30), by=OPERATOR)
    judge_everything(draw, {3})
    (found,) = estimate(run.benchmark, EstimateOptions(runs=("perfect", "new")))
    alone = shares.share_of_all(40, 30, 30, 40, 80, Z_AT_END)
    assert found.value == pytest.approx(0)
    assert found.interval == pytest.approx((0, 1 - float(alone.low)))


def test_a_machine_must_be_that_of_the_draw(run: Run, tmp_path: Any) -> None:
    values = np.random.default_rng(1).random((CAPTIONS, VIDEOS))
    add_proxy(tmp_path, run.benchmark, values, "m")
    options = DrawOptions(run="new", captions=30, proxy="m")
    draw = draw_captions(run=run, options=options, by=OPERATOR)
    judge_everything(draw, {3})
    asked = EstimateOptions(runs=("new",), proxy="m")
    with pytest.raises(InvalidInput, match="drawn for C@10 with the machine other"):
        estimate(run.benchmark, EstimateOptions(runs=("new",), proxy="other"))
    (found,) = estimate(run.benchmark, asked)
    assert (found.proxy, found.refusal, found.value) == ("m", None, 1.0)
    run.benchmark.proxies.filter(name="m").update(sha256="1" * 64)
    (changed,) = estimate(run.benchmark, asked)
    assert changed.refusal == Refusal.MACHINE_CHANGED.value


def test_other_videos_have_a_wider_interval(run: Run) -> None:
    options = DrawOptions(run="new", captions=80, measure="AP@10")
    draw = draw_captions(run=run, options=options, by=OPERATOR)
    asked = EstimateOptions(runs=("new",), measure="AP@10", future=True)
    (early,) = estimate(run.benchmark, asked)
    assert early.refusal == Refusal.UNJUDGED.value
    judge_all(
        draw,
        {
            code: int(place == 1 and row["query"] % 3 == 0)
            for row in draw.captions
            for place, code in enumerate(row["codes"])
        },
    )
    (fixed,) = estimate(run.benchmark, EstimateOptions(runs=("new",), measure="AP@10"))
    (future,) = estimate(run.benchmark, asked)
    assert future.value == pytest.approx(fixed.value)
    assert fixed.half_width == pytest.approx(0, abs=1e-9)  # all captions were judged
    assert future.half_width is not None
    assert future.half_width > 0.01
    assert "the score on other captions and videos" in future.sentence


def test_the_correction_needs_earlier_double_labels(run: Run, tmp_path: Any) -> None:
    asked = EstimateOptions(runs=("new",), corrected=True)
    draw = draw_captions(run=run, options=DrawOptions(run="new", captions=30), by=OPERATOR)
    judge_everything(draw, {3})
    (found,) = estimate(run.benchmark, asked)
    assert (found.value, found.refusal) == (None, Refusal.NO_DOUBLE_LABELS.value)
    # Labels that arrive after the draw do not help.
    rng = np.random.default_rng(4)
    rows = []
    for query in range(CAPTIONS):
        for step in range(11, 20):
            truth, video = step == 11, (query + step) % VIDEOS
            for person in ("p", "q"):
                wrong = rng.random() < 0.1
                rows.append((f"c{query}", f"v{video}", person, int(truth != wrong)))
            if rows[-1][3] != rows[-2][3]:
                rows.append((f"c{query}", f"v{video}", "r", int(truth)))
    add_judgments(tmp_path, run.benchmark, rows)
    assert rates_before(draw) is None
    later = draw_captions(run=run, options=DrawOptions(run="new", captions=30, seed=1), by=OPERATOR)
    rates = rates_before(later)
    assert rates is not None
    assert rates.miss == pytest.approx(0.1, abs=0.05)
    assert rates.isolated == pytest.approx(0.08, abs=0.05)
    with pytest.raises(InvalidInput, match="cannot be corrected from few captions"):
        corrected_estimate(LoadedDraw.of(draw), "AP@10")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({}, "Select a run"),
        ({"runs": ("a", "a")}, "each run once"),
        ({"runs": ("a",), "future": True, "corrected": True}, "Choose one of both"),
        ({"runs": ("a", "b"), "future": True}, "one run only"),
    ],
)
def test_contradicting_options_are_refused(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(OptionFault, match=reason):
        EstimateOptions(**options).check()


def test_command_api_and_page_show_the_same_estimate(run: Run, client: Any) -> None:
    draw = draw_captions(run=run, options=DrawOptions(run="new", captions=30), by=OPERATOR)
    judge_everything(draw, {3})
    out = io.StringIO()
    call_command("estimate", "tiny", runs=["new"], json=True, stdout=out)
    (by_command,) = json.loads(out.getvalue())["estimates"]
    api = APIClient()
    api.force_authenticate(make_user("res", Role.RESEARCHER))
    address = "/api/v1/benchmarks/tiny/estimate/"
    (by_api,) = api.get(address, {"runs": ["new"]}).json()["estimates"]
    assert by_command == by_api
    assert by_api["value"] == 1.0
    assert api.get(address, {"runs": ["new"], "future": True}).json()["estimates"][0]["interval"]
    client.force_login(make_user("lead", Role.LEAD))
    page = reverse("run-estimate", args=["tiny", run.pk])
    shown = client.get(page, {"runs": ["new"], "measure": "C@10"}).content.decode()
    assert by_api["sentence"] in shown
    refused = client.get(page, {"runs": ["new"], "measure": "AP@10"}).content.decode()
    assert "No captions of new were drawn for AP@10" in refused


def test_a_paper_has_estimates_if_captions_were_drawn(run: Run) -> None:
    draw = draw_captions(run=run, options=DrawOptions(run="new", captions=30), by=OPERATOR)
    judge_everything(draw, {3}, limit=90)
    label_set = publish_label_set(benchmark=run.benchmark, by=OPERATOR, allow_pending=True)
    plan = plan_paper(label_set)
    for question in plan.questions.values():
        analyse(question=question)
    stored = plan.stored_results()
    assert stored is not None
    tables = write_paper(plan, stored).tables
    (row,) = [line for line in tables.splitlines() if "sequence" in line]
    assert row.startswith("new & ")
    assert row.endswith("& 20 of 40 & 0 \\\\")
    draw.delete()
    assert "estimates" not in plan_paper(label_set).questions


def test_scores_are_never_mixed_with_estimates(run: Run, other: Run, tmp_path: Any) -> None:
    own = {f"c{q}": [f"v{q % VIDEOS}"] for q in range(CAPTIONS)}
    make_run(tmp_path, run.benchmark, own, name="perfect", system="P")
    draw = draw_captions(run=run, options=DrawOptions(run="new", captions=30), by=OPERATOR)
    judge_everything(draw, {3})
    question = build_question(get_analysis("estimates"), run.benchmark, {"measures": "C@10"})
    result = get_analysis("estimates").load(analyse(question=question).result)
    assert [row.run for row in result.complete] == ["perfect"]
    (row,) = result.estimated
    assert (row.run, row.captions, row.undecided, row.seed) == ("new", 30, 40, 0)
    assert row.added == pytest.approx(0.5)
    assert row.added_interval == pytest.approx([end - 0.5 for end in row.interval])
    assert [row.run for row in result.unjudged] == ["old"]
    assert len(result.charts()) == 1
    table = paper_table(result)
    assert table is not None
    assert table.rows[0][2:] == [
        "100.0 (50.0 $+50.0$)",
        table.rows[0][3],
        "undecided captions, Wilson",
        "30 of 40",
        "0",
    ]
