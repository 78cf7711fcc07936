"""The plan of a run: what drawn captions would bring for each measure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import cast

import numpy as np

from annotation.selectors.labels import labels_fingerprint
from evaluation.core.estimates.frames import TopPairs, frames_of, is_correct_at
from evaluation.core.estimates.plans import PlanRow, plan_measure
from evaluation.core.relevance.measures import parse_measure
from evaluation.estimates.selectors import MEASURES, Known, chances_of, read_lists
from evaluation.estimates.services import block_of_rank
from evaluation.lab.analyses.charts import LINES, Chart, name_of, quantity
from evaluation.lab.selectors.rates import measured_rates
from hearth.shared.caches import process_cache as cache
from pooling.models import Proxy, Run

# The median time of an answer until one is measured.
SECONDS = 8.0
CACHE_SECONDS = 600
PLANNED_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the table of the plan. Widths are in points."""

    captions: int
    pairs: int
    minutes: float
    points: float
    random_points: float
    worth: int


@dataclass(frozen=True, slots=True)
class MeasurePlan:
    """The plan of one measure. lines: empty if too few captions are undecided."""

    measure: str
    undecided: int
    lines: list[Line]


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a run. seconds: of an answer. is_measured: whether they are measured here."""

    n_queries: int
    seconds: float
    is_measured: bool
    measures: list[MeasurePlan]

    @property
    def is_complete(self) -> bool:
        return not any(plan.undecided for plan in self.measures)

    def chart(self, run: str) -> Chart:
        rows = [
            {"measure": plan.measure, "minutes": line.minutes, "points": line.points}
            for plan in self.measures
            for line in plan.lines
        ]
        spec = {
            "data": {"values": rows},
            "mark": LINES,
            "width": "container",
            "encoding": {
                "x": quantity("minutes", "Minutes of judging"),
                "y": quantity("points", "± points"),
                "color": name_of("measure", "Measure", [plan.measure for plan in self.measures]),
            },
        }
        text = f"Half the width of the interval of {run} against the minutes of judging."
        return Chart("plan", "Width of the interval against minutes", text, spec)


def plan_of(run: Run, proxy: Proxy | None = None) -> Plan:
    """Return the plan of a run, at most ten minutes old unless a label arrived."""
    moment = "-".join(map(str, labels_fingerprint(run.benchmark).as_list()))
    key = f"estimate-plan-{run.pk}-{proxy.sha256 if proxy else ''}-{moment}"
    return cast(Plan, cache.get_or_set(key, partial(_plan, run, proxy), CACHE_SECONDS))


def _plan(run: Run, proxy: Proxy | None) -> Plan:
    measures = [parse_measure(text) for text in MEASURES]
    known, lists = Known.of(run.benchmark), read_lists(run, measures)
    pairs, chances = TopPairs.of(lists, known.judged), chances_of(lists, known, proxy)
    measured = measured_rates(run.benchmark).get("seconds")
    seconds = measured or SECONDS
    rng = np.random.default_rng(0)
    plans = []
    for measure, frame in frames_of(pairs, measures, chances).items():
        blocks = block_of_rank(lists.depth, stops=is_correct_at(measure))
        rows = plan_measure(frame, pairs, chances, blocks, rng)
        lines = [_line(row, seconds) for row in rows]
        plans.append(MeasurePlan(str(measure), frame.n_undecided, lines))
    return Plan(run.benchmark.n_queries, seconds, measured is not None, plans)


def _line(row: PlanRow, seconds: float) -> Line:
    return Line(
        row.captions,
        row.pairs,
        round(row.pairs * seconds / 60, 1),
        round(100 * row.half_width, 2),
        round(100 * row.random_half_width, 2),
        row.worth,
    )
