"""Estimate the score of a run from drawn captions, or plan the draw."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from evaluation.estimates.plans import plan_of
from evaluation.estimates.results import estimate_run, newest_draw
from evaluation.estimates.services import advance_draw
from hearth.shared.commands import HearthCommand
from hearth.shared.words import counted
from pooling.selectors.benchmarks import get_benchmark
from pooling.selectors.proxies import get_proxy
from pooling.selectors.runs import get_run


class Command(HearthCommand):
    help = (
        "Estimate the score of a run from its drawn captions, with an interval. If none are drawn, "
        "print what a draw would bring."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="key of the benchmark")
        parser.add_argument(
            "--run",
            dest="runs",
            action="append",
            required=True,
            metavar="NAME",
            help="the run; a second one is subtracted, and must have no undecided captions",
        )
        parser.add_argument("--measure", default="C@10", help="default: C@10")
        parser.add_argument(
            "--proxy", default="", metavar="NAME", help="the machine for the plan; default: none"
        )

    def run(self, **options: Any) -> dict[str, Any]:
        benchmark = get_benchmark(options["key"])
        runs = [get_run(benchmark, name) for name in options["runs"][:2]]
        proxy = get_proxy(benchmark, options["proxy"]) if options["proxy"] else None
        measure = options["measure"]
        draw = newest_draw(runs[0], measure)
        if draw is None:
            plan = next((p for p in plan_of(runs[0], proxy).measures if p.measure == measure), None)
            lines = [] if plan is None else plan.lines
            return {
                "measure": measure,
                "run": runs[0].name,
                "value": None,
                "interval": None,
                "undecided": None if plan is None else plan.undecided,
                "plan": [
                    {
                        "captions": line.captions,
                        "pairs": line.pairs,
                        "minutes": line.minutes,
                        "half_width": line.points / 100,
                        "worth": line.worth,
                    }
                    for line in lines
                ],
            }
        advance_draw(draw)
        result = estimate_run(runs[0], measure, runs[1] if len(runs) > 1 else None)
        return result.as_json() | {"sentence": result.sentence}

    def report(self, result: dict[str, Any]) -> None:
        if "plan" not in result:
            self.stdout.write(result["sentence"])
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
