"""Scores and agreement after each number of labels, and a rule for when to stop judging."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.people.alpha import alpha_interval, krippendorff_alpha
from evaluation.core.people.annotator_resampling import LabelPairs, annotator_interval, label_pairs
from evaluation.core.pools.history import (
    Checkpoint,
    order_settled_from,
    replay_labels,
    settled_from,
)
from evaluation.core.relevance.judged import Judged, with_positives
from evaluation.core.statistics.resampling import mean_interval
from evaluation.lab.analyses import options, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.charts import PERCENT, Chart, bands, name_of, quantity
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.intervals import resampled_by
from evaluation.lab.analyses.rows import Ends, Interval, Run, Score, Shown, as_json
from evaluation.lab.analyses.stopping import (
    JUDGED,
    ORDER_WARNINGS,
    DifferenceStopRow,
    Stopping,
    StoppingOptions,
    StopRow,
    arrived_labels,
    stopping_rule,
)
from evaluation.lab.analyses.tables import Table
from hearth.shared.options import Option
from hearth.shared.progress import Progress

# Largest distance of scores from their last values, by name.
NEAR = {"within 5 points": 0.05, "within 2 points": 0.02, "within 1 point": 0.01}
# More bands than this would cover the lines. With more runs, the chart of scores has no bands, and
# the chart of the stopping rule is left out. The table of scores contains the intervals.
BANDS_MAX = 8
NOT_VALID = "The intervals of the stopping rule may therefore be wrong more often than stated."
NOT_STARTED = (
    "The stopping rule is not shown yet. It counts captions or videos in a fixed order, and the "
    "first of them still has pairs to judge."
)
DRAWN_INSTEAD = (
    "The stopping rule is therefore shown for a random order that is drawn with the seed. It "
    "shows how many labels a campaign in random order would have needed."
)

Labels = Annotated[int, Shown("Labels", "count")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(StoppingOptions):
    """Options of the analysis.

    moments: The judgments are divided into this number of equal parts. The scores are computed
        after each part.
    """

    measure: options.ShareMeasure = "C@5"
    moments: Annotated[int, Option("Number of checkpoints", low=2, high=100)] = 20
    resamples: options.NumberOfResamples = 1000


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """The score of a run after a number of labels."""

    labels: Labels
    run: Run
    score: Annotated[Score, Shown("Score, %", "percent")]
    interval: Interval


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """The agreement after a number of labels.

    several: number of pairs with several labels
    interval: null if fewer than three annotators share pairs
    """

    labels: Labels
    pairs: Annotated[int, Shown("Pairs", "count")]
    several: Annotated[int, Shown("Labelled several times", "count")]
    alpha: Annotated[Score, Shown("Krippendorff’s alpha", "number")]
    interval: Annotated[Ends | None, Shown("{interval}, annotators resampled", "number")]
    interval_pairs: Annotated[Ends | None, Shown("{interval}, pairs resampled", "number")] = None


@dataclass(frozen=True, slots=True)
class SettledRow:
    """The number of labels after which scores or their order no longer changed."""

    what: Annotated[str, Shown("{measure} of all runs")]
    labels: Annotated[int, Shown("Labels needed", "count")]
    share: Annotated[float, Shown("Share of all labels, %", "percent")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(results.WithIntervals):
    stopping: Stopping
    measure: str
    scores: list[ScoreRow]
    agreement: list[AgreementRow]
    settled: list[SettledRow]

    @property
    def stopping_unit(self) -> str:
        return self.stopping.unit.capitalize()

    def tables(self) -> list[Table]:
        return [
            self.table(
                "settled",
                "Labels until scores stopped changing",
                SettledRow,
                self.settled,
                note="Each row shows the number of labels from which all scores stayed within a "
                "distance of their last values, or from which the runs kept their last order. The "
                "last values are unknown during a campaign, so these numbers are not a stopping "
                "rule.",
            ),
            *(table for table in self._stopping_tables() if table.rows),
            self.table("scores", f"{self.measure} by number of labels", ScoreRow, self.scores),
            self.table(
                "agreement",
                "Agreement by number of labels",
                AgreementRow,
                self.agreement,
                note="Agreement of the planned labels of each pair on whether it is relevant. A "
                "third label is requested only if two labels differ, which makes alpha of all "
                "labels too high. The interval with annotators resampled needs three annotators "
                "who share pairs. The other one holds only for the same annotators.",
            ),
        ]

    def _stopping_tables(self) -> list[Table]:
        stopping, columns = self.stopping, "what units labels share interval final"
        return [
            self.table(
                "stop-scores",
                f"Stopping rule: labels until the interval of {self.measure} is ± "
                f"{stopping.width:g} points",
                StopRow,
                [row for row in stopping.rows if row.other is None],
                note=self._order_note(),
                columns=columns,
            ),
            self.table(
                "stop-differences",
                f"Stopping rule: labels until one run certainly has the higher {self.measure}",
                DifferenceStopRow,
                [row for row in stopping.rows if row.other is not None],
                note="A dash means that the interval always contained 0. The row then has the last "
                "interval.",
                columns=columns,
            ),
        ]

    def _order_note(self) -> str:
        stopping, rate = self.stopping, 100 * (1 - self.confidence)
        order = "in the order of judging" if stopping.order == JUDGED else "in a random order"
        return (
            f"The rule uses {stopping.seen:,} of {stopping.units:,} {stopping.unit}, {order}. Each "
            "one is used only after it is judged completely. The probability that any interval in "
            f"the two tables is ever wrong is at most {rate:.3g} %, however often they are "
            "examined. A dash means that the interval was never narrow enough. The row then has "
            "the last interval."
        )

    def warnings(self) -> list[str]:
        stopping = self.stopping
        warnings = [ORDER_WARNINGS[reason] for reason in stopping.doubts]
        if not stopping.seen:
            warnings.append(NOT_STARTED)
        elif warnings:
            warnings.append(NOT_VALID if stopping.order == JUDGED else DRAWN_INSTEAD)
        return warnings + self.few_units_warnings()

    def charts(self) -> list[Chart]:
        scores = as_json(self.scores)
        if len({row.run for row in self.scores}) > BANDS_MAX:
            scores = [{**row, "interval": None} for row in scores]
        charts = [
            Chart(
                "scores",
                f"{self.measure} while labels arrived",
                "A line for each run over the number of labels, within the band of its interval. "
                "If a part of a line is flat, these labels did not change the score.",
                _band(scores, "score", self.measure, PERCENT, name_of("run")),
            )
        ]
        path = self.stopping.path
        if 0 < len({row.run for row in path}) <= BANDS_MAX:
            charts.append(
                Chart(
                    "stopping",
                    f"Interval of {self.measure} by the stopping rule",
                    "A line for each run over the number of labels, within the band of its "
                    "interval. The intervals become narrower until all pairs are judged.",
                    _band(path, "score", self.measure, PERCENT, name_of("run")),
                )
            )
        if any(row.alpha is not None for row in self.agreement):
            charts.append(
                Chart(
                    "alpha",
                    "Agreement while labels arrived",
                    "A line over the number of labels, within the band of its interval, which "
                    "becomes narrower.",
                    _band(self.agreement, "alpha", "Krippendorff’s alpha", ".2f", None),
                )
            )
        return charts


def _band(
    rows: list[Any], key: str, title: str, form: str, colour: dict[str, Any] | None
) -> dict[str, Any]:
    """Return lines, each within the band of its interval."""
    labels = quantity("labels", "Labels", axis={"format": ",d", "tickMinStep": 1})
    height = quantity(key, title, axis={"format": form}, scale={"zero": False})
    return bands(rows, labels, height, colour, "interval")


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    judgments, labels = inputs.judgments, arrived_labels(inputs)
    total = len(judgments.ids)
    checkpoints = np.unique(np.linspace(0, total, options.moments + 1).round().astype(np.int64))
    rows: list[ScoreRow] = []
    agreement: list[AgreementRow] = []
    size = {"n_queries": inputs.benchmark.n_queries, "n_videos": inputs.benchmark.n_videos}
    # Scores use the labels of all captions, with answers repeated for equal captions. Agreement
    # uses the planned labels of each task only, and counts each answer once.
    for_captions = replay_labels(
        labels.codes,
        labels.pair_of,
        labels.relevant,
        np.searchsorted(labels.answer_of, checkpoints),
        is_first=np.zeros(len(labels.pair_of), np.bool_),
        **size,
    )
    arrived = np.argsort(judgments.ids, kind="stable")
    relevant, is_planned = (judgments.labels >= 1).astype(np.int64), judgments.is_first[arrived]
    answered = replay_labels(
        judgments.codes,
        judgments.pair_of[arrived],
        relevant[arrived],
        checkpoints,
        is_first=is_planned,
        **size,
    )
    for number, (known, answers) in enumerate(zip(for_captions, answered, strict=True)):
        progress(number, len(checkpoints), "replaying labels")
        rng = np.random.default_rng(options.seed)
        checkpoint = replace(answers, judged=known.judged)
        values = inputs.values(_judged_at(checkpoint, inputs), options.measure)
        rows += _scores(checkpoint, values, inputs, options, rng)
        planned = arrived[: answers.labels][is_planned[: answers.labels]]
        shared = label_pairs(
            judgments.pair_of[planned], judgments.annotators[planned], relevant[planned]
        )
        agreement.append(_agreement(checkpoint, shared, options, rng))
    return Result(
        stopping=stopping_rule(inputs, options, values, labels),
        measure=options.measure,
        confidence=options.confidence,
        **resampled_by(inputs, options.unit),
        scores=rows,
        agreement=agreement,
        settled=_settled(checkpoints, rows, len(inputs.runs)),
    )


def _settled(checkpoints: IntArray, rows: list[ScoreRow], n_runs: int) -> list[SettledRow]:
    """Return the number of labels after which scores stayed near their last values, by distance.

    With several runs, the last row is for their order. Return no rows if there is no score.
    """
    if not rows or rows[0].score is None:
        return []
    scores = np.array([row.score for row in rows]).reshape(len(checkpoints), n_runs)
    found = [(what, settled_from(checkpoints, scores, near)) for what, near in NEAR.items()]
    if n_runs > 1:
        found.append(("same order", order_settled_from(checkpoints, scores)))
    total = max(1, int(checkpoints[-1]))
    return [SettledRow(what, at, at / total) for what, at in found]


def _judged_at(checkpoint: Checkpoint, inputs: Inputs) -> Judged:
    judged = checkpoint.judged
    return judged if inputs.labels_only else with_positives(judged, inputs.original)


def _scores(
    checkpoint: Checkpoint,
    values: dict[str, FloatArray],
    inputs: Inputs,
    options: Options,
    rng: np.random.Generator,
) -> list[ScoreRow]:
    rows: list[ScoreRow] = []
    for run, own in values.items():
        interval = mean_interval(
            own,
            options.resamples,
            rng=rng,
            confidence=options.confidence,
            clusters=inputs.clusters(options.unit),
        )
        score = float(own.mean()) if len(own) else None
        rows.append(ScoreRow(checkpoint.labels, run, score, interval.ends))
    return rows


def _agreement(
    checkpoint: Checkpoint, shared: LabelPairs, options: Options, rng: np.random.Generator
) -> AgreementRow:
    by_pairs = alpha_interval(
        checkpoint.opinions, options.resamples, rng=rng, confidence=options.confidence
    )
    by_annotators = annotator_interval(
        shared,
        options.resamples,
        rng=np.random.default_rng(options.seed),
        confidence=options.confidence,
    )
    return AgreementRow(
        checkpoint.labels,
        checkpoint.opinions.n_pairs,
        checkpoint.opinions.n_multiply_labelled,
        krippendorff_alpha(checkpoint.opinions).value,
        by_annotators.ends,
        by_pairs.ends,
    )


HISTORY = Analysis(
    name="history",
    title="Scores while labels arrived",
    question="How many labels would have been enough?",
    options=Options,
    result=Result,
    compute=_compute,
    needs_labels=True,
    reads_judgments=True,
    notes=(
        "The analysis uses all judgments that count, in the order in which they arrived. This does "
        "not depend on the selected label set. A pair has the label of more than half of its "
        "judgments so far. Original positives count from the beginning, unless “Labels only” is "
        "selected.",
        "Imported judgments are in the order of their file.",
        "The stopping rule can be used during a campaign, because it needs no later labels. Its "
        "intervals are a confidence sequence (Waudby-Smith and Ramdas 2020 and 2024), which stays "
        "valid however often it is examined. Judging can therefore stop as soon as the interval "
        "is narrow enough. The intervals are for the scores that the runs will have on this "
        "benchmark once every pair is judged. They do not apply to other videos.",
        "The rule is valid only if captions, or whole videos, are judged in random order. Select "
        "the unit whose order was random. The rule uses a video only after all its captions are "
        "judged, and a caption only after all its pairs are judged. A campaign without priorities "
        "assigns captions in random order.",
    ),
)
