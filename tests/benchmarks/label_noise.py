"""Bias and coverage of scores that are corrected for wrong labels, on simulated data.

    python -m tests.benchmarks.label_noise [--draws N] [--json]

Each draw is a benchmark of 1,000 captions and 200 videos, with 20 pooled pairs per caption. Labels
have 1.8 % false alarms and 5 % misses. A tenth of the pairs has two labels, and a third label if
the two differ. Some captions match many videos and some match few. Captions of one video are
similar. The interval for other captions is to cover the true scores of 400,000 captions, and the
interval for these captions the true scores of the 1,000. The exit code is 1 if one of them does so
in less than .92 or more than .98 of the draws, or if the bias of a corrected score is above .002.
With fewer than 300 draws, the exit code is always 0.
"""

from __future__ import annotations

import argparse
import json
import sys
import time

import numpy as np

from evaluation.core.relevance.measures import parse_measure
from tests.evaluation.core.noise_world import Setting, correct_one, draw_truth, true_scores

MEASURES = [parse_measure(name) for name in "C@1 C@5 C@10 P@10 AP R@10 nDCG@10 RR".split()]
RESAMPLES = 1000
COVERED, BIASED = (0.92, 0.98), 0.002
# With fewer draws, coverage and bias have no meaning.
ENOUGH = 300


def measure_all(draws: int, setting: Setting) -> dict[str, dict[str, float]]:
    population = draw_truth(np.random.default_rng(2**20), Setting(captions=400_000))[1]
    truth = np.array(true_scores(population, MEASURES))
    figures = []
    for seed in range(draws):
        drawn, _, rows = correct_one(seed, setting, MEASURES, RESAMPLES)
        for row, true, own in zip(rows, truth, true_scores(drawn, MEASURES), strict=True):
            low, high = row.interval or (0, 1)
            raw_low, raw_high = row.raw_interval or (0, 1)
            covers, raw_covers = low <= true <= high, raw_low <= true <= raw_high
            low_here, high_here = row.fixed_interval
            here = [low_here <= own <= high_here, high_here - low_here]
            biases = [row.raw - own, row.corrected - own]
            figures.append([*biases, covers, raw_covers, high - low, *here])
    means = np.reshape(figures, (draws, len(MEASURES), -1)).astype(np.float64).mean(axis=0)
    names = (
        "raw_bias",
        "bias",
        "coverage",
        "raw_coverage",
        "width",
        "fixed_coverage",
        "fixed_width",
    )
    return {
        str(measure): {"truth": float(true)} | dict(zip(names, row.tolist(), strict=True))
        for measure, true, row in zip(MEASURES, truth, means, strict=True)
    }


def main() -> int:
    parser = argparse.ArgumentParser(description="Bias and coverage of corrected scores.")
    parser.add_argument("--draws", type=int, default=ENOUGH)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    began = time.perf_counter()
    report = measure_all(arguments.draws, Setting())
    if arguments.json:
        print(json.dumps(report))
    else:
        print(f"{arguments.draws} draws, {time.perf_counter() - began:.0f} s")
        for name, row in report.items():
            cells = "  ".join(f"{key} {value:+.4f}" for key, value in row.items())
            print(f"{name:8} {cells}")
    is_right = all(
        all(COVERED[0] <= row[name] <= COVERED[1] for name in ("coverage", "fixed_coverage"))
        and abs(row["bias"]) <= BIASED
        for row in report.values()
    )
    return 0 if is_right or arguments.draws < ENOUGH else 1


if __name__ == "__main__":
    sys.exit(main())
