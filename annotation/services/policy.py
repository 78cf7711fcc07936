"""A campaign's policy, and what of it cannot be followed."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from annotation.enums import LABELS, Joining, Order, Priority, Scale
from config.shared.errors import InvalidInput

STEPS_MAX = 9  # as many as there are digit keys
STEP_LENGTH = 40
LABELS_MOST = 99


class PolicyFault(InvalidInput):
    """What cannot be followed; `field` is the one of `Policy` that says so."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(reason)
        self.field = field


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How a campaign is judged. Shares lie between 0 and 1; see `Campaign` for each field."""

    scale: Scale = Scale.BINARY
    steps: list[str] = field(default_factory=list)
    threshold: int = 1
    original_grade: int | None = None
    labels_each: int = 1
    double_share: float = 0.10
    labels_max: int = 3
    order: Order = Order.GROUPED
    priority: Priority = Priority.NONE
    joining: Joining = Joining.EVERYBODY
    ceiling: float = 1
    gate_share: float = 0
    gate_last: int = 0
    gold_share: float = 0
    gold_bar: float = 0
    gold_last: int = 10
    checklist: bool = False
    contact_sheet: bool = False

    def check(self) -> None:
        """Raises `PolicyFault` where the policy cannot be followed."""
        self._check_labels()
        self._check_scale()
        self.check_changeable()

    def check_changeable(self) -> None:
        """What may change while the campaign runs: its plan stays, whatever is asked of new ones.

        Raises `PolicyFault`.
        """
        check_share("gold_share", "share of gold", self.gold_share)
        check_share("gold_bar", "bar for gold", self.gold_bar)
        check_share("gate_share", "gate", self.gate_share)
        if not 0 < self.ceiling <= 1:
            reason = f"the ceiling is a share above 0 and up to 1, not {self.ceiling}"
            raise PolicyFault("ceiling", reason)
        if self.gold_last < 1:
            raise PolicyFault("gold_last", "the bar looks at one or more of the last answers")
        if not 0 <= self.gate_last <= 10_000:
            raise PolicyFault("gate_last", "the gate looks at up to 10,000 of the last answers")

    def _check_labels(self) -> None:
        check_share("double_share", "doubled share", self.double_share)
        if not 1 <= self.labels_each <= self.labels_max <= LABELS_MOST:
            raise PolicyFault(
                "labels_max",
                f"a pair gets 1 to {LABELS_MOST} labels, and at most as many as the maximum, "
                f"not {self.labels_each} with a maximum of {self.labels_max}",
            )
        if self.double_share and self.labels_each == self.labels_max:
            raise PolicyFault(
                "labels_max",
                f"pairs with one label more get {self.labels_each + 1}, which is above the "
                f"maximum of {self.labels_max}",
            )

    def _check_scale(self) -> None:
        names = self.labels
        if len(names) < 2 or len(names) > STEPS_MAX:
            raise PolicyFault("steps", f"a scale has 2 to {STEPS_MAX} steps, not {len(names)}")
        if len({name.casefold() for name in names}) < len(names):
            raise PolicyFault("steps", "two steps of the scale have the same name")
        if any(not 0 < len(name) <= STEP_LENGTH for name in names):
            raise PolicyFault("steps", f"the name of a step has 1 to {STEP_LENGTH} characters")
        if not 1 <= self.threshold < len(names):
            raise PolicyFault(
                "threshold",
                f"the lowest relevant step is one of 1 to {len(names) - 1}, not {self.threshold}",
            )
        grade = self.original_grade
        if grade is not None and not self.threshold <= grade < len(names):
            raise PolicyFault(
                "original_grade",
                f"the label of original positives must be a relevant step, {self.threshold} to "
                f"{len(names) - 1}, not {grade}",
            )

    @property
    def labels(self) -> list[str]:
        return self.steps or list(LABELS[self.scale].values())

    def columns(self) -> dict[str, Any]:
        """The policy as fields of a campaign."""
        shares = ("double_share", "ceiling", "gate_share", "gold_share", "gold_bar")
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return fields | {name: Decimal(str(fields[name])) for name in shares}


def check_share(field: str, what: str, share: float) -> None:
    if not 0 <= share <= 1:
        raise PolicyFault(field, f"the {what} must lie between 0 and 1, not {share}")
