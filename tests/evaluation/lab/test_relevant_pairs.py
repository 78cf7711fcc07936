"""Potentially relevant pairs compared with people's labels and spans, computed by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from django.test import Client

from evaluation.core.moments.candidates import best_candidates, best_overlaps
from evaluation.lab.analyses import get_analysis
from evaluation.lab.analyses.question import build_question
from evaluation.lab.services import analyse
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from pooling.models import Benchmark
from pooling.moments.core.spans import Spans
from tests.factories import add_judgments, make_user
from tests.pooling.relevant_pairs.test_services import benchmark, files, find  # noqa: F401


def test_the_candidate_with_the_highest_confidence_counts() -> None:
    places = best_candidates(np.array([7, 3, 7, 3]), np.array([0.2, 0.5, 0.9, 0.5]))
    assert places.tolist() == [1, 2]
    assert best_candidates(np.empty(0, np.int64), np.empty(0)).tolist() == []


def test_overlap_is_that_of_the_best_spans() -> None:
    moments = Spans.of([1, 1, 2], [0, 10, 0], [4, 20, 5])
    people = Spans.of([5, 5, 6], [2, 12, 50], [6, 20, 60])
    found = best_overlaps(np.array([1, 2, 2, 9]), moments, np.array([5, 6, 8, 5]), people)
    assert found.tolist() == pytest.approx([0.8, 0, np.nan, np.nan], nan_ok=True)


@pytest.mark.django_db
def test_share_of_candidates_that_people_call_relevant(
    benchmark: Benchmark,  # noqa: F811
    files: dict[str, Path],  # noqa: F811
    tmp_path: Path,
) -> None:
    find(benchmark, files)
    judgments = [
        ("c0", "v1", "ann", 1),
        ("c0", "v0", "ann", 1),  # an original positive
        ("c1", "v0", "ann", 0),
        ("c0", "v2", "ann", 1),
        ("c3", "v0", "ann", 1),  # no candidate
    ]
    add_judgments(tmp_path, benchmark, judgments)
    publish_label_set(benchmark=benchmark, by=OPERATOR, allow_pending=True)
    result = analyse(question=build_question(get_analysis("relevant-pairs"), benchmark, {})).result
    # No pool has the pairs of c2, which has the text of c0, so that they have no label.
    rows = {row["threshold"]: (row["pairs"], row["relevant"]) for row in result["rows"]}
    assert rows == {0.7: (3, 2 / 3), 0.8: (3, 2 / 3)}
    assert {row["located"] for row in result["rows"]} == {0}
    bins = [(row["low"], row["pairs"], row["relevant"]) for row in result["calibration"]]
    assert bins == [(0.5, 2, 0.5), (0.9, 1, 1)]
    client = Client()
    client.force_login(make_user("rita", Role.RESEARCHER))
    page = client.get(f"/benchmarks/{benchmark.key}/analyses/relevant-pairs/")
    assert page.status_code == 200
