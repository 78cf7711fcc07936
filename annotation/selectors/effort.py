"""The effort of judging the tasks of a pool, at the speed measured so far."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from annotation.core.plan import DOUBLE_SHARE
from annotation.enums import CampaignKind
from annotation.models import Campaign, Judgment, JudgmentTask
from annotation.selectors.me import SECONDS_EACH
from config.shared.errors import InvalidInput
from config.shared.progress import Progress, no_progress
from pooling.core.arrays import Float64s
from pooling.core.pool_options import PoolOptions
from pooling.models import Benchmark
from pooling.selectors.pool_plan import PoolPlan, plan_pool

# The median uses the latest answers, because annotators become faster.
ANSWERS_READ = 10_000
# With fewer timed answers in the benchmark, the speed of the whole site is used.
ANSWERS_NEEDED = 30


@dataclass(frozen=True, slots=True)
class Speed:
    """The median time of an answer in seconds, without breaks.

    seconds: None if no time is known. answers: the number of answers that it is computed from.
    is_of_benchmark: False if the answers come from all benchmarks.
    """

    seconds: float | None
    answers: int
    is_of_benchmark: bool


@dataclass(frozen=True, slots=True)
class Effort:
    """The planned labels of tasks, extra labels included, and the hours and cost of answering.

    Labels that are needed only after a disagreement are not counted. hours: None if no speed is
    known. cost: None if there is no hourly rate or `hours` is None.
    """

    labels: int
    speed: Speed
    hours: float | None
    cost: float | None


class PoolPlanReport(TypedDict):
    """A planned pool in the API and in the output of `build_pool --plan --json`."""

    pairs: int
    new_pairs: int
    left_out: int
    unranked: int
    tasks: int
    new_tasks: int
    labels: int
    seconds: float | None
    answers: int
    is_of_benchmark: bool
    hours: float | None
    cost: float | None
    sha256: str


@dataclass(frozen=True, slots=True)
class PlannedPool:
    """A pool that could be built now, and the effort of judging its new tasks."""

    plan: PoolPlan
    effort: Effort

    def report(self) -> PoolPlanReport:
        return {
            "pairs": len(self.plan.codes),
            "new_pairs": len(self.plan.new),
            "left_out": self.plan.n_left_out,
            "unranked": self.plan.n_unranked,
            "tasks": self.plan.n_tasks,
            "new_tasks": self.plan.n_new_tasks,
            "labels": self.effort.labels,
            "seconds": self.effort.speed.seconds,
            "answers": self.effort.speed.answers,
            "is_of_benchmark": self.effort.speed.is_of_benchmark,
            "hours": self.effort.hours,
            "cost": self.effort.cost,
            "sha256": self.plan.sha256,
        }


def preview_pool(
    benchmark: Benchmark,
    options: PoolOptions,
    rate: float | None = None,
    progress: Progress = no_progress,
) -> PlannedPool:
    """Compute a pool and its effort without storing anything. Raises `InvalidInput`."""
    if rate is not None and not 0 <= rate < math.inf:
        raise InvalidInput(f"The cost per hour must be a finite number of 0 or more, not {rate}.")
    plan = plan_pool(benchmark, options, progress)
    return PlannedPool(plan, effort_of(benchmark, plan.n_new_tasks, rate))


def effort_of(benchmark: Benchmark, n_tasks: int, rate: float | None = None) -> Effort:
    """Return the effort under the policy of the benchmark's newest judging campaign.

    Without such a campaign, the default policy applies. rate: money per hour, in any currency.
    """
    each, double = _labels_per_task(benchmark)
    labels = n_tasks * each + round(n_tasks * double)
    speed = measured_speed(benchmark)
    hours = None if speed.seconds is None else labels * speed.seconds / 3600
    cost = None if hours is None or rate is None else hours * rate
    return Effort(labels=labels, speed=speed, hours=hours, cost=cost)


def measured_speed(benchmark: Benchmark) -> Speed:
    own = _latest_seconds(benchmark)
    if len(own) >= ANSWERS_NEEDED:
        return _speed(own, is_of_benchmark=True)
    return _speed(_latest_seconds(None), is_of_benchmark=False)


def _speed(seconds: Float64s, *, is_of_benchmark: bool) -> Speed:
    median = float(np.median(seconds)) if len(seconds) else None
    return Speed(median, len(seconds), is_of_benchmark)


def _latest_seconds(benchmark: Benchmark | None) -> Float64s:
    # Putting captions in order takes longer than judging a pair.
    orderings = JudgmentTask.objects.filter(ordering_video__isnull=False).order_by().values("pk")
    answers = Judgment.objects.filter(seconds__gt=0, seconds__lte=SECONDS_EACH)
    answers = answers.exclude(task__in=orderings)
    if benchmark is not None:
        answers = answers.filter(task__campaign__benchmark=benchmark)
    latest = answers.order_by("-pk").values_list("seconds", flat=True)[:ANSWERS_READ]
    return np.fromiter(latest, np.float64)


def _labels_per_task(benchmark: Benchmark) -> tuple[int, float]:
    """Return the number of labels of every task, and the share of tasks with an extra label."""
    campaigns = Campaign.objects.filter(benchmark=benchmark, kind=CampaignKind.JUDGING)
    newest = campaigns.order_by("-pk").first()
    if newest is None:
        return 1, DOUBLE_SHARE
    return newest.labels_each, float(newest.double_share)
