"""Fields, and groups of fields, that several forms use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import forms

KEY_MAX = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Fieldset:
    """Fields that belong together. If `is_collapsed`, they are shown on demand."""

    title: str
    note: str
    fields: list[forms.BoundField]
    is_collapsed: bool = False

    @property
    def is_open(self) -> bool:
        """Whether a field has an error or a value other than its default."""
        return any(
            field.errors or str(field.value()) != str(field.field.initial) for field in self.fields
        )


def percent_field(label: str, initial: float, help_text: str, **options: Any) -> forms.DecimalField:
    return forms.DecimalField(
        label=label,
        initial=initial,
        help_text=help_text,
        min_value=options.pop("min_value", 0),
        max_value=options.pop("max_value", 100),
        max_digits=5,
        decimal_places=2,
        **options,
    )


def number_field(label: str, initial: int, **options: Any) -> forms.IntegerField:
    return forms.IntegerField(
        label=label, initial=initial, **{"min_value": 0, "max_value": 10_000, **options}
    )
