"""Charts on the pages of this app, as Vega-Lite specifications."""

from __future__ import annotations

from typing import Any

from pooling.core.proxies.distribution import N_BINS, Distribution

# The ticks of the logarithmic axis. On a linear axis, a bar of few pairs would be invisible next to
# the bar of all pairs without a common word.
TICKS = [0, *(10**power for power in range(1, 12))]


def distribution_text(found: Distribution) -> str:
    """Return the text alternative of the chart."""
    total = sum(found["bins"])
    fullest = max(range(N_BINS), key=lambda place: found["bins"][place])
    low, high = _bounds(fullest)
    return (
        f"A histogram of the values of {total:,} pairs in {N_BINS} bins. The "
        f"largest bin, from {low:g} to {high:g}, has {found['bins'][fullest]:,} pairs. The mean is "
        f"{found['mean']:.4f}."
    )


def distribution_chart(found: Distribution) -> dict[str, Any]:
    """Return a histogram of the values."""
    rows = [
        {"low": low, "high": high, "pairs": number}
        for number, (low, high) in zip(found["bins"], map(_bounds, range(N_BINS)), strict=True)
    ]
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "data": {"values": rows},
        "height": 220,
        "mark": {"type": "bar", "tooltip": True},
        "encoding": {
            "x": {
                "field": "low",
                "type": "quantitative",
                "bin": {"binned": True, "step": 1 / N_BINS},
                "title": "Value of the proxy",
                "scale": {"domain": [0, 1]},
            },
            "x2": {"field": "high"},
            "y": {
                "field": "pairs",
                "type": "quantitative",
                "title": "Pairs",
                "scale": {"type": "symlog"},
                "axis": {"values": TICKS, "format": ",d"},
            },
        },
        "description": distribution_text(found),
        "usermeta": {},
    }


def _bounds(place: int) -> tuple[float, float]:
    return place / N_BINS, (place + 1) / N_BINS
