"""Thresholds of proxies, at equal steps up to 1."""

from __future__ import annotations

import math

from django import forms


def step_field() -> forms.FloatField:
    return forms.FloatField(
        label="Step between thresholds",
        initial=0.05,
        min_value=0.01,
        max_value=0.5,
        help_text="For example, 0.05 gives the thresholds 0.05, 0.1, 0.15 … 1.",
    )


def thresholds_of(step: float) -> list[float]:
    """Return the multiples of the step up to 1. If 1 is not one of them, it is added."""
    found = [round(number * step, 6) for number in range(1, math.floor(1 / step + 1e-9) + 1)]
    return found if found[-1] == 1 else [*found, 1.0]
