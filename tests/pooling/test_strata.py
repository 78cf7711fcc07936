"""Pools with strata: what is stored, previewed and judged, and the scores that they allow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.db import IntegrityError
from django.test import Client

from annotation.selectors.effort import preview_pool
from annotation.services import import_judgments
from evaluation.lab.analyses import get_analysis
from evaluation.lab.analyses.question import build_question
from evaluation.lab.services import analyse
from evaluation.release.services import publish_label_set
from evaluation.scores.services import evaluate_runs
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.shared.errors import InvalidInput
from pooling.core.pool_options import PoolOptions
from pooling.models import Benchmark, Pool, PoolStratum
from pooling.selectors.pool_plan import codes_of_pool
from pooling.selectors.pools import pair_arrays, strata_of
from tests.factories import (
    build_pool,
    make_benchmark,
    make_run,
    make_user,
    pairs_of,
)

pytestmark = pytest.mark.django_db

VIDEOS = [f"v{number}" for number in range(12)]
STRATA = ("1-2=1", "3-12=0.3")


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    found = make_benchmark(tmp_path, captions=2, videos=12)
    make_run(tmp_path, found, {"c0": VIDEOS, "c1": VIDEOS[::-1]}, system="a")
    return found


def test_only_drawn_pairs_are_pooled_and_all_are_in_a_stratum(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    built = build_pool(benchmark=benchmark, depth=12, strata=STRATA)
    top, deep = strata_of(built.pool)
    assert [(one.name, len(one.codes), one.n_drawn) for one in (top, deep)] == [
        ("1-2", 4, 4),
        ("3-12", 20, 6),
    ]
    assert built.pool.n_pairs == len(pairs_of(benchmark)) == 10
    assert {("c0", "v0"), ("c0", "v1"), ("c1", "v11"), ("c1", "v10")} <= pairs_of(benchmark)
    assert built.pool.limits == ["strata 1-2=1, 3-12=0.3 (seed 0)"]
    found = codes_of_pool(built.pool)
    assert found is not None
    assert found.tolist() == pair_arrays(benchmark).codes.tolist()
    # The same pool again draws the same pairs, and a pool without strata adds the others.
    assert not build_pool(benchmark=benchmark, depth=12, strata=STRATA).created
    assert build_pool(benchmark=benchmark, depth=12).pool.n_new_pairs == 14
    # These are judged whole now, so they are no sample.
    make_run(tmp_path, benchmark, {"c0": VIDEOS, "c1": VIDEOS[::-1]}, system="b")
    later = build_pool(benchmark=benchmark, depth=12, strata=STRATA, seed=7)
    assert strata_of(later.pool)[0].name == "earlier pools"
    assert len(strata_of(later.pool)[0].codes) == 14


def test_the_database_refuses_a_stratum_that_cannot_be(benchmark: Benchmark) -> None:
    pool = build_pool(benchmark=benchmark, depth=12, strata=STRATA).pool
    row = PoolStratum.objects.filter(pool=pool).values().last()
    with pytest.raises(IntegrityError):
        PoolStratum.objects.create(
            **{**(row or {}), "id": None, "position": 9, "name": "x", "n_drawn": 99}
        )


def test_the_preview_says_what_judging_gives(benchmark: Benchmark, tmp_path: Path) -> None:
    options = PoolOptions(depth=12, strata=STRATA)
    top, deep = preview_pool(benchmark, options).report()["strata"]
    assert (top["pairs"], top["drawn"], top["margin"]) == (4, 4, 0.0)
    assert (deep["pairs"], deep["drawn"], deep["new"]) == (20, 6, 6)
    assert deep["stands_for"] == pytest.approx(20 / 6)
    # 1.96 * 20 * sqrt(0.25 / 6 * 14 / 19)
    assert deep["margin"] == pytest.approx(6.869, abs=1e-3)
    client = Client()
    client.force_login(make_user("lea", Role.LEAD))
    address = f"/benchmarks/{benchmark.key}/pools/new/"
    form = {
        "depth": "12",
        "seed": "0",
        "originals": "ranked",
        "strata": "1-2=1\n3-12=30%",
        "step": "preview",
    }
    page = client.post(address, form).content.decode()
    assert "What judging each stratum gives" in page
    assert "± at most 7" in page
    refused = client.post(address, {**form, "strata": "1-2=1"}).content.decode()
    assert "The strata end at rank 2, and the depth is 12. They must be equal." in refused


QRELS = (
    "c0 0 v0 1 1\nc0 0 v1 1 0\nc0 0 v2 2 -1\nc0 0 v3 2 1\nc0 0 v4 2 0\nc0 0 v5 2 -1\nc1 0 v11 1 1\n"
)


def test_strata_of_qrels_are_kept_for_each_pair_and_estimate_ap(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    benchmark = make_benchmark(tmp_path, captions=2, videos=12)
    path = tmp_path / "judged.qrels"
    path.write_text(QRELS)
    campaign = import_judgments(benchmark=benchmark, path=path, by=OPERATOR).campaign
    first, second = strata_of(Pool.objects.get(pk=campaign.pool_id))
    assert (first.name, first.codes.tolist(), first.drawn.all()) == ("1", [0, 1, 23], np.True_)
    assert (second.name, second.codes.tolist()) == ("2", [2, 3, 4, 5])
    assert second.drawn.tolist() == [False, True, True, False]
    make_run(tmp_path, benchmark, {"c0": VIDEOS[:6], "c1": ["v11"]}, system="a")
    publish_label_set(benchmark=benchmark, by=OPERATOR)
    # As in the test of the measure: half of the unknown pair above rank 4 counts.
    expected = ((1 + 2 * (1 + 1 + 0.5) / 4) / 3 + 1) / 2
    scores = evaluate_runs(
        benchmark=benchmark, by=OPERATOR, measures=["xinfAP", "AP"], labels_only=True
    )
    (row,) = scores.runs
    assert row.labelled is not None
    assert row.labelled["xinfAP"] == pytest.approx(expected, abs=1e-5)
    data: dict[str, Any] = {"labels": "1.0.0", "only": "on"}
    question = build_question(get_analysis("bounds"), benchmark, data)
    (shown,) = analyse(question=question).result["judged"]
    assert shown["xinfap"] == pytest.approx(expected, abs=1e-5)
    call_command("evaluate", benchmark.key, "--measure", "xinfAP", "--labels-only")
    assert "xinfAP" in capsys.readouterr().out


def test_without_strata_the_measure_is_refused(benchmark: Benchmark) -> None:
    with pytest.raises(InvalidInput, match="needs a pool with strata"):
        evaluate_runs(benchmark=benchmark, by=OPERATOR, labels="original", measures=["xinfAP"])


def test_a_pair_cannot_be_judged_and_not(tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path, captions=1, videos=2)
    path = tmp_path / "x.qrels"
    for text in ("c0 0 v0 1\nc0 0 v0 -1\n", "c0 0 v0 1\nc0 0 v1 -1\nc0 0 v1 -1\n"):
        path.write_text(text)
        line = text.count("\n")
        with pytest.raises(InvalidInput, match=f"line {line}: the pair occurs twice"):
            import_judgments(benchmark=benchmark, path=path, by=OPERATOR)
    assert Pool.objects.count() == 0
