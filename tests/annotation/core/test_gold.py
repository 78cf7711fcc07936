"""Requirements on answers to training items and control pairs."""

from __future__ import annotations

from decimal import Decimal

import pytest

from annotation.core.gold import Requirement


@pytest.mark.parametrize(
    ("share", "last", "needed"),
    [
        ("0.8", 10, 8),
        ("0.75", 10, 8),
        ("0.71", 7, 5),
        ("0.72", 7, 6),
        # Thirds and similar shares, as a column with four decimals stores them.
        ("0.6667", 12, 8),
        ("0.8333", 12, 10),
        ("0.3333", 9999, 3333),
        ("1", 10_000, 10_000),
        ("0.9999", 10_000, 9999),
        ("0", 5, 0),
        ("0.0001", 5, 1),
    ],
)
def test_number_of_correct_answers_needed(share: str, last: int, needed: int) -> None:
    assert Requirement(Decimal(share), last).needed == needed


def test_every_fraction_needs_exactly_its_numerator() -> None:
    for last in range(1, 101):
        for right in range(last + 1):
            stored = round(Decimal(right) / last, 4)
            assert Requirement(stored, last).needed == right


@pytest.mark.parametrize(
    ("answers", "passed", "failed"),
    [
        ("rrr", True, False),
        ("rrw", True, False),
        ("rww", False, True),
        # The first letter is the newest answer. Only the three newest answers matter.
        ("rrwwwww", True, False),
        ("wwrrrrr", False, True),
        # With fewer than three answers, the requirement is neither met nor missed.
        ("rr", False, False),
        ("ww", False, False),
        ("", False, False),
    ],
)
def test_the_last_answers_decide(answers: str, passed: bool, failed: bool) -> None:
    required = Requirement(Decimal("0.6667"), 3)
    right = [letter == "r" for letter in answers]
    assert (required.is_met(right), required.is_missed(right)) == (passed, failed)
