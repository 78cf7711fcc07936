"""Each proxy compared with people's labels, and the scores that runs would have by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import IntArray
from evaluation.core.graded import calibration
from evaluation.core.graded.calibration import Labelled, curve_of
from evaluation.core.graded.calibration_intervals import Calibration, calibrate
from evaluation.core.graded.comparison import count_at_least
from evaluation.core.graded.rankings import blocks
from evaluation.core.people.agreement_figures import Resampling, figures_from_store
from evaluation.core.relevance.judged import Judged, with_positives
from evaluation.core.statistics.resampling import difference_interval
from evaluation.core.statistics.slices import cut_by_quantiles, kendall_tau_b
from evaluation.lab.analyses import charts, options, proxy_inputs, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.inputs import AUTO, BOTH_SIDES, CAPTIONS, Inputs
from evaluation.lab.analyses.intervals import hides_tau, tau_note
from evaluation.lab.analyses.proxy_inputs import LoadedProxy, load_proxies, share_text
from evaluation.lab.analyses.proxy_pairs import JudgedTexts, TextPairs, text_pairs
from evaluation.lab.analyses.proxy_thresholds import Step, thresholds_of
from evaluation.lab.analyses.results import UNIT_NAMES
from evaluation.lab.analyses.rows import (
    CoefficientInterval,
    Ends,
    Interval,
    MeasureName,
    PointsInterval,
    ProxyName,
    Run,
    Score,
    Shown,
    as_json,
    row_of,
)
from evaluation.lab.analyses.tables import Table
from hearth.shared.errors import InvalidInput
from hearth.shared.numbers import coefficient, points, ratio, with_percent
from hearth.shared.options import Option
from hearth.shared.progress import Progress, no_progress
from hearth.shared.words import counted

Values = npt.NDArray[np.float16]

UNITS = {**options.UNITS, BOTH_SIDES: "videos of both sides"}
LABELS = {"0": "0, not relevant", "1": "1, relevant"}
CONFLICTED, PENDING = "in conflict", "pending"
QUANTILES = (0.25, 0.5, 0.75)
FEW_RELEVANT = 50
# The lowest alpha of annotators for tentative conclusions (Krippendorff 2004, section 11.4). The
# limit is lower if two people do not reach it.
ALPHA_MIN = 0.667
CURVES = {"precision": "Precision", "recall": "Recall", "alpha": "Alpha"}
PEOPLE = "People"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Resampling):
    """Options of the analysis.

    threshold: If empty, each proxy has the threshold with the highest alpha.
    bins: Captions are divided into this many groups of similar length.
    """

    proxies: options.Proxies = ()
    measures: options.ShareMeasures = ("C@1", "C@5", "C@10")
    threshold: Annotated[float | None, Option("Threshold", low=0.01, high=1)] = None
    step: Step = 0.05
    bins: Annotated[int, Option("Number of groups by caption length", low=1, high=20)] = 4
    unit: Annotated[options.Unit, Option(choices=UNITS)] = AUTO
    resamples: options.NumberOfResamples = 1000


@dataclass(frozen=True, kw_only=True)
class SharesAt:
    """Precision and recall at a threshold."""

    precision: Annotated[Score, Shown("Precision, %", "percent")]
    precision_interval: Interval
    recall: Annotated[Score, Shown("Recall, %", "percent")]
    recall_interval: Interval


@dataclass(frozen=True, kw_only=True)
class RankingFigures:
    """AUC and AP, which need no threshold; null if no pair or every pair is relevant."""

    auc: Annotated[Score, Shown("AUC", "coefficient")] = None
    auc_interval: CoefficientInterval = None
    ap: Annotated[Score, Shown("AP", "coefficient")] = None
    ap_interval: CoefficientInterval = None


@dataclass(frozen=True, kw_only=True)
class ThresholdRow(SharesAt):
    """The figures of a proxy at one threshold."""

    proxy: ProxyName
    threshold: Annotated[float, Shown("Threshold", "coefficient")]
    f1: Annotated[float, Shown("F1, %", "percent")]
    alpha: Annotated[float, Shown("Alpha", "coefficient")]


@dataclass(frozen=True, kw_only=True)
class ProxyRow(ThresholdRow, RankingFigures):
    """A proxy at the threshold with the highest alpha, or at the threshold that was entered.

    fitted_alpha, agreement: alpha and agreement with thresholds that were chosen on other videos;
    `agreement` is the share of the pairs on which the proxy and people agree. difference: the
    highest alpha of this proxy minus that of the best proxy.
    """

    method: Annotated[str, Shown("Method")]
    threshold_interval: CoefficientInterval
    fitted_alpha: Annotated[Score, Shown("Alpha on other videos", "coefficient")]
    fitted_alpha_interval: CoefficientInterval
    difference: Annotated[float, Shown("Highest alpha minus that of the best proxy", "coefficient")]
    difference_interval: Annotated[Ends | None, Shown("Interval of the difference", "coefficient")]
    agreement: Annotated[Score, Shown("Proxy and people agree on other videos, %", "percent")]
    agreement_interval: Interval


@dataclass(frozen=True, kw_only=True)
class CurveRow(ThresholdRow):
    """A proxy at one threshold.

    called: number of judged pairs that the proxy calls relevant. correct: number of these that
    people judged relevant. pairs: number of all pairs that the proxy calls relevant. unjudged: the
    share of `pairs` that no one judged.
    """

    called: Annotated[int, Shown("Judged pairs called relevant", "count")]
    correct: Annotated[int, Shown("Of these, relevant", "count")]
    pairs: Annotated[int, Shown("All pairs called relevant", "count")]
    unjudged: Annotated[Score, Shown("Of these unjudged, %", "percent")]


@dataclass(frozen=True, kw_only=True)
class LengthRow(SharesAt, RankingFigures):
    """A proxy for the captions of one group by length. words: the name of the group."""

    proxy: ProxyName
    words: Annotated[str, Shown("Words")]
    pairs: Annotated[int, Shown("Judged pairs", "count")]
    relevant: Annotated[int, Shown("Relevant", "count")]
    units: Annotated[int, Shown("{units_title}", "count")]


def _label_title(label: str) -> str:
    return LABELS.get(label, label)


@dataclass(frozen=True, slots=True)
class GradeRow:
    """The values of a proxy for the pairs that have the same label.

    quartiles: the first and the third
    """

    proxy: ProxyName
    label: Annotated[str, Shown("Label", write=_label_title)]
    pairs: Annotated[int, Shown("Pairs", "count")]
    mean: Annotated[float, Shown("Mean value", "coefficient")]
    median: Annotated[float, Shown("Median", "coefficient")]
    quartiles: Annotated[Ends, Shown("Middle half", "coefficient")]


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """The score of a run by the original positives, by a proxy and by people."""

    proxy: ProxyName
    run: Run
    measure: MeasureName
    original: Annotated[float, Shown("Original positives, %", "percent")]
    by_proxy: Annotated[float, Shown("Proxy, %", "percent")]
    by_people: Annotated[float, Shown("People, %", "percent")]
    difference: Annotated[float, Shown("Proxy minus people", "points")]
    interval: PointsInterval


@dataclass(frozen=True, slots=True)
class OrderRow:
    """The order of the runs by a proxy.

    mean, lowest, highest: the mean, the lowest and the highest difference of the runs. The
    difference of a run is its score by the proxy minus its score by people.
    """

    proxy: ProxyName
    measure: MeasureName
    runs: Annotated[int, Shown("Runs", "count")]
    tau: Annotated[Score, Shown("Kendall’s tau-b", "coefficient")]
    mean: Annotated[float, Shown("Mean difference", "points")]
    lowest: Annotated[float, Shown("Lowest", "points")]
    highest: Annotated[float, Shown("Highest", "points")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(results.WithIntervals):
    """Proxies compared with people.

    pairs, relevant: judged pairs, and those that people judged relevant. known: original positives,
    which are left out. is_given: whether the threshold was entered. people_agreement, people_alpha:
    the agreement of two people: the share of equal labels, and alpha. Null if unknown.
    """

    pairs: int
    relevant: int
    known: int
    conflicted: int
    pending: int
    people_agreement: Score
    people_alpha: Score
    is_given: bool
    rows: list[ProxyRow]
    curve: list[CurveRow]
    lengths: list[LengthRow]
    grades: list[GradeRow]
    scores: list[ScoreRow]
    orders: list[OrderRow]

    @property
    def best(self) -> ProxyRow:
        """The proxy with the highest alpha."""
        return max(self.rows, key=lambda row: row.difference)

    @property
    def units_title(self) -> str:
        return "Captions" if self.unit == CAPTIONS else "Videos"

    @property
    def be(self) -> str:
        return "is" if self.relevant == 1 else "are"

    def tables(self) -> list[Table]:
        ranking = "auc auc_interval ap ap_interval"
        shares = "precision precision_interval recall recall_interval"
        found = [
            self.table(
                "proxies",
                "Proxies, each at its threshold",
                ProxyRow,
                self.rows,
                note=self._note(),
                columns=f"proxy method threshold threshold_interval {shares} f1 alpha fitted_alpha "
                "fitted_alpha_interval difference difference_interval agreement agreement_interval",
            )
        ]
        if self.scores:
            note = "Each proxy is used at its threshold in the first table."
            title = "Scores by proxies and by people"
            found.append(self.table("scores", title, ScoreRow, self.scores, note=note))
        n_runs = max((row.runs for row in self.orders), default=0)
        if n_runs > 1:
            found.append(
                self.table(
                    "orders",
                    "The order of the runs by proxies and by people",
                    OrderRow,
                    self.orders,
                    note="Differences are proxy minus people, in points. "
                    f"{tau_note(n_runs)}".strip(),
                    without=("tau",) if hides_tau(n_runs) else (),
                )
            )
        return [
            *found,
            self.table(
                "ranking",
                "Without a threshold",
                ProxyRow,
                self.rows,
                note="By guessing, AUC is 0.5 and AP is the share of relevant pairs, "
                f"{ratio(self.relevant, self.pairs)}.",
                columns=f"proxy {ranking}",
            ),
            self.table(
                "curve",
                "By threshold",
                CurveRow,
                self.curve,
                columns=f"proxy threshold {shares} f1 alpha called correct pairs unjudged",
            ),
            self.table(
                "lengths",
                "By the length of the caption",
                LengthRow,
                self.lengths,
                note="Precision and recall are those at the threshold of the proxy in the first "
                "table.",
                columns=f"proxy words pairs relevant units {ranking} {shares}",
            ),
            self.table("grades", "Values of the proxies by people’s label", GradeRow, self.grades),
        ]

    def _note(self) -> str:
        of_people = (
            ""
            if self.people_agreement is None
            else f" Two people agree on {with_percent(self.people_agreement)} of their pairs, with "
            f"the alpha {coefficient(self.people_alpha)}."
        )
        return (
            f"{counted(self.pairs, 'judged pair')}, {self.relevant:,} relevant. "
            f"Left out: {counted(self.known, 'original positive')}, "
            f"{counted(self.conflicted, 'pair')} in conflict and "
            f"{counted(self.pending, 'pending pair')}.{of_people} The intervals of the differences "
            "are simultaneous: their confidence applies to all comparisons of two proxies at once."
        )

    def findings(self) -> list[str]:
        best = self.best
        others = {row.proxy: row.difference_interval for row in self.rows if row is not best}
        compared = " ".join(proxy_inputs.compare_with_best(others))
        return [
            self._best_text(best),
            f"People confirm {share_text(best.precision, best.precision_interval)} of the judged "
            f"pairs that {best.proxy} calls relevant, and this proxy finds "
            f"{share_text(best.recall, best.recall_interval)} of those that people judged "
            f"relevant. These shares are based on {counted(self.pairs, 'judged pair')} of "
            f"{counted(self.units, UNIT_NAMES[self.unit])}. {self.relevant:,} of these pairs "
            f"{self.be} relevant.",
            *([compared] if compared else []),
            *self._order_texts(best),
            self._unjudged_text(best),
        ]

    def _best_text(self, row: ProxyRow) -> str:
        name, between = f"{row.proxy} at the threshold {row.threshold:g}", row.threshold_interval
        if between and between[0] < between[1] and not self.is_given:
            name += f" (interval {between[0]:g} to {between[1]:g})"
        value, interval = row.fitted_alpha, row.fitted_alpha_interval
        of = "" if self.is_given else " on videos that were not used to choose the threshold"
        alpha = f"its alpha{of} is {coefficient(value)}"
        if interval:
            alpha += f" ({coefficient(interval[0])} to {coefficient(interval[1])})"
        if self.people_alpha is not None:
            alpha += f", and that of two people is {coefficient(self.people_alpha)}"
        if interval is None:
            return f"The proxy with the highest agreement is {name}, without an interval: {alpha}."
        limit = min(ALPHA_MIN, self.people_alpha or ALPHA_MIN)
        if interval[0] <= 0:
            reason = "because even the best does not clearly agree with them more than by guessing"
        elif (value or 0) < limit:
            reason = f"because even the best has an alpha below {coefficient(limit)}"
        else:
            return f"The proxy that agrees best with people is {name}: {alpha}."
        return f"No proxy can replace people, {reason}. The best is {name}: {alpha}."

    def _order_texts(self, best: ProxyRow) -> list[str]:
        order = next((row for row in self.orders if row.proxy == best.proxy), None)
        if order is None:
            return []
        scores = [
            row for row in self.scores if (row.proxy, row.measure) == (order.proxy, order.measure)
        ]
        top = max(scores, key=lambda row: row.by_people)
        text = (
            f"The {order.measure} of the run {top.run} is {with_percent(top.by_proxy)} by "
            f"{best.proxy}, {with_percent(top.by_people)} by people, and "
            f"{with_percent(top.original)} by the original positives."
        )
        if order.runs > 1:
            text += (
                f" Over all {order.runs} runs, the score by the proxy minus the score by people is "
                f"{points(order.lowest)} to {points(order.highest)} points"
            )
            tau = None if hides_tau(order.runs) else order.tau
            text += (
                "." if tau is None else f", and Kendall’s tau of their order is {coefficient(tau)}."
            )
        return [text]

    def _unjudged_text(self, best: ProxyRow) -> str:
        row = next(
            row for row in self.curve if (row.proxy, row.threshold) == (best.proxy, best.threshold)
        )
        besides = "In addition to the original positives, " if self.known else ""
        return (
            f"{besides}{best.proxy} calls {counted(row.pairs, 'pair')} relevant. People settled "
            f"{ratio(row.called, row.pairs)} of them. How many of the others are relevant is "
            "unknown."
        )

    def warnings(self) -> list[str]:
        found = self.few_units_warnings()
        if self.relevant < FEW_RELEVANT:
            found.append(
                f"Only {self.relevant:,} of {counted(self.pairs, 'compared pair')} {self.be} "
                "relevant. Recall is uncertain."
            )
        aucs = {row.proxy: row.auc_interval for row in self.rows}
        return found + proxy_inputs.guessing_warnings(aucs, "AUC", "0.5")

    def charts(self) -> list[charts.Chart]:
        best, found = self.best.proxy, [_curve_chart(self.curve)]
        if scores := [row for row in self.scores if row.proxy == best]:
            found.append(_scores_chart(scores, best))
        if any(row.auc is not None for row in self.lengths):
            found.append(_lengths_chart(self.lengths))
        return found


def _curve_chart(curve: list[CurveRow]) -> charts.Chart:
    rows = [
        {
            "measure": title,
            "proxy": row.proxy,
            "threshold": row.threshold,
            "share": getattr(row, key),
            # Alpha has no interval. Vega cannot scale an axis if all its ends are undefined.
            **charts.low_high(getattr(row, f"{key}_interval", None) or [getattr(row, key)] * 2),
        }
        for key, title in CURVES.items()
        for row in curve
    ]
    ends = {"y": {"field": "low", "type": "quantitative"}, "y2": {"field": "high"}}
    view: dict[str, Any] = {
        "width": 260,
        "height": 240,
        "encoding": {
            "x": charts.quantity("threshold", "Threshold", scale={"domain": [0, 1]}),
            "color": charts.name_of("proxy"),
        },
        "layer": [
            {"mark": charts.BAND, "encoding": ends},
            {"mark": charts.LINES, "encoding": {"y": charts.quantity("share", "")}},
        ],
    }
    by_measure = charts.by_measure(rows, view, same_scale=True)
    return charts.Chart(
        "curve",
        "Proxies compared with people, by threshold",
        "Three charts over the threshold with a line for each proxy. With a higher threshold, "
        "precision usually rises and recall falls. Alpha is usually highest in between. Bands show "
        "intervals.",
        {**by_measure, "resolve": {"scale": {"y": "independent"}}},
    )


def _scores_chart(scores: list[ScoreRow], proxy: str) -> charts.Chart:
    names = {"original": charts.ORIGINAL_POSITIVES, "by_proxy": proxy, "by_people": PEOPLE}
    by = charts.name_of("by", order=list(names.values()))
    rows = charts.melt(scores, "run measure", names, "score", "by")
    return charts.Chart(
        "scores",
        f"Scores by {proxy} and by people",
        "Each measure has three dots for each run: the score by the original positives, by the "
        "proxy and by people.",
        charts.dots_by_measure(rows, charts.score_axis(), color=by),
    )


def _lengths_chart(lengths: list[LengthRow]) -> charts.Chart:
    rows = [{**as_json(row), **charts.low_high(row.auc_interval)} for row in lengths]
    auc = charts.quantity("auc", "AUC", scale={"zero": False})
    return charts.Chart(
        "lengths",
        "AUC by the number of words of the caption",
        "Each group of captions of similar length has a dot for each proxy, on a line that shows "
        "its interval.",
        {"data": {"values": rows}, **charts.dots_below_names(rows, auc, "words", "proxy")},
    )


@dataclass(frozen=True)
class _Data:
    """The judged pairs with the values of each proxy."""

    inputs: Inputs
    options: Options
    proxies: list[LoadedProxy]
    texts: TextPairs
    judged: JudgedTexts

    @cached_property
    def queries(self) -> IntArray:
        return self.texts.space.queries(self.judged.codes)

    @cached_property
    def labelled(self) -> Labelled:
        clusters = self.inputs.clusters(self.options.unit)
        of_pairs = self.queries if clusters is None else clusters[self.queries]
        ranked = self.texts.space.videos(self.judged.codes)
        both = self.options.unit == BOTH_SIDES
        return Labelled.of(self.judged.relevant, of_pairs, ranked if both else None)

    @cached_property
    def values(self) -> list[Values]:
        """The values of each proxy for the judged pairs."""
        return [self.values_at(proxy, self.judged.codes) for proxy in self.proxies]

    @cached_property
    def thresholds(self) -> list[float]:
        own = self.options.threshold
        found = thresholds_of(self.options.step)
        return found if own is None else sorted({*found, own})

    def values_at(self, proxy: LoadedProxy, codes: IntArray) -> Values:
        queries, videos = self.texts.space.decode(codes)
        return np.asarray(proxy.values[queries, videos])

    def compare(
        self,
        values: Sequence[Values],
        labelled: Labelled,
        thresholds: Sequence[float],
        progress: Progress = no_progress,
    ) -> tuple[Calibration, ...]:
        """Compare proxies with the labels, in samples from the beginning of the seed."""
        return calibrate(
            values,
            labelled,
            thresholds,
            self.options.resamples,
            rng=np.random.default_rng(self.options.seed),
            confidence=self.options.confidence,
            progress=progress,
        )


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    texts = text_pairs(inputs)
    assert texts.judged is not None  # noqa: S101 - checked by the analysis
    data = _Data(inputs, options, load_proxies(inputs), texts, texts.judged)
    labelled = data.labelled
    if reason := labelled.undefined_reason:
        raise InvalidInput(f"There is nothing to compare: {reason}, except original positives.")
    if labelled.n_clusters < 2:
        raise InvalidInput(
            "There is nothing to compare: all judged pairs belong to one video or caption."
        )
    own = options.threshold
    thresholds = data.thresholds if own is None else [own]
    found = data.compare(data.values, labelled, thresholds, progress)
    chosen = [one.curve[one.best].threshold for one in found]
    progress(0, None, "scoring runs")
    scores = _scores(data, chosen)
    return Result(
        confidence=options.confidence,
        unit=options.unit,
        units=labelled.n_clusters,
        pairs=len(labelled),
        relevant=labelled.n_relevant,
        known=len(texts.known),
        conflicted=len(data.judged.conflicted),
        pending=len(data.judged.pending),
        **_among_people(inputs),
        is_given=own is not None,
        rows=[_proxy_row(*pair) for pair in zip(data.proxies, found, strict=True)],
        curve=[
            row
            for proxy, values in zip(data.proxies, data.values, strict=True)
            for row in _curve(data, proxy, values)
        ],
        lengths=_lengths(data, chosen),
        grades=_grades(data),
        scores=scores,
        orders=_orders(scores),
    )


def _estimates(**figures: calibration.Ends) -> dict[str, Any]:
    """Return the fields of figures and of their intervals."""
    values = {name: figure.value for name, figure in figures.items()}
    return values | {f"{name}_interval": one.interval.ends for name, one in figures.items()}


def _proxy_row(proxy: LoadedProxy, found: Calibration) -> ProxyRow:
    return row_of(
        ProxyRow,
        found.curve[found.best],
        proxy=proxy.name,
        method=proxy.proxy.method,
        threshold_interval=found.threshold_interval.ends,
        **_estimates(
            auc=found.auc,
            ap=found.average_precision,
            fitted_alpha=found.fitted_alpha,
            agreement=found.fitted_agreement,
            difference=found.difference,
        ),
    )


def _among_people(inputs: Inputs) -> dict[str, Score]:
    """Return how well people agree, by the planned labels, on whether a pair is relevant.

    The figures are null if they are not known.
    """
    stored = None if inputs.label_set is None else inputs.label_set.agreement
    if stored is None:
        return {"people_agreement": None, "people_alpha": None}
    first = figures_from_store(stored, Resampling(resamples=1))["first_labels"]
    return {
        "people_agreement": first.get("relevance_agreement", first["pairwise_agreement"]),
        "people_alpha": first.get("relevance_alpha", first["alpha"]),
    }


def _curve(data: _Data, proxy: LoadedProxy, values: Values) -> list[CurveRow]:
    curve = curve_of(values, data.labelled, data.thresholds, data.options.confidence)
    reaching = _count_reaching(data, proxy, data.thresholds)
    return [
        row_of(
            CurveRow,
            point,
            proxy=proxy.name,
            pairs=pairs,
            unjudged=1 - point.called / pairs if pairs else None,
        )
        for point, pairs in zip(curve, reaching, strict=True)
    ]


def _count_reaching(data: _Data, proxy: LoadedProxy, thresholds: list[float]) -> list[int]:
    """Return the number of text pairs at or above each threshold, without original positives."""
    firsts = np.unique(data.texts.first_equal)
    limits = np.asarray(thresholds).astype(proxy.values.dtype)
    counts = -count_at_least(data.values_at(proxy, data.texts.known), limits)
    for block in blocks((len(firsts), data.texts.space.n_videos)):
        counts += count_at_least(proxy.values[firsts[block]], limits)
    found: list[int] = counts.tolist()
    return found


def _lengths(data: _Data, chosen: Sequence[float]) -> list[LengthRow]:
    bins = cut_by_quantiles(data.inputs.caption_lengths[data.queries], data.options.bins)
    rows: list[LengthRow] = []
    for number, name in enumerate(bins.names):
        is_in = bins.groups == number
        part = data.labelled.part(is_in)
        for proxy, values, threshold in zip(data.proxies, data.values, chosen, strict=True):
            own = values[is_in]
            (point,) = curve_of(own, part, (threshold,), data.options.confidence)
            rows.append(
                LengthRow(
                    proxy=proxy.name,
                    words=name,
                    pairs=len(part),
                    relevant=part.n_relevant,
                    units=part.n_clusters,
                    **_ranking_figures(data, own, part),
                    **_estimates(precision=point.precision, recall=point.recall),
                )
            )
    return rows


def _ranking_figures(data: _Data, values: Values, part: Labelled) -> dict[str, Any]:
    """Return AUC and AP of some pairs, if they are defined."""
    if part.undefined_reason or part.n_clusters < 2:
        return {}
    (found,) = data.compare([values], part, (1.0,))
    return _estimates(auc=found.auc, ap=found.average_precision)


def _grades(data: _Data) -> list[GradeRow]:
    """Return the values of each proxy by people's label, and for pairs without a label."""
    judged = data.judged
    groups = {
        str(grade): judged.codes[judged.labels == grade]
        for grade in np.unique(judged.labels).tolist()
    }
    groups |= {CONFLICTED: judged.conflicted, PENDING: judged.pending}
    rows: list[GradeRow] = []
    for proxy in data.proxies:
        for name, codes in groups.items():
            if len(codes):
                values = data.values_at(proxy, codes).astype(np.float64)
                low, middle, high = np.quantile(values, QUANTILES).tolist()
                mean = float(values.mean())
                rows.append(GradeRow(proxy.name, name, len(codes), mean, middle, [low, high]))
    return rows


