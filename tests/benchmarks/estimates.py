"""Coverage and width of estimates in 10,000 draws a cell, and the time of all estimates.

    python -m tests.benchmarks.estimates [--data FOLDER] [--tiny] [--json]

With --data, each run of MSVD is left out of the pool in turn. Otherwise, made benchmarks are used.
The exit code is 1 if the coverage of a cell is outside of .93 to .97, except for cells in which few
captions carry the variance, where it may be higher.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from evaluation.core.estimates.frames import TopPairs
from evaluation.core.relevance.measures import parse_measure
from tests.benchmarks.report import Report, run_program
from tests.evaluation.core.estimates.worlds import (
    covers,
    draw,
    estimate_mean,
    estimate_share,
    means_world,
    shares_world,
)
from tests.reference.estimates import draws_of, estimate, read_msvd

MEASURES = ("C@1", "C@5", "C@10", "AP@10", "nDCG@10", "P@10", "RR@10", "R@10")
SIZES = (30, 50, 100, 300)
# Limit for all measures of three systems, in milliseconds.
ALL_MS = 1000


def measure(folder: Path | None, /, *, tiny: bool) -> Report:
    report = Report(once=True)
    draws = 20 if tiny else 10_000
    if folder is None:
        _made(report, draws, check=not tiny)
    else:
        _msvd(report, folder, draws)
    return report


def _made(report: Report, draws: int, *, check: bool) -> None:
    rng = np.random.default_rng(1)
    for rate in (0.5, 0.8, 0.95, 0.99):
        share = shares_world(rate, rng)
        for n in SIZES:
            found = estimate_share(share, draw(n, draws, rng))
            _note(report, f"share {rate}, n {n}", covers(found, rate), check=check)
    for skill in (0.0, 0.6, 0.9, 1.0):
        world = means_world(0.5, skill, rng)
        for n in SIZES:
            found = report.time(
                "means",
                f"skill {skill}, n {n}",
                lambda w=world, k=n: estimate_mean(w, draw(k, draws, rng)),
                1,
            )
            coverage = covers(found, float(world.m.mean()))
            _note(report, f"mean, skill {skill}, n {n}", coverage, check=check)


def _msvd(report: Report, folder: Path, draws: int) -> None:
    msvd = read_msvd(folder)
    measures = [parse_measure(text) for text in MEASURES]
    _ = msvd.bag_of_words, msvd.original
    rng = np.random.default_rng(2)
    pools = {name: msvd.without(name) for name in msvd.runs}

    def everything() -> None:
        for name, known in pools.items():
            frames = msvd.frames(name, known, measures)
            for one, frame in frames.items():
                values = np.zeros(len(frame.predicted)) + (one.cutoff or 1) % 2
                estimate(frame, values, draws_of(frame, 100, 1, rng))

    report.time("all measures of three systems", "Hearth", everything, 3, ALL_MS)
    for name in msvd.runs:
        truth = TopPairs.of(msvd.runs[name], msvd.truth)
        values = truth.values(measures, np.zeros(truth.gains.shape))
        for one, frame in msvd.frames(name, pools[name], measures).items():
            for n in SIZES:
                found = estimate(frame, values[one], draws_of(frame, n, draws, rng))
                width = 100 * float((found.high - found.low).mean())
                coverage = covers(found, float(values[one].mean()))
                text = f"{name} {one}, n {n}, width {width:.2f}"
                _note(report, text, coverage, check=one.name in ("C", "AP"))


def _note(report: Report, text: str, coverage: float, *, check: bool) -> None:
    report.notes.append(f"{text}: coverage {coverage:.3f}")
    if check and coverage < 0.93:
        report.failures.append(f"{text}: coverage {coverage:.3f}")


if __name__ == "__main__":
    sys.exit(run_program(__doc__ or "", measure))
