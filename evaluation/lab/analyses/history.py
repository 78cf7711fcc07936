"""Scores and agreement as labels arrived, by hindsight, and a stopping rule without hindsight."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from django import forms

from annotation.enums import CampaignKind, CampaignState, Priority, TaskState
from annotation.models import Campaign, JudgmentTask
from config.shared.progress import Progress
from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.people.alpha import alpha_interval, krippendorff_alpha
from evaluation.core.pools.history import (
    Checkpoint,
    GroupOrder,
    order_as_judged,
    order_at_random,
    order_settled_from,
    replay_labels,
    settled_from,
)
from evaluation.core.relevance.judged import Judged, with_positives
from evaluation.core.statistics.resampling import dense_clusters, mean_interval
from evaluation.core.statistics.sequential import (
    ConfidenceSequence,
    confidence_sequence,
    difference_sequence,
    first_stop,
)
from evaluation.lab.analyses.base import (
    CAPTIONS,
    VIDEOS,
    AnalysisForm,
    Chart,
    Column,
    Inputs,
    Kind,
    Result,
    ShareMeasureField,
    Table,
    confidence_field,
    ends,
    resamples_field,
    seed_field,
    unit_field,
)
from evaluation.lab.analyses.intervals import few_units_warnings, resampled_by
from evaluation.lab.analyses.specs import BAND, PERCENT, low_high, name_of, quantity, spans
from pooling.selectors import first_equal_captions

IMPORTED, PRIORITISED, SHARED = "imported", "prioritised", "shared"
DOUBTS = {
    IMPORTED: "Imported judgments have the order of their file, which may not be random.",
    PRIORITISED: "A campaign handed out first what a run ranked high, so its order is not random.",
    SHARED: "Captions with equal texts were judged at once, so they do not come in random order.",
}
NOT_VALID = "The intervals of the stopping rule may therefore fail more often than stated."
DRAWN_INSTEAD = (
    "The stopping rule is therefore shown for a random order that is drawn with the seed. It "
    "shows what a campaign in random order would have needed."
)
# More bands over each other hide the lines; their numbers stand in the table.
BANDS_MAX = 8
# Within so much of what they came to be.
NEAR = {"within 5 points": 0.05, "within 2 points": 0.02, "within 1 point": 0.01}


JUDGED, DRAWN = "judged", "drawn"
# Enough for a smooth band.
PATH_POINTS = 60


class HistoryForm(AnalysisForm):
    measure = ShareMeasureField()
    width = forms.FloatField(
        label="Half-width to stop at, in points",
        initial=2,
        min_value=0.1,
        max_value=50,
        help_text="Judging may stop when the interval of a score is no wider than ± this number.",
    )
    order = forms.ChoiceField(
        label="Order for the stopping rule",
        required=False,
        choices=[
            ("", "As judged if random, else drawn"),
            (JUDGED, "As judged"),
            (DRAWN, "Drawn at random with the seed"),
        ],
    )
    unit = unit_field()
    moments = forms.IntegerField(label="Moments", initial=20, min_value=2, max_value=100)
    confidence = confidence_field()
    resamples = resamples_field(1000)
    seed = seed_field()


def _compute(inputs: Inputs, chosen: dict[str, Any], progress: Progress) -> Result:
    judgments, labels = inputs.judgments, _arrived(inputs)
    total = len(judgments.ids)
    moments = np.unique(np.linspace(0, total, chosen["moments"] + 1).round().astype(np.int64))
    rows, agreement = [], []
    size = {"n_queries": inputs.benchmark.n_queries, "n_videos": inputs.benchmark.n_videos}
    for_captions = replay_labels(
        labels.codes,
        labels.pair_of,
        labels.relevant,
        np.searchsorted(labels.answer_of, moments),
        is_first=np.zeros(len(labels.pair_of), np.bool_),
        **size,
    )
    arrived = np.argsort(judgments.ids, kind="stable")
    answered = replay_labels(
        judgments.codes,
        judgments.pair_of[arrived],
        (judgments.labels[arrived] >= 1).astype(np.int64),
        moments,
        is_first=judgments.is_first[arrived],
        **size,
    )
    for number, (known, answers) in enumerate(zip(for_captions, answered, strict=True)):
        progress(number, len(moments), "looking back")
        rng = np.random.default_rng(chosen["seed"])
        moment = replace(answers, judged=known.judged)
        values = inputs.values(_counted(moment, inputs), chosen["measure"])
        rows += _scores(moment, values, inputs, chosen, rng)
        agreement.append(_agreement(moment, chosen, rng))
    return {
        "stopping": _stopping(inputs, chosen, values, labels),
        "measure": chosen["measure"],
        "confidence": chosen["confidence"],
        **resampled_by(inputs, chosen["unit"]),
        "scores": rows,
        "agreement": agreement,
        "settled": _settled(moments, rows, len(inputs.runs)),
    }


@dataclass(frozen=True, slots=True, eq=False)
class _Arrived:
    """The labels of all captions in the order in which the answers came, [L].

    codes: int64 [n_pairs], ascending. pair_of: into `codes`. relevant: 0 or 1. answer_of: number of
    the answer, ascending from 0; an answer holds for each caption with the text.
    """

    codes: IntArray
    pair_of: IntArray
    relevant: IntArray
    answer_of: IntArray

    @property
    def answers(self) -> int:
        return int(self.answer_of[-1]) + 1 if len(self.answer_of) else 0


def _arrived(inputs: Inputs) -> _Arrived:
    labels = inputs.judgments_by_caption
    order = np.argsort(labels.ids, kind="stable")
    return _Arrived(
        labels.codes,
        labels.pair_of[order],
        (labels.labels[order] >= 1).astype(np.int64),
        np.cumsum(np.diff(labels.ids[order], prepend=labels.ids[order][:1]) != 0),
    )


def _settled(moments: IntArray, rows: list[Result], n_runs: int) -> list[Result]:
    """From how many labels on scores and order stayed; null where there is no score."""
    if not rows or rows[0]["score"] is None:
        return []
    scores = np.array([row["score"] for row in rows]).reshape(len(moments), n_runs)
    found = [(what, settled_from(moments, scores, near)) for what, near in NEAR.items()]
    if n_runs > 1:
        found.append(("same order", order_settled_from(moments, scores)))
    total = max(1, int(moments[-1]))
    return [{"what": what, "labels": at, "share": at / total} for what, at in found]


def _counted(moment: Checkpoint, inputs: Inputs) -> Judged:
    judged = moment.judged
    return judged if inputs.labels_only else with_positives(judged, inputs.original)


def _scores(
    moment: Checkpoint,
    values: dict[str, FloatArray],
    inputs: Inputs,
    chosen: dict[str, Any],
    rng: np.random.Generator,
) -> list[Result]:
    rows = []
    for run, own in values.items():
        interval = mean_interval(
            own,
            chosen["resamples"],
            rng=rng,
            confidence=chosen["confidence"],
            clusters=inputs.clusters(chosen["unit"]),
        )
        score = float(own.mean()) if len(own) else None
        rows.append(
            {"labels": moment.labels, "run": run, "score": score, "interval": ends(interval)}
        )
    return rows


# --- a stopping rule without hindsight ------------------------------------------------------------


def _stopping(
    inputs: Inputs, chosen: dict[str, Any], values: dict[str, FloatArray], labels: _Arrived
) -> Result:
    """When each score and each difference would have allowed to stop."""
    clusters = inputs.clusters(chosen["unit"])
    n_queries = inputs.benchmark.n_queries
    unit_of_query = (
        np.arange(n_queries) if clusters is None else dense_clusters(clusters, n_queries)
    )
    doubts = _doubts_about_order(inputs)
    order = chosen["order"] or (DRAWN if doubts else JUDGED)
    found = _ordered(inputs, chosen, order, unit_of_query, labels)
    lines = _Lines(values, unit_of_query, found, chosen)
    return {
        "unit": CAPTIONS if clusters is None else VIDEOS,
        "order": order,
        "doubts": doubts,
        "width": chosen["width"],
        "units": len(found.groups),
        "seen": found.seen,
        "labels": labels.answers,
        "rows": lines.rows(labels.answers),
        "path": lines.path(),
    }


def _doubts_about_order(inputs: Inputs) -> list[str]:
    """Return the reasons why captions may not have been judged in random order."""
    campaigns = Campaign.objects.filter(pk__in=np.unique(inputs.judgments.campaigns).tolist())
    doubts = []
    if any(campaign.is_imported for campaign in campaigns):
        doubts.append(IMPORTED)
    if any(campaign.priority != Priority.NONE for campaign in campaigns):
        doubts.append(PRIORITISED)
    if len(inputs.judgments_by_caption.ids) > len(inputs.judgments.ids):
        doubts.append(SHARED)
    return doubts


def _ordered(
    inputs: Inputs,
    chosen: dict[str, Any],
    order: str,
    unit_of_query: IntArray,
    labels: _Arrived,
) -> GroupOrder:
    unit_of = unit_of_query[inputs.benchmark.pair_space.queries(labels.codes)]
    waiting = np.zeros(int(unit_of_query.max(initial=-1)) + 1, dtype=np.bool_)
    waiting[unit_of_query[_waiting_queries(inputs)]] = True
    if order == JUDGED:
        found = order_as_judged(labels.pair_of, unit_of, waiting)
        return replace(found, labels=labels.answer_of[found.labels - 1] + 1)
    rng = np.random.default_rng(chosen["seed"])
    return order_at_random(labels.pair_of, unit_of, waiting, rng, labels.answer_of)


def _waiting_queries(inputs: Inputs) -> IntArray:
    """Numbers of the captions for which a campaign still collects labels, with those of the same
    text where a task is for all of them."""
    tasks = JudgmentTask.objects.filter(
        campaign__benchmark=inputs.benchmark,
        campaign__kind=CampaignKind.JUDGING,
        pair__isnull=False,
        state__in=(TaskState.OPEN, TaskState.ESCALATED),
    ).exclude(campaign__state=CampaignState.CLOSED)
    numbers = tasks.order_by().values_list("pair__query__number", flat=True).distinct()
    own = np.fromiter(numbers.filter(unit=None), np.int64)
    shared = np.fromiter(numbers.exclude(unit=None), np.int64)
    if not len(shared):
        return own
    equal = first_equal_captions(inputs.benchmark)
    return np.union1d(own, np.flatnonzero(np.isin(equal, equal[shared])))


class _Lines:
    """The confidence sequences of all scores and of all differences.

    Each sequence may fail with the same small probability, and any of them with the error rate.
    """

    def __init__(
        self,
        values: dict[str, FloatArray],
        unit_of_query: IntArray,
        order: GroupOrder,
        chosen: dict[str, Any],
    ) -> None:
        self._order, self._width = order, chosen["width"] / 100
        self._values = values
        self._sums = {
            run: np.bincount(unit_of_query, weights=own)[order.groups]
            for run, own in values.items()
        }
        self._sizes = np.bincount(unit_of_query)[order.groups]
        self._n_queries = len(unit_of_query)
        self._pairs = list(combinations(values, 2))
        self._alpha = (1 - chosen["confidence"]) / max(1, len(values) + len(self._pairs))
        self._scores = {run: self._sequence(run) for run in values} if order.seen else {}

    def _sequence(self, run: str, other: str | None = None) -> ConfidenceSequence:
        """Return the sequence of a run's score over all captions, or of its difference to `other`.

        Captions without any pair to judge are already known.
        """
        settings = {
            "seen": self._order.seen,
            "alpha": self._alpha,
            "aim": min(1.0, self._width * self._n_queries / self._sizes.sum()),
        }
        sums, final = self._sums[run], self._values[run]
        if other is None:
            found = confidence_sequence(sums, self._sizes, **settings)
            known = final.sum() - sums.sum()
        else:
            found = difference_sequence(sums, self._sums[other], self._sizes, **settings)
            known = (final - self._values[other]).sum() - (sums - self._sums[other]).sum()
        share = self._sizes.sum() / self._n_queries
        return found.moved(known / self._n_queries, share)

    def rows(self, n_labels: int) -> list[Result]:
        if not self._scores:
            return []
        found = []
        for run, sequence in self._scores.items():
            stop = first_stop(sequence.half_width <= self._width)
            found.append(self._row(run, None, sequence, stop, n_labels))
        for run, other in self._pairs:
            sequence = self._sequence(run, other)
            stop = first_stop(sequence.excludes(0))
            found.append(self._row(run, other, sequence, stop, n_labels))
        return found

    def _row(
        self,
        run: str,
        other: str | None,
        sequence: ConfidenceSequence,
        stop: int | None,
        n_labels: int,
    ) -> Result:
        """Return one row; its interval is that at the stop, or the last one if there is no stop."""
        at = (stop or self._order.seen) - 1
        labels = int(self._order.labels[at]) if stop else None
        final = self._values[run] if other is None else self._values[run] - self._values[other]
        return {
            "run": run,
            "other": other,
            "units": stop,
            "labels": labels,
            "share": None if labels is None else labels / n_labels,
            "interval": [float(sequence.low[at]), float(sequence.high[at])],
            "final": float(final.mean()),
        }

    def path(self) -> list[Result]:
        """Return points of each run's band, evenly spread over the units."""
        places = np.unique(np.linspace(0, self._order.seen - 1, PATH_POINTS).astype(np.int64))
        return [
            {
                "labels": int(self._order.labels[at]),
                "run": run,
                "score": float(sequence.estimate[at]),
                "interval": [float(sequence.low[at]), float(sequence.high[at])],
            }
            for run, sequence in self._scores.items()
            for at in places.tolist()
        ]


