"""The report of each machine judge: how it compares with people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np

from evaluation.core.arrays import BoolArray, IntArray
from evaluation.core.relevance.judged import Judged, with_positives
from evaluation.core.relevance.measures import parse_measure
from evaluation.core.relevance.scoring import score_run
from evaluation.core.statistics.slices import kendall_tau_b
from evaluation.lab.analyses import charts, options, register, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.results import Tabled
from evaluation.lab.analyses.rows import (
    Interval,
    MeasureName,
    PointsInterval,
    Run,
    Score,
    Shown,
)
from evaluation.machines.core.report import THRESHOLD, Compared, Sampling, alpha_of_two
from evaluation.machines.models import MachineJudge
from evaluation.machines.selectors import AskedPairs, asked_pairs, judges_of
from evaluation.release.selectors import label_set_judged
from hearth.shared.errors import InvalidInput
from hearth.shared.progress import Progress

FEWEST_SYSTEMS: Final = 5
"""Below this number of systems, a rank correlation says nothing."""

RANKS: Final = {"rank 1": (1, 1), "ranks 2 to 5": (2, 5), "ranks 6 to 10": (6, 10)}
LENGTHS: Final = {
    "captions of 1 to 6 words": (1, 6),
    "captions of 7 to 10 words": (7, 10),
    "captions of 11 or more words": (11, 10**6),
}
Machine = Annotated[str, Shown("Machine judge")]
Pairs = Annotated[int, Shown("Pairs", "count")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Options):
    measures: options.ShareMeasures = ("C@1", "C@5", "C@10")
    proxies: options.Proxies = ()
    confidence: options.Confidence = 0.95
    resamples: options.NumberOfResamples = 1000
    seed: options.Seed = 0


@dataclass(frozen=True, slots=True)
class MachineRow:
    """The figures of a machine judge on the pairs that people judged, too.

    base_rate: the share of pairs that people call relevant
    called: the share of pairs with a probability of 0.5 or more
    alpha: Krippendorff’s alpha of the machine and the first label of people
    people_alpha: that of the first two labels of people
    brier: the mean squared difference of probability and label
    """

    machine: Machine
    name: Annotated[str, Shown("Model")]
    family: Annotated[str, Shown("Family")]
    pairs: Pairs
    base_rate: Annotated[Score, Shown("People relevant, %", "percent")]
    called: Annotated[Score, Shown("Machine relevant, %", "percent")]
    sensitivity: Annotated[Score, Shown("Sensitivity, %", "percent")]
    sensitivity_interval: Interval
    specificity: Annotated[Score, Shown("Specificity, %", "percent")]
    specificity_interval: Interval
    alpha: Annotated[Score, Shown("Alpha with people", "number")]
    people_alpha: Annotated[Score, Shown("Alpha among people", "number")]
    brier: Annotated[Score, Shown("Brier score", "number")]


@dataclass(frozen=True, slots=True)
class BinRow:
    """The pairs whose probability is in one range."""

    machine: Machine
    low: Annotated[float, Shown("Probability from", "coefficient")]
    high: Annotated[float, Shown("To", "coefficient")]
    pairs: Pairs
    mean: Annotated[float, Shown("Mean probability", "number")]
    relevant: Annotated[Score, Shown("Relevant, %", "percent")]
    interval: Interval


@dataclass(frozen=True, slots=True)
class GroupRow:
    """The mean of probability minus label over some pairs."""

    machine: Machine
    group: Annotated[str, Shown("Pairs of")]
    pairs: Pairs
    bias: Annotated[Score, Shown("Mean of p − label, points", "points")]
    interval: PointsInterval


@dataclass(frozen=True, slots=True)
class SystemRow:
    """The mean of probability minus label over the top 10 of a run."""

    machine: Machine
    run: Run
    pairs: Pairs
    bias: Annotated[Score, Shown("Mean of p − label, points", "points")]
    interval: PointsInterval


@dataclass(frozen=True, slots=True)
class AloneRow:
    """A score by the machine alone, beside the score by people’s labels.

    asked: the share of the ranked pairs that the machine was asked about
    """

    machine: Machine
    run: Run
    measure: MeasureName
    people: Annotated[Score, Shown("People, %", "percent")]
    alone: Annotated[Score, Shown("Machine alone, %", "percent")]
    asked: Annotated[float, Shown("Ranked pairs asked, %", "percent")]

    @property
    def difference(self) -> Annotated[Score, Shown("Difference, points", "points")]:
        if self.people is None or self.alone is None:
            return None
        return self.alone - self.people


@dataclass(frozen=True, slots=True)
class OrderRow:
    """The agreement of the order of the systems by the machine alone with that by people."""

    machine: Machine
    measure: MeasureName
    systems: Annotated[int, Shown("Systems", "count")]
    tau: Annotated[Score, Shown("Kendall’s tau-b", "number")]


@dataclass(frozen=True, slots=True)
class Result(results.Result):
    confidence: float
    machines: Annotated[
        list[MachineRow],
        Tabled("machines", "Machine judges against people", "Intervals resample videos."),
    ]
    calibration: Annotated[
        list[BinRow], Tabled("calibration", "Relevant pairs by probability", is_optional=True)
    ]
    systems: Annotated[
        list[SystemRow],
        Tabled(
            "systems",
            "Favouritism: probability minus label by system",
            "A machine that favours a system has a higher mean for it than for others.",
            is_optional=True,
        ),
    ]
    groups: Annotated[
        list[GroupRow],
        Tabled("groups", "Probability minus label by rank and caption length", is_optional=True),
    ]
    alone: Annotated[
        list[AloneRow], Tabled("alone", "What the machine alone would report", is_optional=True)
    ]
    orders: Annotated[list[OrderRow], Tabled("orders", "Order of the systems", is_optional=True)]

    def findings(self) -> list[str]:
        if not self.machines:
            return ["No machine has judged pairs of this benchmark that people judged, too."]
        return [text for row in self.machines for text in self._findings_of(row.machine)]

    def _findings_of(self, machine: str) -> Iterator[str]:
        rows = [row for row in self.alone if row.machine == machine and row.difference is not None]
        if rows:
            worst = max(rows, key=lambda row: abs(row.difference or 0))
            difference = 100 * (worst.difference or 0)
            yield (
                f"Used alone, {machine} would report {worst.measure} {difference:+.1f} points for "
                f"{worst.run}."
            )
        known = [row for row in self.systems if row.machine == machine and row.interval]
        low = min(known, key=lambda row: row.bias or 0, default=None)
        high = max(known, key=lambda row: row.bias or 0, default=None)
        if low and high and low.interval and high.interval and low.interval[1] < high.interval[0]:
            yield f"{machine} favours {high.run} over {low.run}: their intervals do not overlap."

    def warnings(self) -> list[str]:
        missing = {row.machine for row in self.alone if row.asked < 1}
        if not missing:
            return []
        return [
            "Pairs that the machine was not asked count as not relevant in “machine alone”: "
            f"{', '.join(sorted(missing))}."
        ]

    def charts(self) -> list[charts.Chart]:
        found = []
        if bins := [row for row in self.calibration if row.relevant is not None]:
            mean = charts.quantity("mean", "Probability", scale={"domain": [0, 1]})
            share = charts.quantity("relevant", "Relevant", axis={"format": charts.PERCENT})
            spec = charts.bands(bins, mean, share, charts.name_of("machine"), "interval")
            about = "The share of pairs that people call relevant, by the machine’s probability."
            found.append(charts.Chart("calibration", "Calibration", about, spec))
        if rows := [row for row in self.systems if row.bias is not None]:
            data = [{**row, **charts.low_high(row["interval"])} for row in charts.data_of(rows)]
            bias = charts.quantity("bias", "Mean of p − label", axis={"format": "+.2f"})
            names = charts.name_of("run")
            spec = charts.dots_on_lines(data, bias, y=names, color=charts.name_of("machine"))
            about = "The mean of probability minus label over the top 10 of each system."
            view = {"data": {"values": data}, "width": "container", **spec}
            found.append(charts.Chart("systems", "Probability minus label", about, view))
        return found


@dataclass(frozen=True, eq=False)
class _Machine:
    """A machine judge with the pairs that people judged, too."""

    judge: MachineJudge
    asked: AskedPairs
    compared: Compared
    sampling: Sampling

    @property
    def name(self) -> str:
        return self.judge.proxy.name

    def share(self, pairs: BoolArray) -> tuple[int, float | None, list[float] | None]:
        """Return the number of pairs, and the mean of probability minus label with its interval."""
        found = self.compared.bias(pairs, self.sampling)
        return found.pairs, found.value, found.ends


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    names = {proxy.name for proxy in inputs.proxies}
    judges = [judge for judge in judges_of(inputs.benchmark) if judge.proxy.name in names]
    sampling = Sampling(options.resamples, options.confidence, options.seed)
    result = Result(options.confidence, [], [], [], [], [], [])
    for number, judge in enumerate(judges):
        progress(number, len(judges), "comparing machines with people")
        machine = _load(judge, inputs, sampling)
        if machine is None:
            continue
        result.machines.append(_machine_row(machine, inputs))
        result.calibration.extend(_bins(machine))
        result.systems.extend(_systems(machine, inputs))
        result.groups.extend(_groups(machine, inputs))
        rows = list(_alone(machine, inputs, options.measures))
        result.alone.extend(rows)
        result.orders.extend(_orders(machine, rows, options.measures))
    return result


def _load(judge: MachineJudge, inputs: Inputs, sampling: Sampling) -> _Machine | None:
    """Return a machine with its pairs; None if people judged none of them."""
    if judge.proxy.is_of_other_captions:
        raise InvalidInput(
            f"The captions have changed since the machine {judge.proxy.name!r} was asked. Ask it "
            "again."
        )
    if inputs.label_set is None:
        return None
    asked, labels = asked_pairs(judge), label_set_judged(inputs.label_set)
    p = asked.of(labels.codes)
    both = ~np.isnan(p)
    if not both.any():
        return None
    codes = labels.codes[both]
    compared = Compared(codes, p[both], labels.gains[both] >= 1, labels.space.videos(codes))
    return _Machine(judge, asked, compared, sampling)


def _machine_row(machine: _Machine, inputs: Inputs) -> MachineRow:
    compared, judge = machine.compared, machine.judge
    sensitivity = compared.sensitivity(machine.sampling)
    specificity = compared.specificity(machine.sampling)
    with_people, among_people = _alphas(machine, inputs)
    return MachineRow(
        machine.name,
        f"{judge.machine} {judge.version}".strip(),
        judge.family,
        len(compared.codes),
        float(compared.relevant.mean()),
        float(compared.called.mean()),
        sensitivity.value,
        sensitivity.ends,
        specificity.value,
        specificity.ends,
        with_people,
        among_people,
        compared.brier,
    )


def _alphas(machine: _Machine, inputs: Inputs) -> tuple[float | None, float | None]:
    """Return alpha of the machine and people’s first labels, and of people’s first two labels."""
    judgments = inputs.judgments
    relevant = (judgments.labels >= 1).astype(np.int64)
    labels = [np.full(len(judgments.codes), -1, np.int64) for _ in range(2)]
    for position, of_pair in enumerate(labels):
        taken = judgments.positions == position
        of_pair[judgments.pair_of[taken]] = relevant[taken]
    p = machine.asked.of(judgments.codes)
    both = (labels[0] >= 0) & ~np.isnan(p)
    called = (p >= THRESHOLD).astype(np.int64)
    twice = both & (labels[1] >= 0)
    found = []
    for pairs, first, second in ((both, called, labels[0]), (twice, labels[0], labels[1])):
        found.append(alpha_of_two(first[pairs], second[pairs]).value if pairs.any() else None)
    return found[0], found[1]


def _bins(machine: _Machine) -> Iterator[BinRow]:
    compared, n = machine.compared, len(machine.compared.bins())
    for number, pairs in enumerate(compared.bins()):
        if pairs.any():
            share = machine.sampling.mean(compared.relevant[pairs], compared.videos[pairs])
            mean = float(compared.p[pairs].mean())
            low, high = number / n, (number + 1) / n
            yield BinRow(machine.name, low, high, share.pairs, mean, share.value, share.ends)


def _systems(machine: _Machine, inputs: Inputs) -> Iterator[SystemRow]:
    for name, lists in inputs.ranked.items():
        top = lists.top(10)
        listed = np.unique(top.codes[top.is_item])
        pairs = np.isin(machine.compared.codes, listed, assume_unique=True)
        yield SystemRow(machine.name, name, *machine.share(pairs))


def _groups(machine: _Machine, inputs: Inputs) -> Iterator[GroupRow]:
    codes = machine.compared.codes
    for group, (first, last) in RANKS.items():
        listed = [
            lists.codes[:, first - 1 : last][lists.is_item[:, first - 1 : last]]
            for lists in inputs.ranked.values()
        ]
        if listed:
            pairs = np.isin(codes, np.concatenate(listed))
            yield GroupRow(machine.name, group, *machine.share(pairs))
    lengths: IntArray = inputs.caption_lengths[inputs.benchmark.pair_space.queries(codes)]
    for group, (low, high) in LENGTHS.items():
        pairs = (lengths >= low) & (lengths <= high)
        yield GroupRow(machine.name, group, *machine.share(pairs))


def _alone(machine: _Machine, inputs: Inputs, names: Sequence[str]) -> Iterator[AloneRow]:
    """Score the runs by the machine’s answers instead of people’s labels."""
    measures = [parse_measure(name) for name in names]
    asked, benchmark = machine.asked, inputs.benchmark
    called = (asked.p >= THRESHOLD).astype(np.int8)
    answers = Judged(asked.codes, called, benchmark.n_queries, benchmark.n_videos)
    alone = with_positives(answers, inputs.original)
    known = np.union1d(asked.codes, inputs.original.codes)
    for run, lists in inputs.ranked.items():
        by_people, by_machine = (
            score_run(lists, judged, measures) for judged in (inputs.judged, alone)
        )
        for measure in measures:
            top = lists.top(measure.reads(lists.depth))
            share = float(np.isin(top.codes[top.is_item], known).mean())
            people, own = (
                float(scores.per_query(measure).mean()) for scores in (by_people, by_machine)
            )
            yield AloneRow(machine.name, run, str(measure), people, own, share)


def _orders(
    machine: _Machine, rows: Sequence[AloneRow], measures: Sequence[str]
) -> Iterator[OrderRow]:
    for measure in measures:
        own = [row for row in rows if row.measure == measure]
        if len(own) >= FEWEST_SYSTEMS:
            people = np.array([row.people for row in own], np.float64)
            alone = np.array([row.alone for row in own], np.float64)
            tau = kendall_tau_b(people, alone)
            yield OrderRow(machine.name, measure, len(own), tau.value)


MACHINES = Analysis(
    name="machine",
    title="Machine judges against people",
    question="How far can a machine judge be trusted, and whom does it favour?",
    options=Options,
    result=Result,
    compute=_compute,
    runs_needed=0,
    proxies_needed=1,
    needs_labels=True,
    reads_judgments=True,
    notes=(
        "Only proxies of machine judges are used, and only pairs that people judged. Original "
        "positives are left out, except in what the machine alone would report, where they count "
        "as relevant on both sides. A machine calls a pair relevant from the probability 0.5 on.",
        "Alpha with people compares the machine with the first label of each pair, and alpha among "
        "people the first two labels. Intervals resample videos. The order of the systems is shown "
        f"only for {FEWEST_SYSTEMS} systems or more.",
    ),
)
register("Proxies", MACHINES)
