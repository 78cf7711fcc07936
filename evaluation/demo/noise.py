"""Raw and corrected scores of the demo next to the true scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

import numpy as np

from evaluation.core.arrays import IntArray
from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.measures import parse_measure
from evaluation.core.relevance.scoring import score_run
from evaluation.demo.benchmark import DemoBenchmark
from pooling.core.ranked_lists import RankedLists


class DemoScore(TypedDict):
    """A raw score, the corrected score with its 95 % interval, and the true score."""

    raw: float
    corrected: float
    interval: list[float] | None
    truth: float


class DemoNoise(TypedDict):
    """Estimated error rates, None if they are unknown, and scores by run and measure."""

    false_alarms: float | None
    misses: float | None
    runs: dict[str, dict[str, DemoScore]]


def true_scores(
    demo: DemoBenchmark,
    runs: Mapping[str, RankedLists],
    codes: IntArray,
    measures: Sequence[str],
) -> dict[str, dict[str, float]]:
    """Return scores by run and measure as if the label of every judged pair were correct.

    runs: ranked lists by name. codes: pair codes of the judged pairs and the original positives,
    int64 [n_pairs], ascending. A pair code is `caption number * number of videos + video number`.
    Unjudged pairs count as not relevant, as they do in raw and corrected scores.
    """
    n_captions, n_videos = demo.truth.shape
    truth = demo.truth.reshape(-1)[codes].astype(np.int8)
    judged = Judged(codes, truth, n_captions, n_videos)
    parsed = {name: parse_measure(name) for name in measures}
    found = {}
    for run, ranked in runs.items():
        scores = score_run(ranked, judged, parsed.values())
        found[run] = {
            name: float(scores.per_query(measure).mean()) for name, measure in parsed.items()
        }
    return found


def noise_lines(noise: DemoNoise, measures: Sequence[str]) -> list[str]:
    """Return the scores as a table for terminals, in %."""
    if noise["false_alarms"] is None or noise["misses"] is None:
        return ["The error rates of the labels are unknown, so scores are not corrected."]
    lines = [
        "Wrong labels: {:.1f} % false alarms and {:.1f} % misses, estimated. Scores in %: raw; "
        "corrected, with a".format(100 * noise["false_alarms"], 100 * noise["misses"]),
        "95 % interval in parentheses; and true, as if every label were correct.",
        f"{'':14}" + "".join(f"{name:>31}" for name in measures),
        f"{'':14}" + f"{'raw  corrected (95 %)  true':>31}" * len(measures),
    ]
    for run, scores in noise["runs"].items():
        cells = "".join(f"{_cell(scores[name]):>31}" for name in measures)
        lines.append(f"{run:14}{cells}")
    return lines


def _cell(score: DemoScore) -> str:
    ends = [_percent(end) for end in score["interval"] or ()]
    spread = f" ({'-'.join(ends)})" if ends else ""
    corrected = f"{_percent(score['corrected'])}{spread}"
    return f"{_percent(score['raw'])}  {corrected}  {_percent(score['truth'])}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"