def _agreement(moment: Checkpoint, chosen: dict[str, Any], rng: np.random.Generator) -> Result:
    interval = alpha_interval(
        moment.opinions, chosen["resamples"], rng=rng, confidence=chosen["confidence"]
    )
    return {
        "labels": moment.labels,
        "pairs": moment.opinions.n_pairs,
        "several": moment.opinions.n_multiply_labelled,
        "alpha": krippendorff_alpha(moment.opinions).value,
        "interval": ends(interval),
    }


def _tables(result: Result) -> list[Table]:
    percent = f"{100 * result['confidence']:g} % interval"
    return [
        Table(
            "settled",
            "When scores had settled, by hindsight",
            [
                Column("what", f"{result['measure']} of all runs"),
                Column("labels", "Labels needed", "count"),
                Column("share", "Share of all labels, %", "percent"),
            ],
            result["settled"],
            note="By hindsight: from this number of labels to the end, all scores stayed this "
            "close to their last values, and the runs kept their last order. During a campaign "
            "the last values are unknown, so these numbers are not a rule for when to stop.",
        ),
        *_stopping_tables(result),
        Table(
            "scores",
            f"{result['measure']} after so many labels",
            [
                Column("labels", "Labels", "count"),
                Column("run", "Run"),
                Column("score", "Score, %", "percent"),
                Column("interval", percent, "percent"),
            ],
            result["scores"],
        ),
        Table(
            "agreement",
            "Agreement by number of labels",
            [
                Column("labels", "Labels", "count"),
                Column("pairs", "Pairs", "count"),
                Column("several", "Labelled several times", "count"),
                Column("alpha", "Krippendorff’s alpha", "number"),
                Column("interval", percent, "number"),
            ],
            result["agreement"],
            note="Agreement of the first labels of each pair on relevant or not. A third label "
            "is requested only if two labels differ, which makes alpha of all labels too high.",
        ),
    ]


