"""The measure that docs/adding.md adds is parsed, computed and bounded like all others."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from evaluation.core.pools.bounds import bound_scores
from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.measure import KINDS, register
from evaluation.core.relevance.measures import parse_measure
from evaluation.core.relevance.scoring import score_run
from evaluation.lab.analyses.options import parse_share_measure
from hearth.shared.errors import InvalidInput
from tests.evaluation.core.lists import lists_of
from tests.examples.measure import RankBiasedPrecision

RANKED = lists_of([[2, 0, 1], [1, 2, -1]], 3)
JUDGED = Judged.from_pairs([0, 0, 0, 1], [0, 1, 2, 1], [1, 0, 1, 0], n_queries=2, n_videos=3)


@pytest.fixture
def _registered() -> Iterator[None]:
    register(RankBiasedPrecision("RBP"))
    yield
    del KINDS["RBP"]


@pytest.mark.usefixtures("_registered")
def test_the_added_measure_is_known_everywhere() -> None:
    measures = [parse_measure(text) for text in ("RBP", "RBP@1(p=0.5)")]
    assert [str(measure) for measure in measures] == ["RBP", "RBP@1(p=0.5)"]
    scores = score_run(RANKED, JUDGED, measures)
    found = [scores.per_query(measure).tolist() for measure in measures]
    np.testing.assert_allclose(found, [[0.2 + 0.16, 0], [0.5, 0]], rtol=0, atol=1e-15)
    # Video 2 of query 1 is unjudged, at rank 2.
    bounds = bound_scores(RANKED, JUDGED, measures)
    highest = [bounds.upper.per_query(measure).tolist() for measure in measures]
    np.testing.assert_allclose(highest, [[0.36, 0.16], [0.5, 0]], rtol=0, atol=1e-15)
    assert parse_share_measure("RBP@10(p=0.95)") == "RBP@10(p=0.95)"
    with pytest.raises(InvalidInput, match="known parameters: p=x"):
        parse_measure("RBP(p=2)")
    with pytest.raises(ValueError, match="RBP is not the name of a new measure"):
        register(RankBiasedPrecision("RBP"))


def test_the_guide_shows_the_example() -> None:
    guide = Path("docs/adding.md").read_text(encoding="utf-8")
    assert f"```python\n{inspect.getsource(RankBiasedPrecision)}```" in guide
