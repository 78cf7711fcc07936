"""Fields that several forms use."""

from __future__ import annotations

from typing import Any

from django import forms

KEY_MAX = 2**63 - 1


def number_field(label: str, initial: int, **options: Any) -> forms.IntegerField:
    return forms.IntegerField(
        label=label, initial=initial, **{"min_value": 0, "max_value": 10_000, **options}
    )
