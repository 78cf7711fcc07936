"""Ranked lists for tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluation.core.graded.rankings import Matrix
from evaluation.core.graded.scoring import BothDirections, GradedScores, score_rankings
from hearth.shared.progress import Progress, no_progress
from pooling.core.ranked_lists import RankedLists


def lists_of(
    rows: Sequence[Sequence[int]] | npt.NDArray[np.integer[Any]], n_items: int
) -> RankedLists:
    """Return checked lists. rows: item numbers, best first, each padded with -1 to one length."""
    return RankedLists.of(np.asarray(rows, np.int32), n_items)


def by_similarity(similarity: npt.NDArray[Any]) -> RankedLists:
    """Return all items in descending order of similarity. Equally similar items keep their order.

    similarity: [n_queries, n_items].
    """
    rows = similarity.astype(np.float32) if similarity.dtype == np.float16 else similarity
    order = np.argsort(-rows, axis=1, kind="stable")
    return RankedLists.of(order, similarity.shape[1])


def score_ranking(
    relevance: Matrix, ranking: RankedLists, progress: Progress = no_progress
) -> GradedScores:
    return score_rankings(relevance, [ranking], progress)[0]


def score_both(relevance: Matrix, rows: RankedLists, columns: RankedLists) -> BothDirections:
    return BothDirections(score_ranking(relevance, rows), score_ranking(relevance.T, columns))