def _called_relevant(data: _Data, proxy: LoadedProxy, threshold: float) -> Judged:
    """Return all pairs that a proxy calls relevant, and the original positives that count."""
    space, limit = data.texts.space, np.asarray(threshold).astype(proxy.values.dtype)
    parts = []
    for block in blocks((space.n_queries, space.n_videos)):
        queries, videos = np.nonzero(proxy.values[block] >= limit)
        parts.append(space.encode(queries + block.start, videos))
    codes = np.concatenate(parts)
    called = Judged(codes, np.ones(len(codes), np.int8), space.n_queries, space.n_videos)
    return with_positives(called, data.inputs.counted_originals)


def _scores(data: _Data, chosen: Sequence[float]) -> list[ScoreRow]:
    inputs, measures = data.inputs, data.options.measures
    if not inputs.runs:
        return []
    by_people = inputs.values_of(inputs.judged, measures)
    by_original = inputs.values_of(inputs.original, measures)
    rows: list[ScoreRow] = []
    for proxy, threshold in zip(data.proxies, chosen, strict=True):
        by_proxy = inputs.values_of(_called_relevant(data, proxy, threshold), measures)
        for measure, runs in by_proxy.items():
            for run, values in runs.items():
                people = by_people[measure][run]
                drawn = data.options.drawing(inputs)
                rows.append(
                    ScoreRow(
                        proxy.name,
                        run,
                        measure,
                        float(by_original[measure][run].mean()),
                        float(values.mean()),
                        float(people.mean()),
                        float((values - people).mean()),
                        difference_interval(values, people, **drawn).ends,
                    )
                )
    return rows


