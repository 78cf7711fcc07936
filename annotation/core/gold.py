"""Requirements on an annotator's answers to gold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

# Campaigns store shares with four decimals. This is half of the smallest difference.
HALF_A_STEP = Decimal("0.00005")


@dataclass(frozen=True, slots=True)
class Requirement:
    """A minimum share of correct answers among the last `last` answers.

    `share` is rounded to four decimals, so 2 of 3 meets a share of 0.6667.
    """

    share: Decimal
    last: int

    @property
    def needed(self) -> int:
        """The minimum number of correct answers."""
        return max(0, math.ceil((self.share - HALF_A_STEP) * self.last))

    def count_right(self, answers: Sequence[bool]) -> int:
        """Return how many of the last answers are correct. `answers` is newest first."""
        return sum(answers[: self.last])

    def is_met(self, answers: Sequence[bool]) -> bool:
        """Return whether there are enough answers and enough of them are correct."""
        return len(answers) >= self.last and self.count_right(answers) >= self.needed

    def is_missed(self, answers: Sequence[bool]) -> bool:
        """Return whether there are enough answers and too few of them are correct."""
        return len(answers) >= self.last and self.count_right(answers) < self.needed
