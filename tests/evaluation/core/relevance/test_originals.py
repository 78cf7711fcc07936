"""Original positives that annotators reject, and labels without them."""

from __future__ import annotations

from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.originals import drop_rejected, rejected


def judged(pairs: dict[tuple[int, int], int]) -> Judged:
    queries, videos = zip(*pairs, strict=True) if pairs else ((), ())
    return Judged.from_pairs(queries, videos, list(pairs.values()), n_queries=4, n_videos=3)


ORIGINAL = judged({(0, 0): 1, (1, 1): 1, (2, 2): 1, (3, 0): 1})
# The original positive of caption 0 is labelled relevant, and that of caption 1 not relevant.
# Caption 2 has a label for another pair, and caption 3 has no label.
LABELS = judged({(0, 0): 2, (1, 0): 1, (1, 1): 0, (2, 1): 0})


def test_rejected_are_those_judged_not_relevant() -> None:
    assert rejected(LABELS, ORIGINAL).tolist() == [False, True, False, False]
    assert rejected(judged({}), ORIGINAL).tolist() == [False] * 4


def test_labels_take_precedence_over_original_positives() -> None:
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
