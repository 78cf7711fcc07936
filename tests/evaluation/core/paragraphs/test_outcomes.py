"""The outcome of a paragraph by the outcomes of its sentences."""

from __future__ import annotations

import pytest

from evaluation.core.paragraphs.outcomes import Outcome, needed, paragraph_outcomes

RIGHT, WRONG, PENDING = Outcome.RELEVANT, Outcome.NOT_RELEVANT, Outcome.PENDING


@pytest.mark.parametrize(
    ("found", "rejected", "share", "expected"),
    [
        (3, 0, 1, RIGHT),
        (2, 0, 1, PENDING),
        (2, 1, 1, WRONG),
        (0, 0, 1, PENDING),
        (2, 1, 0.6, RIGHT),  # ceil(1.8) of 3 sentences
        (1, 1, 0.6, PENDING),
        (0, 2, 0.6, WRONG),
        (1, 0, 0.01, RIGHT),  # at least one sentence
        (0, 3, 0.01, WRONG),
    ],
)
def test_the_outcome_of_three_sentences(found, rejected, share, expected) -> None:
    assert paragraph_outcomes([3], [found], [rejected], share).tolist() == [expected]


def test_the_needed_sentences_have_no_error_of_rounding() -> None:
    assert needed([20, 5, 3], 0.55).tolist() == [11, 3, 2]


@pytest.mark.parametrize("share", [0, 1.01, -1])
def test_other_shares_are_refused(share) -> None:
    with pytest.raises(ValueError, match="share"):
        needed([1], share)
