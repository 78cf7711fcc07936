"""Charts of all pairs of runs or proxies, with values that are undefined or negative."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from evaluation.lab.analyses.pair_charts import pair_charts


def specs_of(values: list[float | None], names: str = "ABCDE") -> list[dict[str, Any]]:
    """Return the specifications of both charts: matrix and list of pairs. Without charts, []."""
    pairs = [
        {"names": list(pair), "correlation": value}
        for pair, value in zip(combinations(names, 2), values, strict=True)
    ]
    charts = pair_charts(pairs, "proxy", "correlation", "correlation", "Correlation", ".2f")
    return [spec for chart in charts for spec in (chart.spec, chart.narrow) if spec is not None]


def scales_of(spec: dict[str, Any]) -> list[list[float]]:
    """Return the ends of all quantitative scales of a specification."""
    encodings = [spec["encoding"], *(layer.get("encoding", {}) for layer in spec["layer"])]
    channels = [channel for encoding in encodings for channel in encoding.values()]
    scales = [channel.get("scale", {}) for channel in channels]
    return [scale["domain"] for scale in scales if "domain" in scale]


def test_pairs_with_an_undefined_value_are_left_out() -> None:
    values = [0.5, None, 0.0, 0.25, 1.0, 0.75, None, 0.1, 0.2, 0.3]
    matrix, listed = specs_of(values)
    defined = [value for value in values if value is not None]
    shown = [row["correlation"] for row in matrix["data"]["values"]]
    assert sorted(shown) == sorted(2 * defined)
    assert [row["correlation"] for row in listed["data"]["values"]] == sorted(defined)[::-1]


def test_without_a_defined_value_there_is_no_chart() -> None:
    assert specs_of([None], "AB") == []


@pytest.mark.parametrize(("lowest", "start"), [(-0.25, -0.25), (0.1, 0)])
def test_the_scales_contain_all_values(lowest: float, start: float) -> None:
    matrix, listed = specs_of([lowest, *[0.5] * 9])
    assert scales_of(matrix) == [[start, 1]]
    assert scales_of(listed) == [[start, 1], [start, 1]]


def test_a_negative_bar_has_its_number_right_of_zero() -> None:
    _, listed = specs_of([-0.25, *[0.5] * 9])
    ends = [(row["correlation"], row["end"]) for row in listed["data"]["values"]]
    assert ends == [*[(0.5, 0.5)] * 9, (-0.25, 0)]
