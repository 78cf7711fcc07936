"""Original positives that people judge, and labels without the rejected ones."""

from __future__ import annotations

from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.originals import drop_rejected, rejected


def judged(pairs: dict[tuple[int, int], int]) -> Judged:
    queries, videos = zip(*pairs, strict=True) if pairs else ((), ())
    return Judged.from_pairs(queries, videos, list(pairs.values()), n_queries=4, n_videos=3)


ORIGINAL = judged({(0, 0): 1, (1, 1): 1, (2, 2): 1, (3, 0): 1})
# Relevant, not relevant, another pair of the caption, nothing.
LABELS = judged({(0, 0): 2, (1, 0): 1, (1, 1): 0, (2, 1): 0})


def test_rejected_are_those_judged_not_relevant() -> None:
    assert rejected(LABELS, ORIGINAL).tolist() == [False, True, False, False]
    assert rejected(judged({}), ORIGINAL).tolist() == [False] * 4


def test_where_there_is_a_label_it_decides() -> None:
    found = drop_rejected(LABELS, ORIGINAL)
    codes = [divmod(code, 3) for code in found.codes.tolist()]
    assert dict(zip(codes, found.gains.tolist(), strict=True)) == {
        (0, 0): 2,
        (1, 0): 1,
        (1, 1): 0,
        (2, 1): 0,
        (2, 2): 1,
        (3, 0): 1,
    }
