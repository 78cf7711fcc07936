"""How many answers of which the truth is known a person has right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

# Half of the last place in which a campaign stores a share.
HALF_A_STEP = Decimal("0.00005")


@dataclass(frozen=True, slots=True)
class Hurdle:
    """A share right in the last so many answers: the gate after training, the bar for gold.

    `share` is rounded to four places, so a share that stands for 2 of 3 is met by 2 of 3.
    """

    share: Decimal
    last: int

    @property
    def needed(self) -> int:
        """The fewest right answers among the last that meet the share."""
        return max(0, math.ceil((self.share - HALF_A_STEP) * self.last))

    def right(self, answers: Sequence[bool]) -> int:
        """How many of the last are right; `answers` is newest first, and may be of fewer."""
        return sum(answers[: self.last])

    def is_passed(self, answers: Sequence[bool]) -> bool:
        """There are enough answers to tell, and enough of the last are right."""
        return len(answers) >= self.last and self.right(answers) >= self.needed

    def is_failed(self, answers: Sequence[bool]) -> bool:
        """There are enough answers to tell, and too few of the last are right."""
        return len(answers) >= self.last and self.right(answers) < self.needed
