"""The effort of judging the tasks of a pool, at the speed measured so far or at an assumed one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NotRequired, TypedDict

import numpy as np

from annotation.core.plan import DOUBLE_SHARE
from annotation.models import Campaign, Judgment, of_labels
from annotation.selectors.pool_strata import StratumReport, strata_reports
from annotation.selectors.tasks import NewCounts, TaskCounter
from hearth.shared.errors import InvalidInput
from hearth.shared.progress import Progress, no_progress
from pooling.core.arrays import Float64s
from pooling.core.pool import union_codes
from pooling.core.pool_options import SECONDS_EACH, SECONDS_MIN, PoolOptions
from pooling.models import Benchmark
from pooling.selectors.pool_plan import PoolPlan, plan_pool
from pooling.selectors.pools import pair_arrays

# The median uses the latest answers, because annotators become faster.
ANSWERS_READ = 10_000
# With fewer timed answers in the benchmark, the speed of the whole site is used.
ANSWERS_NEEDED = 30
# The time of an answer before the first one has a recorded time.
SECONDS_ASSUMED = 8.0


@dataclass(frozen=True, slots=True)
class Speed:
    """The time of an answer in seconds, without breaks: a median, or an assumption.

    answers: the number of answers that the median is computed from; 0 for an assumption.
    is_of_benchmark: False if the answers come from all benchmarks.
    """

    seconds: float
    answers: int
    is_of_benchmark: bool


@dataclass(frozen=True, slots=True)
class Effort:
    """The planned labels of tasks, extra labels included, and the hours and cost of answering.

    Labels that are needed only after a disagreement are not counted. has_policy: whether the labels
    follow the policy of a campaign of the benchmark; otherwise, they follow the default policy.
    cost: None if there is no hourly rate.
    """

    labels: int
    has_policy: bool
    speed: Speed
    hours: float
    cost: float | None


class PoolPlanReport(TypedDict):
    """A planned pool in the API and in the output of `build_pool --plan --json`.

    new_tasks, task_pairs: what the pool adds to the next campaign. waiting_tasks, waiting_pairs:
    what earlier pools give to it. strata: only if the pool has strata.
    """

    pairs: int
    new_pairs: int
    left_out: int
    unranked: int
    tasks: int
    new_tasks: int
    task_pairs: int
    waiting_tasks: int
    waiting_pairs: int
    labels: int
    has_policy: bool
    seconds: float
    answers: int
    is_of_benchmark: bool
    hours: float
    cost: float | None
    sha256: str
    strata: NotRequired[list[StratumReport]]


@dataclass(frozen=True, slots=True)
class PlannedPool:
    """A pool that could be built now, and the effort of judging the tasks that it adds.

    waiting: the tasks of earlier pools that no campaign contains. strata: what judging each gives.
    """

    plan: PoolPlan
    added: NewCounts
    waiting: NewCounts
    effort: Effort
    strata: Sequence[StratumReport] = ()

    def report(self) -> PoolPlanReport:
        report: PoolPlanReport = {
            "pairs": len(self.plan.codes),
            "new_pairs": len(self.plan.new),
            "left_out": self.plan.n_left_out,
            "unranked": self.plan.n_unranked,
            "tasks": self.plan.n_tasks,
            "new_tasks": self.added.tasks,
            "task_pairs": self.added.pairs,
            "waiting_tasks": self.waiting.tasks,
            "waiting_pairs": self.waiting.pairs,
            "labels": self.effort.labels,
            "has_policy": self.effort.has_policy,
            "seconds": self.effort.speed.seconds,
            "answers": self.effort.speed.answers,
            "is_of_benchmark": self.effort.speed.is_of_benchmark,
            "hours": self.effort.hours,
            "cost": self.effort.cost,
            "sha256": self.plan.sha256,
        }
        return {**report, "strata": list(self.strata)} if self.strata else report


def preview_pool(
    benchmark: Benchmark,
    options: PoolOptions,
    rate: float | None = None,
    seconds: float | None = None,
    progress: Progress = no_progress,
) -> PlannedPool:
    """Compute a pool and its effort without storing anything. Raises `InvalidInput`.

    rate: money per hour. seconds: an assumed time of an answer; None for the measured time.
    """
    check_assumptions(rate, seconds)
    plan = plan_pool(benchmark, options, progress)
    known, counter = pair_arrays(benchmark).codes, TaskCounter(benchmark)
    waiting = counter.count(known)
    added = counter.count(union_codes([known, plan.new])) - waiting
    effort = effort_of(benchmark, added.tasks, rate, seconds)
    strata = strata_reports(benchmark, plan.strata, plan.new)
    return PlannedPool(plan, added, waiting, effort, strata)


def check_assumptions(rate: float | None, seconds: float | None) -> None:
    """Raise `InvalidInput` if a cost per hour or a time per answer is out of range."""
    if rate is not None and not 0 <= rate < math.inf:
        raise InvalidInput(f"The cost per hour must be a finite number of 0 or more, not {rate}.")
    if seconds is not None and not SECONDS_MIN <= seconds <= SECONDS_EACH:
        raise InvalidInput(
            f"The time of an answer must be from {SECONDS_MIN:g} to {SECONDS_EACH:g} seconds, not "
            f"{seconds:g}."
        )


def effort_of(
    benchmark: Benchmark, n_tasks: int, rate: float | None = None, seconds: float | None = None
) -> Effort:
    """Return the effort under the policy of the benchmark's newest judging campaign.

    Without such a campaign, the default policy applies. rate: money per hour, in any currency.
    seconds: an assumed time of an answer; None for the measured time.
    """
    newest = _newest_campaign(benchmark)
    labels = n_tasks + round(n_tasks * DOUBLE_SHARE)
    if newest is not None:
        labels = n_tasks * newest.labels_each + newest.n_extra(n_tasks)
    speed = measured_speed(benchmark) if seconds is None else Speed(seconds, 0, False)
    hours = labels * speed.seconds / 3600
    cost = None if rate is None else hours * rate
    return Effort(labels, newest is not None, speed, hours, cost)


def measured_speed(benchmark: Benchmark) -> Speed:
    """Return the median time of an answer, or `SECONDS_ASSUMED` if no answer has a time yet."""
    own = _latest_seconds(benchmark)
    if len(own) >= ANSWERS_NEEDED:
        return _speed(own, is_of_benchmark=True)
    return _speed(_latest_seconds(None), is_of_benchmark=False)


def _speed(seconds: Float64s, *, is_of_benchmark: bool) -> Speed:
    median = float(np.median(seconds)) if len(seconds) else SECONDS_ASSUMED
    return Speed(median, len(seconds), is_of_benchmark)


def _latest_seconds(benchmark: Benchmark | None) -> Float64s:
    # Another question takes another time than judging a pair.
    answers = Judgment.objects.filter(
        task__campaign__question="label", seconds__gt=0, seconds__lte=SECONDS_EACH
    )
    if benchmark is not None:
        answers = answers.filter(task__campaign__benchmark=benchmark)
    latest = answers.order_by("-pk").values_list("seconds", flat=True)[:ANSWERS_READ]
    return np.fromiter(latest, np.float64)


def _newest_campaign(benchmark: Benchmark) -> Campaign | None:
    """Return the newest campaign over all pooled pairs, whose policy a lead has chosen."""
    campaigns = Campaign.objects.filter(of_labels(), benchmark=benchmark).select_related("pool")
    return next((one for one in campaigns.order_by("-pk") if not one.repeats_pairs), None)
