"""Errors of raw and corrected scores in the demo, whose correct labels are known.

    python -m tests.benchmarks.demo_noise [--draws N] [--json]

In each draw, the simulated annotators of the demo label its pool again. A tenth of the pairs has
two labels, or three if the first two differ. The report has the mean error of each score in points:
raw; corrected with one rate of false alarms for all pairs; corrected with a rate for isolated pairs
and another for other pairs, as the analysis `label-noise` does; and raw after each positive with
one label was confirmed by a second label, or by a third if the first two differ. It also has the
number of labels for this confirmation, as a share of all labels, and the coverage of the interval
for these captions. With 60 draws or more, the exit code is 1 if AP of the confirmed labels is wrong
by more than a point, or if two rates correct AP worse than one.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

import numpy as np

from evaluation.core.relevance.measures import parse_measure
from tests.evaluation.demo.noise_world import DemoWorld, draw_demo

MEASURES = [parse_measure(name) for name in "C@1 C@5 C@10 P@10 R@10 AP nDCG@10".split()]
RAW, ONE, TWO, CONFIRMED = "raw", "one_rate", "two_rates", "confirmed"
ENOUGH = 60


def measure_all(draws: int) -> dict[str, Any]:
    world = DemoWorld.make()
    true = world.true_scores(MEASURES)
    errors: dict[str, list[np.ndarray]] = {name: [] for name in (RAW, ONE, TWO, CONFIRMED)}
    covered, extra = [], []
    for seed in range(draws):
        drawn = draw_demo(world, seed)
        labels, confirmed = drawn.labels, drawn.confirmed
        errors[RAW].append(world.scores(labels.is_positive, MEASURES) - true)
        errors[CONFIRMED].append(world.scores(confirmed.is_positive, MEASURES) - true)
        extra.append(confirmed.n_labels.sum() / labels.n_labels.sum() - 1)
        for name, is_split in ((ONE, False), (TWO, True)):
            rows = world.correct(labels, MEASURES, seed, is_split=is_split)
            corrected = np.array([row.corrected for row in rows]).reshape(true.shape)
            errors[name].append(corrected - true)
            if is_split:
                ends = np.array([row.fixed_interval for row in rows]).reshape(*true.shape, 2)
                covered.append((ends[..., 0] <= true) & (true <= ends[..., 1]))
    names = [str(measure) for measure in MEASURES]
    return {
        "draws": draws,
        "extra_labels": float(np.mean(extra)),
        "points": {
            kind: {
                run: dict(zip(names, row, strict=True))
                for run, row in zip(
                    world.runs, (100 * np.mean(found, axis=0)).round(2).tolist(), strict=True
                )
            }
            for kind, found in errors.items()
        },
        "fixed_coverage": dict(
            zip(names, np.mean(covered, axis=(0, 1)).round(3).tolist(), strict=True)
        ),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description="Errors of scores in the demo, in points.")
    parser.add_argument("--draws", type=int, default=ENOUGH)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    began = time.perf_counter()
    report = measure_all(arguments.draws)
    if arguments.json:
        print(json.dumps(report))
    else:
        print(f"{arguments.draws} draws, {time.perf_counter() - began:.0f} s")
        print(f"labels for the confirmation: {100 * report['extra_labels']:.1f} %")
        for kind, of_runs in report["points"].items():
            for run, row in of_runs.items():
                cells = "  ".join(f"{name} {value:+.2f}" for name, value in row.items())
                print(f"{kind:10} {run:13} {cells}")
        print("coverage for these captions", report["fixed_coverage"])
    ap = {
        kind: float(np.mean([abs(row["AP"]) for row in of_runs.values()]))
        for kind, of_runs in report["points"].items()
    }
    is_right = ap[CONFIRMED] < 1 and ap[TWO] < ap[ONE]
    return 0 if is_right or arguments.draws < ENOUGH else 1


if __name__ == "__main__":
    sys.exit(main())
