"""Estimate scores or differences from drawn captions, or plan the draw."""

from __future__ import annotations

from typing import Any

from evaluation.estimates.plans import plan_of
from evaluation.estimates.request import EstimateOptions
from evaluation.estimates.results import estimate
from evaluation.estimates.selectors import draws_of_benchmark, newest_draw
from evaluation.estimates.services import advance_draw
from hearth.shared.commands import HearthCommand
from hearth.shared.options import read_options
from hearth.shared.words import counted
from pooling.models import Benchmark
from pooling.selectors.benchmarks import get_benchmark
from pooling.selectors.proxies import get_proxy
from pooling.selectors.runs import get_run


class Command(HearthCommand):
    help = (
        "Estimate the score of a run from its drawn captions, or the differences of several runs, "
        "with intervals. If no captions of a run are drawn, print what a draw would bring."
    )
    action = EstimateOptions

    def run(self, **options: Any) -> dict[str, Any]:
        benchmark, wanted = get_benchmark(options["key"]), read_options(EstimateOptions, options)
        wanted.check()
        if len(wanted.runs) == 1 and not newest_draw(
            get_run(benchmark, wanted.runs[0]), wanted.measure
        ):
            return _planned(benchmark, wanted)
        for draw in draws_of_benchmark(benchmark):
            if draw.run.name in wanted.runs:
                advance_draw(draw)
        found = estimate(benchmark, wanted)
        return {"estimates": [result.as_json() for result in found]}

    def report(self, result: dict[str, Any]) -> None:
        for found in result.get("estimates", ()):
            self.stdout.write(found["sentence"])
        if "plan" not in result:
            return
        self.stdout.write(
            "{measure} of {run}: no captions are drawn. {undecided} are undecided.".format(**result)
        )
        for row in result["plan"]:
            self.stdout.write(
                f"{counted(row['captions'], 'caption')} ({counted(row['pairs'], 'pair')}, "
                f"{row['minutes']:g} minutes): ± {100 * row['half_width']:.2f} points, worth "
                f"{row['worth']:,} drawn at random"
            )


def _planned(benchmark: Benchmark, wanted: EstimateOptions) -> dict[str, Any]:
    """Return what a draw would bring."""
    run = get_run(benchmark, wanted.runs[0])
    proxy = get_proxy(benchmark, wanted.proxy) if wanted.proxy else None
    plans = (plan for plan in plan_of(run, proxy).measures if plan.measure == wanted.measure)
    plan = next(plans, None)
    return {
        "estimates": [],
        "measure": wanted.measure,
        "run": run.name,
        "undecided": None if plan is None else plan.undecided,
        "plan": [
            {
                "captions": line.captions,
                "pairs": line.pairs,
                "minutes": line.minutes,
                "half_width": line.points / 100,
                "worth": line.worth,
            }
            for line in ([] if plan is None else plan.lines)
        ],
    }