def _orders(scores: Sequence[ScoreRow]) -> list[OrderRow]:
    """Return how well the order of the runs by each proxy agrees with that by people."""
    groups: dict[tuple[str, str], list[ScoreRow]] = {}
    for row in scores:
        groups.setdefault((row.proxy, row.measure), []).append(row)
    found: list[OrderRow] = []
    for (proxy, measure), rows in groups.items():
        differences = np.array([row.difference for row in rows])
        tau = kendall_tau_b([row.by_proxy for row in rows], [row.by_people for row in rows]).value
        ends = float(differences.min()), float(differences.max())
        mean = float(differences.mean())
        found.append(OrderRow(proxy, measure, len(rows), tau, mean, *ends))
    return found


PROXY_CALIBRATION = Analysis(
    name="proxy-calibration",
    title="Proxies against people",
    question="Which proxy agrees best with people, at which threshold, and how would it score the "
    "runs?",
    options=Options,
    result=Result,
    compute=_compute,
    runs_needed=0,
    proxies_needed=1,
    needs_labels=True,
    notes=(
        "A proxy calls a pair relevant if its value is at least the threshold. Precision is the "
        "share of these pairs that people judged relevant. Recall is the share of the relevant "
        "pairs that the proxy also calls relevant. F1 is their harmonic mean. AUC is "
        "the chance that a relevant pair has a higher value than an irrelevant one: 0.5 is "
        "guessing. AP is the mean precision over all relevant pairs.",
        "Alpha is Krippendorff’s alpha of the proxy and people, which count as two annotators. It "
        "is 1 for perfect agreement, 0 for guessing, and below 0 if a proxy calls far too many "
        "pairs relevant. Compare it with the alpha of two people. A proxy cannot replace people "
        "if its alpha is below the lower of two numbers: 0.667 and the alpha of two people. The "
        "threshold of a proxy is the one with the highest alpha. For “on other videos”, the "
        "videos are divided into up to ten groups, and the threshold for each group is chosen on "
        "the other groups, because alpha is too high on the videos on which the threshold was "
        "chosen. The best proxy is the one with the highest alpha.",
        "Only judged pairs are compared. Judged pairs were ranked high by a run, so relevant pairs "
        "are more frequent among them than among all pairs. Precision is therefore likely lower "
        "for unjudged pairs, and recall counts only the relevant pairs that a pool found. The "
        "table by threshold shows the unjudged share of the pairs.",
        "Original positives are left out, because a proxy is computed from each video’s own "
        "captions. If “Labels only” is selected, they are compared like all other pairs. "
        "Captions with equal texts share their labels and count once. Any grade above 0 is "
        "relevant. Pairs in conflict and pending pairs have no label and are left out.",
        "Intervals resample videos with all their captions, or single captions if the resampling "
        "unit is the caption. They show how figures vary with the captions, not with the "
        "annotators or with the videos that were ranked. With “videos of both sides”, the ranked "
        "videos are resampled, too, so the intervals of all figures except scores also hold for "
        "other videos to rank, and are wider.",
        "Scores by a proxy count each pair that it calls relevant, judged or not, and the original "
        "positives. If two systems were trained on captions, a proxy that compares captions can "
        "show a larger difference between their scores than people’s labels do. Compare the order "
        "of the systems, too.",
    ),
)
