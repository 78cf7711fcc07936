"""Drawing captions, judging them block by block, and the estimate."""

from __future__ import annotations

import numpy as np
import pytest
from django.db import DatabaseError, transaction

from annotation.models import Assignment, JudgmentTask
from evaluation.core.estimates import sequences, shares
from evaluation.core.estimates.drawn import Population, progress_of
from evaluation.core.estimates.frames import TopPairs
from evaluation.core.estimates.values import Z_AT_END, Method, Refusal
from evaluation.core.relevance.measures import parse_measure
from evaluation.estimates.models import Draw
from evaluation.estimates.selectors import LoadedDraw
from evaluation.estimates.services import DrawOptions, advance_draw, draw_captions
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.shared.errors import InvalidInput, NotPermitted
from pooling.models import Run
from tests.factories import claim, make_annotator, make_benchmark, make_run, make_user, submit

CAPTIONS, VIDEOS, DEPTH = 80, 40, 10


@pytest.fixture
def run(db, tmp_path) -> Run:
    """A run whose first ten videos contain the original positive for half of the captions."""
    benchmark = make_benchmark(tmp_path, captions=CAPTIONS, videos=VIDEOS)
    lists = {}
    for query in range(CAPTIONS):
        own = query % VIDEOS
        others = [(own + 1 + 3 * step) % VIDEOS for step in range(DEPTH)]
        ranked = [own, *others[: DEPTH - 1]] if query < CAPTIONS // 2 else others
        lists[f"c{query}"] = [f"v{video}" for video in ranked]
    return make_run(tmp_path, benchmark, lists, name="new")


def judge_everything(draw: Draw, relevant: set[int], limit: int = 10_000) -> int:
    """Judge what annotators get. relevant: tasks with this rank are relevant. Return the number."""
    annotator, done = make_annotator("ann"), 0
    while done < limit and (held := claim(draw.campaign, annotator, 20)):
        for assignment in held:
            code = assignment.task.pair
            pair = (code.query.number * VIDEOS) + code.video.number
            rank = next(
                row["codes"].index(pair) + 1 for row in draw.captions if pair in row["codes"]
            )
            submit(assignment, int(rank in relevant))
            done += 1
        advance_draw(draw)
    return done


@pytest.mark.postgresql
def test_a_draw_contains_only_undecided_captions_and_never_changes(run) -> None:
    draw = draw_captions(run=run, options=DrawOptions(run="new", captions=30, seed=5), by=OPERATOR)
    assert draw.populations["C@10"]["size"] == 40
    assert draw.populations["C@10"]["decided_sum"] == 40
    queries = [row["query"] for row in draw.captions]
    assert queries == np.random.default_rng(5).permutation(np.arange(40, 80))[:30].tolist()
    assert JudgmentTask.objects.filter(campaign=draw.campaign).count() == 300
    assert JudgmentTask.objects.filter(campaign=draw.campaign, seats_open=1).count() == 30
    draw.seed = 6
    with pytest.raises(DatabaseError, match="A draw never changes"), transaction.atomic():
        draw.save()


def test_judging_stops_at_the_first_relevant_pair_and_the_estimate_follows(run) -> None:
    draw = draw_captions(run=run, options=DrawOptions(run="new", captions=30), by=OPERATOR)
    assert LoadedDraw.of(draw).progress("C@10").estimate.refusal == Refusal.UNJUDGED
    # Each caption needs ranks 1 to 5: rank 3 is relevant, in the second block.
    assert judge_everything(draw, {3}) == 150
    assert JudgmentTask.objects.filter(campaign=draw.campaign, labels_live=0).count() == 150
    found = LoadedDraw.of(draw).progress("C@10")
    assert (found.finished, found.planned, found.conflicts, found.is_final) == (30, 30, 0, True)
    expected = shares.share_of_all(40, 30, 30, 40, 80, Z_AT_END)
    assert (found.estimate.method, found.estimate.value) == (Method.WILSON, 1.0)
    assert found.estimate.low == pytest.approx(float(expected.low))
    with pytest.raises(InvalidInput, match="stops at the first relevant pair"):
        LoadedDraw.of(draw).progress("AP@10")


def test_an_overturned_label_reopens_its_caption(run) -> None:
    draw = draw_captions(run=run, options=DrawOptions(run="new", captions=30), by=OPERATOR)
    judge_everything(draw, {1})
    assert LoadedDraw.of(draw).progress("C@10").is_final
    first = draw.captions[0]
    assignment = Assignment.objects.get(
        task__campaign=draw.campaign,
        task__pair__query__number=first["query"],
        task__pair__video__number=first["codes"][0] % VIDEOS,
    )
    submit(assignment, 0)
    found = LoadedDraw.of(draw).progress("C@10")
    assert (found.finished, found.estimate.refusal) == (0, Refusal.UNJUDGED)
    assert advance_draw(draw) == 4  # ranks 2 to 5
    assert advance_draw(draw) == 0


def test_a_draw_of_whole_lists_serves_all_measures(run) -> None:
    options = DrawOptions(run="new", captions=30, measure="AP@10")
    draw = draw_captions(run=run, options=options, by=OPERATOR)
    assert {"AP@10", "C@1", "C@10", "nDCG@10", "RR@10"} <= set(draw.measures)
    assert draw.populations["AP@10"]["size"] == 80
    assert judge_everything(draw, {2, 4}) > 250
    loaded = LoadedDraw.of(draw)
    assert loaded.progress("AP@10").estimate.method == Method.DIFFERENCE
    assert loaded.progress("C@10").finished == sum(
        "C@10" in row["predicted"] for row in draw.captions
    )


def test_only_leads_draw_and_only_measures_with_an_estimate(run) -> None:
    with pytest.raises(NotPermitted):
        draw_captions(run=run, options=DrawOptions(run="new"), by=make_user("res", Role.RESEARCHER))
    with pytest.raises(InvalidInput, match="MedR cannot be estimated"):
        draw_captions(run=run, options=DrawOptions(run="new", measure="MedR"), by=OPERATOR)
    assert not Draw.objects.exists()


def pairs(gains: list[list[int]]) -> TopPairs:
    values = np.array(gains, np.int8)
    codes = np.arange(values.size).reshape(values.shape)
    unknown = np.full_like(values, -1)
    return TopPairs(codes, unknown, codes >= 0, np.zeros(len(values), np.int64))


def test_the_estimate_uses_the_longest_finished_prefix_and_conflicts_as_bounds() -> None:
    measure = parse_measure("C@2")
    population = Population(measure, 1000, 400, 600, 0.3)
    rows = [[1, -1]] * 10 + [[-2, 0]] + [[0, 0]] * 9 + [[0, -1]] + [[1, 1]] * 19
    current = np.array(rows, np.int8)
    found = progress_of(population, pairs(rows), np.full(40, 0.3), current)
    assert (found.planned, found.finished, found.conflicts) == (40, 20, 1)
    low = sequences.share_sequence(400, 20, 10, 0.02).low
    high = sequences.share_sequence(400, 20, 11, 0.02).high
    assert found.estimate.low == pytest.approx(0.6 + low / 1000)
    assert found.estimate.high == pytest.approx(0.6 + high / 1000)
    assert found.estimate.value == pytest.approx(0.6 + 0.4 * 10.5 / 20)
    few = progress_of(population, pairs(rows[:20]), np.full(20, 0.3), current[:20])
    assert few.estimate.refusal == Refusal.FEW_CAPTIONS
