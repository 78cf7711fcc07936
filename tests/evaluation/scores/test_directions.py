"""Scores, ranks and pages of a benchmark with runs of both directions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.test import Client

from evaluation.catalogue.selectors.entries import ranks_of_pairs
from evaluation.release.selectors.positives_to_confirm import unconfirmed_sole_positives
from evaluation.scores.services import evaluate_runs
from evaluation.scores.tables import mark_best, mark_ranks, result_rows
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from pooling.models import Benchmark
from pooling.selectors.runs import find_runs
from tests.evaluation.worked import make_worked_benchmark
from tests.factories import import_run, make_user

pytestmark = pytest.mark.django_db

SCORES = [[0.9, 0.8, 0.1, 0.2], [0.1, 0.9, 0.3, 0.6], [0.3, 0.2, 0.9, 0.5]]
NAMES = ["A", "B", "M", "M (video-to-text)"]


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    benchmark = make_worked_benchmark(tmp_path)
    np.save(tmp_path / "m.npy", SCORES)
    options: dict[str, Any] = {"system": "M", "depth": 2, "direction": "both"}
    import_run(benchmark=benchmark, path=tmp_path / "m.npy", **options)
    return benchmark


def test_each_run_is_scored_and_ranked_in_its_direction(benchmark: Benchmark) -> None:
    done = evaluate_runs(benchmark=benchmark, by=OPERATOR)
    found = {result.run.name: result for result in done.runs}
    assert list(found) == NAMES
    back = found["M (video-to-text)"]
    # The lists of v0 to v3 begin with c0, c1, c2 and c1. c1 is judged not relevant for v3.
    assert back.labelled is not None
    assert (back.original["C@1"], back.labelled["C@1"], back.labelled["C@5"]) == (0.75, 0.75, 1)
    assert (back.judged["2"], back.unjudged, back.bounds["C@1"]) == (1, 0, [0.75, 0.75])
    forth = found["M"]
    assert (forth.original["C@1"], forth.reads["AP"]) == (1, 2)

    stored = {run.pk: run.evaluations.get(label_set=None) for run in find_runs(benchmark)}
    rows = result_rows(find_runs(benchmark), stored, {}, by_labels=False)
    mark_ranks(rows, "C@1")
    mark_best(rows)
    assert [(row.rank, row.n_ranked) for row in rows] == [(2, 3), (2, 3), (1, 3), (1, 1)]
    # The only run of a direction is not marked as best.
    assert [row.first_cell.best for row in rows] == [False, False, True, False]


def test_results_show_one_direction(benchmark: Benchmark, client: Client) -> None:
    evaluate_runs(benchmark=benchmark, by=OPERATOR)
    client.force_login(make_user("rita", Role.RESEARCHER))
    for query, names in (("", NAMES[:3]), ("?direction=video-to-text", NAMES[3:])):
        page = client.get(f"/benchmarks/tiny/results/{query}")
        assert sorted(row.run.name for row in page.context["rows"]) == names
        answer = client.get(f"/benchmarks/tiny/results/json/{query}")
        assert sorted(answer.json()["runs"]) == names
        assert ("video-to-text runs are not corrected" in page.content.decode()) == bool(query)
    assert answer["Content-Disposition"].endswith('-v1.0.0-video-to-text.json"')
    run = find_runs(benchmark, [NAMES[3]])[0]
    page = client.get(f"/benchmarks/tiny/runs/{run.pk}/")
    assert "video-to-text · depth 2 · 4 of 4 videos with a list" in " ".join(
        page.content.decode().split()
    )


def test_ranks_of_pairs_in_runs_of_both_directions(benchmark: Benchmark) -> None:
    runs = find_runs(benchmark)
    codes = np.array([benchmark.pair_space.encode(c, v) for c, v in ((0, 1), (2, 3), (2, 0))])
    found = ranks_of_pairs(benchmark, runs, codes)
    # A ranks v0, v1, v2 for c0, and v3, v2, v0 for c2. The video-to-text run of M ranks (c1, c0)
    # for v1, (c1, c2) for v3 and (c0, c2) for v0.
    by_name = {run.name: [found[run.pk].get(code) for code in codes.tolist()] for run in runs}
    assert by_name["A"] == [2, 1, 3]
    assert by_name["M"] == [2, 2, None]
    assert by_name["M (video-to-text)"] == [2, 2, 2]


def test_sole_positives_are_pairs_of_the_benchmark(benchmark: Benchmark) -> None:
    run = find_runs(benchmark, [NAMES[3]])[0]
    label_set = benchmark.label_sets.get()
    # Only the list of v3 has no original positive in its top 2. It ranks c1 and c2, of which only
    # c2 is relevant.
    number, codes = unconfirmed_sole_positives(run, label_set, 2)
    assert (number, codes.tolist()) == (1, [benchmark.pair_space.encode(2, 3)])