def _stopping_tables(result: Result) -> list[Table]:
    stopping, measure = result["stopping"], result["measure"]
    rows = [
        {**row, "what": row["run"] if row["other"] is None else f"{row['run']} − {row['other']}"}
        for row in stopping["rows"]
    ]
    columns = [
        Column("units", f"{stopping['unit'].capitalize()} needed", "count"),
        Column("labels", "Labels needed", "count"),
        Column("share", "Share of all labels, %", "percent"),
    ]
    scores = [row for row in rows if row["other"] is None]
    differences = [row for row in rows if row["other"] is not None]
    tables = [
        Table(
            "stop-scores",
            f"Without hindsight: stop when {measure} is known to ± {stopping['width']:g} points",
            [
                Column("what", "Run"),
                *columns,
                Column("interval", "Interval at the stop, %", "percent"),
                Column("final", "Final score, %", "percent"),
            ],
            scores,
            note=_said_of_order(result),
        ),
        Table(
            "stop-differences",
            f"Without hindsight: stop when it is known which run has the higher {measure}",
            [
                Column("what", "Difference"),
                *columns,
                Column("interval", "Interval at the stop, points", "points"),
                Column("final", "Final difference, points", "points"),
            ],
            differences,
            note="A dash means that the interval never excluded 0. The last interval is then "
            "shown.",
        ),
    ]
    return [table for table in tables if table.rows]


