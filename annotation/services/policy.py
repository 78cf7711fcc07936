"""A campaign's policy and its validation."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from annotation.core.plan import DOUBLE_SHARE
from annotation.enums import LABELS, Joining, Order, Priority, Scale
from hearth.shared.errors import InvalidInput

STEPS_MAX = 9  # the number of digit keys
STEP_LENGTH = 40
LABELS_MOST = 99


class PolicyFault(InvalidInput):
    """An invalid policy. `field` is the field of `Policy` with the error."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(reason)
        self.field = field


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The settings of a campaign. Shares are between 0 and 1. `Campaign` describes the fields."""

    scale: Scale = Scale.BINARY
    steps: list[str] = field(default_factory=list)
    threshold: int = 1
    original_grade: int | None = None
    labels_each: int = 1
    double_share: float = DOUBLE_SHARE
    labels_max: int = 3
    order: Order = Order.GROUPED
    priority: Priority = Priority.NONE
    joining: Joining = Joining.ALL
    ceiling: float = 1
    gate_share: float = 0
    gate_last: int = 0
    gold_share: float = 0
    gold_bar: float = 0
    gold_last: int = 10
    checklist: bool = False
    contact_sheet: bool = False

    def check(self) -> None:
        """Check the whole policy. Raises `PolicyFault` if a field is invalid."""
        self._check_labels()
        self._check_scale()
        self.check_changeable()

    def check_changeable(self) -> None:
        """Check the fields that can change while the campaign runs.

        Raises `PolicyFault` if one of them is invalid. The number of labels and the scale are not
        checked. They cannot change, and today's rules may be stricter than those under which the
        campaign was opened.
        """
        check_share("gold_share", "share of control pairs", self.gold_share)
        check_share("gold_bar", "minimum share of correct control pairs", self.gold_bar)
        check_share("gate_share", "minimum share of correct training answers", self.gate_share)
        if not 0 < self.ceiling <= 1:
            reason = f"The ceiling must be above 0 and at most 1, not {self.ceiling}."
            raise PolicyFault("ceiling", reason)
        if self.gold_last < 1:
            raise PolicyFault("gold_last", "The accuracy requirement needs at least one answer.")
        if not 0 <= self.gate_last <= 10_000:
            raise PolicyFault(
                "gate_last",
                f"The entry requirement must use 0 to 10,000 answers, not {self.gate_last:,}.",
            )

    def _check_labels(self) -> None:
        check_share("double_share", "share of pairs with an extra label", self.double_share)
        if not 1 <= self.labels_each <= self.labels_max <= LABELS_MOST:
            raise PolicyFault(
                "labels_max",
                "The labels per pair must be at least 1 and must not exceed the maximum, which "
                f"must be at most {LABELS_MOST}. They are {self.labels_each}, and the maximum is "
                f"{self.labels_max}.",
            )
        if self.double_share and self.labels_each == self.labels_max:
            raise PolicyFault(
                "labels_max",
                f"Pairs with an extra label get {self.labels_each + 1} labels, but the maximum is "
                f"{self.labels_max}.",
            )

    def _check_scale(self) -> None:
        names = self.labels
        if len(names) < 2 or len(names) > STEPS_MAX:
            raise PolicyFault(
                "steps", f"A scale must have 2 to {STEPS_MAX} steps, not {len(names)}."
            )
        if len({name.casefold() for name in names}) < len(names):
            raise PolicyFault("steps", "Two steps of the scale have the same name.")
        if any(not 0 < len(name) <= STEP_LENGTH for name in names):
            raise PolicyFault(
                "steps", f"The name of a step must have 1 to {STEP_LENGTH} characters."
            )
        if not 1 <= self.threshold < len(names):
            raise PolicyFault(
                "threshold",
                f"The lowest relevant step must be 1 to {len(names) - 1}, not {self.threshold}.",
            )
        grade = self.original_grade
        if grade is not None and not self.threshold <= grade < len(names):
            raise PolicyFault(
                "original_grade",
                f"The label of original positives must be a relevant step, {self.threshold} to "
                f"{len(names) - 1}, not {grade}.",
            )

    @property
    def labels(self) -> list[str]:
        return self.steps or list(LABELS[self.scale].values())

    def columns(self) -> dict[str, Any]:
        """Return the policy as fields of a campaign."""
        shares = ("double_share", "ceiling", "gate_share", "gold_share", "gold_bar")
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return fields | {name: Decimal(str(fields[name])) for name in shares}


def check_share(field: str, noun: str, share: float) -> None:
    """Check a share. Raises `PolicyFault` if it is not between 0 and 1."""
    if not 0 <= share <= 1:
        raise PolicyFault(field, f"The {noun} must lie between 0 and 1, not {share}.")
