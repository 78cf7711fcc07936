"""A video-to-text run is scored like a text-to-video run in the transposed space."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evaluation.core.pools.bounds import bound_scores
from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.measures import parse_measure
from evaluation.core.relevance.scoring import score_run
from pooling.core.direction import Direction
from pooling.core.ordering import RunData
from pooling.core.packing import packed_lists, unpack_into
from pooling.core.ranked_lists import RankedLists
from pooling.core.readers.runs import read_run
from tests.evaluation.core.lists import lists_of

MEASURES = [parse_measure(name) for name in ("C@1", "C@2", "MedR", "AP", "nDCG@3", "Judged@2")]
UNJUDGED = -1


def keys(noun: str, number: int) -> dict[str, int]:
    return {f"{noun}{n}": n for n in range(number)}


def judged(gains: npt.NDArray[np.int8]) -> Judged:
    queries, videos = np.nonzero(gains != UNJUDGED)
    n_queries, n_videos = gains.shape
    return Judged.from_pairs(
        queries, videos, gains[queries, videos], n_queries=n_queries, n_videos=n_videos
    )


def as_lists(run: RunData, n_rows: int, n_items: int) -> RankedLists:
    numbers, blobs, _ = zip(*packed_lists(run), strict=True)
    items = np.full((n_rows, run.depth), -1, np.int32)
    unpack_into(items, blobs, np.array(numbers))
    return RankedLists.of(items, n_items)


@given(
    data=st.data(),
    shape=st.tuples(st.integers(1, 5), st.integers(1, 5)),
    depth=st.integers(1, 5),
)
def test_scores_are_those_of_the_transposed_matrix(
    tmp_path_factory: pytest.TempPathFactory, data: Any, shape: tuple[int, int], depth: int
) -> None:
    cells = {"shape": shape, "elements": st.sampled_from([0.0, 0.5, 0.75, 1.0])}
    matrix = data.draw(hnp.arrays(np.float32, **cells))
    gains = data.draw(hnp.arrays(np.int8, shape, elements=st.sampled_from([UNJUDGED, 0, 1, 2])))
    path: Path = tmp_path_factory.mktemp("m") / "m.npy"
    np.save(path, matrix)
    back = read_run(
        path,
        query_numbers=keys("c", shape[0]),
        video_numbers=keys("v", shape[1]),
        depth=depth,
        direction=Direction.VIDEO_TO_TEXT,
    )
    np.save(path, matrix.T)
    transposed = read_run(
        path, query_numbers=keys("v", shape[1]), video_numbers=keys("c", shape[0]), depth=depth
    )
    labels = judged(gains).facing(Direction.VIDEO_TO_TEXT)
    others = judged(gains.T)
    assert labels.codes.tolist() == others.codes.tolist()
    assert labels.gains.tolist() == others.gains.tolist()
    ranked = [as_lists(run, *shape[::-1]) for run in (back, transposed)]
    assert ranked[0].items.tolist() == ranked[1].items.tolist()
    for score in (score_run, lambda *given: bound_scores(*given).upper):
        found = [
            {str(m): score(lists, known, MEASURES).per_query(m).tolist() for m in MEASURES}
            for lists, known in zip(ranked, (labels, others), strict=True)
        ]
        assert found[0] == found[1]


def test_a_video_is_correct_if_a_relevant_caption_is_in_the_top_k() -> None:
    # Caption 0 is relevant for both videos, and caption 1 for video 1.
    labels = judged(np.array([[1, 1], [0, 1], [UNJUDGED, 0]], np.int8))
    lists = lists_of([[1, 0, 2], [2, 1, 0]], 3)
    scores = score_run(lists, labels.facing(Direction.VIDEO_TO_TEXT), MEASURES)
    values = {str(measure): scores.mean(measure).value for measure in MEASURES}
    assert (values["C@1"], values["C@2"], values["MedR"], values["Judged@2"]) == (0, 1, 2, 1)
    assert values["AP"] == pytest.approx((1 / 2 + (1 / 2 + 2 / 3) / 2) / 2)