def _said_of_order(result: Result) -> str:
    stopping = result["stopping"]
    rate, unit = 100 * (1 - result["confidence"]), stopping["unit"]
    order = "in the order judged" if stopping["order"] == JUDGED else "in a random order"
    return (
        f"{stopping['seen']:,} of {stopping['units']:,} {unit} are used, {order}. Each one is "
        f"judged completely before it counts. With an error rate of {rate:.3g} %, all intervals "
        "of both tables hold together at every look. A dash means that the interval was never "
        "narrow enough. The last interval is then shown."
    )


def _warnings(result: Result) -> list[str]:
    stopping, few = result["stopping"], few_units_warnings(result)
    said = [DOUBTS[doubt] for doubt in stopping["doubts"]]
    if said:
        said.append(NOT_VALID if stopping["order"] == JUDGED else DRAWN_INSTEAD)
    return said + few


def _charts(result: Result) -> list[Chart]:
    rows = result["scores"]
    if len({row["run"] for row in rows}) > BANDS_MAX:
        rows = [{**row, "interval": None} for row in rows]
    scores = _band(rows, "score", result["measure"], PERCENT, name_of("run"))
    charts = [
        Chart(
            "scores",
            f"{result['measure']} while the labels came in",
            "A line for each run over the number of labels, within the band of its interval. Where "
            "the lines run flat, more labels changed nothing.",
            scores,
        ),
        *_stopping_charts(result),
    ]
    if all(row["alpha"] is None for row in result["agreement"]):
        return charts
    alpha = _band(result["agreement"], "alpha", "Krippendorff’s alpha", ".2f", None)
    return [
        *charts,
        Chart(
            "alpha",
            "Agreement while the labels came in",
            "A line over the number of labels within the band of its interval, which narrows.",
            alpha,
        ),
    ]


def _stopping_charts(result: Result) -> list[Chart]:
    rows, measure = result["stopping"]["path"], result["measure"]
    if not rows or len({row["run"] for row in rows}) > BANDS_MAX:
        return []
    return [
        Chart(
            "stopping",
            f"Interval of {measure} without hindsight",
            "A line for each run over the number of labels, within an interval that holds at "
            "every look. The intervals narrow until all pairs are judged.",
            _band(rows, "score", measure, PERCENT, name_of("run")),
        )
    ]


def _band(
    rows: list[Result], key: str, title: str, form: str, colour: dict[str, Any] | None
) -> dict[str, Any]:
    """Lines, each within the band of its interval."""
    values = [{**row, **low_high(row["interval"])} for row in rows]
    height = quantity(key, title, axis={"format": form}, scale={"zero": False})
    return {
        "data": {"values": values},
        "encoding": {
            "x": quantity("labels", "Labels", axis={"format": ",d", "tickMinStep": 1}),
            **({"color": colour} if colour else {}),
        },
        "layer": [
            *spans(values, {"y": {**height, "field": "low"}, "y2": {"field": "high"}}, BAND),
            {
                "mark": {"type": "line", "point": True, "tooltip": True},
                "encoding": {"y": height},
            },
        ],
    }


HISTORY = Kind(
    name="history",
    title="While the labels came in",
    question="When could one have stopped judging?",
    form=HistoryForm,
    compute=_compute,
    tables=_tables,
    charts=_charts,
    warnings=_warnings,
    needs_labels=True,
    reads_judgments=True,
    notes=(
        "Of all judgments that count by now, in the order in which they came, whatever label set "
        "is chosen above; a pair is what more than half of its labels said by then. Original "
        "positives count from the beginning.",
        "Imported judgments have the order of their file.",
        "The stopping rule needs no hindsight. Its intervals are a confidence sequence "
        "(Waudby-Smith and Ramdas 2020 and 2024). With the stated error rate, all of them hold "
        "together at every look. So judging may stop as soon as one interval is narrow enough. "
        "The intervals are for the score that the runs will have on this benchmark once every "
        "pair is judged. They do not hold for other videos.",
        "The rule is valid only if captions, or whole videos, are judged in random order. Choose "
        "the unit that was put in random order. A video counts once all its captions are judged, "
        "and a caption counts once all its pairs are judged. A campaign without priorities hands "
        "out captions in random order.",
    ),
)
