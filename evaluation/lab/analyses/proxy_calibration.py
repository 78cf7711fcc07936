"""Each proxy compared with people's labels, and the scores that runs would have by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from django import forms

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.graded.calibration import (
    CurvePoint,
    Labelled,
    curve_of,
)
from evaluation.core.graded.calibration_intervals import Calibration, calibrate
from evaluation.core.graded.comparison import count_at_least
from evaluation.core.graded.rankings import blocks
from evaluation.core.people.agreement_figures import Resampling, figures_from_store
from evaluation.core.relevance.judged import Judged, with_positives
from evaluation.core.statistics.resampling import difference_interval
from evaluation.core.statistics.slices import cut_by_quantiles, kendall_tau_b
from evaluation.lab.analyses.fields import (
    MeasuresField,
    ResamplingOptions,
    confidence_field,
    proxies_field,
    resamples_field,
    resampling_unit_field,
    seed_field,
)
from evaluation.lab.analyses.forms import AnalysisForm
from evaluation.lab.analyses.inputs import BOTH_SIDES, Inputs
from evaluation.lab.analyses.layouts import proxy_calibration as layout
from evaluation.lab.analyses.layouts.proxy_calibration.results import (
    AmongPeople,
    CalibrationResult,
    CurveRow,
    GradeRow,
    LengthRow,
    OrderRow,
    ProxyRow,
    RankingFigures,
    ScoreRow,
    SharesAt,
)
from evaluation.lab.analyses.old_analysis import Analysis
from evaluation.lab.analyses.proxy_inputs import LoadedProxy, ProxyOptions, load_proxies
from evaluation.lab.analyses.proxy_pairs import JudgedTexts, TextPairs, text_pairs
from evaluation.lab.analyses.thresholds import step_field, thresholds_of
from hearth.shared.errors import InvalidInput
from hearth.shared.progress import Progress

Values = npt.NDArray[np.float16]
CONFLICTED, PENDING = "in conflict", "pending"
QUANTILES = (0.25, 0.5, 0.75)


class CalibrationForm(AnalysisForm):
    proxies = proxies_field()
    measures = MeasuresField(initial="C@1 C@5 C@10", shares=True)
    threshold = forms.FloatField(
        label="Threshold",
        required=False,
        min_value=0.01,
        max_value=1,
        help_text="If empty, each proxy has the threshold with the highest alpha.",
    )
    step = step_field()
    bins = forms.IntegerField(
        label="Number of groups by caption length",
        initial=4,
        min_value=1,
        max_value=20,
        help_text="Captions are divided into this many groups of similar length.",
    )
    unit = resampling_unit_field([(BOTH_SIDES, "videos of both sides")])
    confidence = confidence_field()
    resamples = resamples_field(1000)
    seed = seed_field()


class CalibrationOptions(ProxyOptions, ResamplingOptions):
    measures: list[str]
    threshold: float | None
    step: float
    bins: int


@dataclass(frozen=True)
class _Data:
    """The judged pairs with the values of each proxy."""

    inputs: Inputs
    options: CalibrationOptions
    proxies: list[LoadedProxy]
    texts: TextPairs
    judged: JudgedTexts

    @cached_property
    def queries(self) -> IntArray:
        return self.texts.space.queries(self.judged.codes)

    @cached_property
    def labelled(self) -> Labelled:
        clusters = self.inputs.clusters(self.options["unit"])
        of_pairs = self.queries if clusters is None else clusters[self.queries]
        ranked = self.texts.space.videos(self.judged.codes)
        both = self.options["unit"] == BOTH_SIDES
        return Labelled.of(self.judged.relevant, of_pairs, ranked if both else None)

    @cached_property
    def values(self) -> list[Values]:
        """The values of each proxy for the judged pairs."""
        return [self.values_at(proxy, self.judged.codes) for proxy in self.proxies]

    @cached_property
    def thresholds(self) -> list[float]:
        own = self.options["threshold"]
        found = thresholds_of(self.options["step"])
        return found if own is None else sorted({*found, own})

    def values_at(self, proxy: LoadedProxy, codes: IntArray) -> Values:
        queries, videos = self.texts.space.decode(codes)
        return np.asarray(proxy.values[queries, videos])

    def rng(self) -> np.random.Generator:
        return np.random.default_rng(self.options["seed"])


def _compute(inputs: Inputs, options: CalibrationOptions, progress: Progress) -> CalibrationResult:
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
    own = options["threshold"]
    found = calibrate(
        data.values,
        labelled,
        data.thresholds if own is None else [own],
        options["resamples"],
        rng=data.rng(),
        confidence=options["confidence"],
        progress=progress,
    )
    chosen = [one.curve[one.best].threshold for one in found]
    progress(0, None, "scoring runs")
    scores = _scores(data, chosen)
    return {
        "confidence": options["confidence"],
        "unit": options["unit"],
        "units": labelled.n_clusters,
        "pairs": len(labelled),
        "relevant": labelled.n_relevant,
        "known": len(texts.known),
        "conflicted": len(data.judged.conflicted),
        "pending": len(data.judged.pending),
        **_among_people(inputs),
        "is_given": own is not None,
        "rows": [_proxy_row(*pair) for pair in zip(data.proxies, found, strict=True)],
        "curve": [
            row
            for proxy, values in zip(data.proxies, data.values, strict=True)
            for row in _curve(data, proxy, values)
        ],
        "lengths": _lengths(data, chosen),
        "grades": _grades(data),
        "scores": scores,
        "orders": _orders(scores),
    }


def _proxy_row(proxy: LoadedProxy, found: Calibration) -> ProxyRow:
    point = found.curve[found.best]
    return {
        "proxy": proxy.name,
        "method": proxy.proxy.method,
        "auc": found.auc.value,
        "auc_interval": found.auc.interval.ends,
        "ap": found.average_precision.value,
        "ap_interval": found.average_precision.interval.ends,
        "threshold": point.threshold,
        "threshold_interval": found.threshold_interval.ends,
        **_shares(point),
        "f1": point.f1,
        "alpha": point.alpha,
        "fitted_alpha": found.fitted_alpha.value,
        "fitted_alpha_interval": found.fitted_alpha.interval.ends,
        "agreement": found.fitted_agreement.value,
        "agreement_interval": found.fitted_agreement.interval.ends,
        "difference": found.difference.value or 0.0,
        "difference_interval": found.difference.interval.ends,
    }


def _among_people(inputs: Inputs) -> AmongPeople:
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
    curve = curve_of(values, data.labelled, data.thresholds, data.options["confidence"])
    reaching = _count_reaching(data, proxy, data.thresholds)
    return [
        {
            "proxy": proxy.name,
            "threshold": point.threshold,
            "called": point.called,
            "correct": point.correct,
            **_shares(point),
            "f1": point.f1,
            "alpha": point.alpha,
            "pairs": pairs,
            "unjudged": 1 - point.called / pairs if pairs else None,
        }
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
    bins = cut_by_quantiles(data.inputs.caption_lengths[data.queries], data.options["bins"])
    rows: list[LengthRow] = []
    for number, name in enumerate(bins.names):
        is_in = bins.groups == number
        part = data.labelled.part(is_in)
        for proxy, values, threshold in zip(data.proxies, data.values, chosen, strict=True):
            rows.append(
                {
                    "proxy": proxy.name,
                    "words": name,
                    "pairs": len(part),
                    "relevant": part.n_relevant,
                    "units": part.n_clusters,
                    **_ranking_figures(data, values[is_in], part),
                    **_shares_at(values[is_in], part, threshold, data.options["confidence"]),
                }
            )
    return rows


def _ranking_figures(data: _Data, values: Values, part: Labelled) -> RankingFigures:
    """Return AUC and AP of some pairs, if they are defined."""
    if part.undefined_reason or part.n_clusters < 2:
        return {"auc": None, "auc_interval": None, "ap": None, "ap_interval": None}
    confidence = data.options["confidence"]
    resamples = data.options["resamples"]
    (found,) = calibrate([values], part, (1.0,), resamples, rng=data.rng(), confidence=confidence)
    return {
        "auc": found.auc.value,
        "auc_interval": found.auc.interval.ends,
        "ap": found.average_precision.value,
        "ap_interval": found.average_precision.interval.ends,
    }


def _shares_at(values: Values, part: Labelled, threshold: float, confidence: float) -> SharesAt:
    (point,) = curve_of(values, part, (threshold,), confidence)
    return _shares(point)


def _shares(point: CurvePoint) -> SharesAt:
    return {
        "precision": point.precision.value,
        "precision_interval": point.precision.interval.ends,
        "recall": point.recall.value,
        "recall_interval": point.recall.interval.ends,
    }


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
                rows.append(
                    {
                        "proxy": proxy.name,
                        "label": name,
                        "pairs": len(codes),
                        "mean": float(values.mean()),
                        "median": middle,
                        "quartiles": [low, high],
                    }
                )
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
    inputs, options = data.inputs, data.options
    if not inputs.runs:
        return []
    by_people = inputs.values_of(inputs.judged, options["measures"])
    by_original = inputs.values_of(inputs.original, options["measures"])
    rows: list[ScoreRow] = []
    for proxy, threshold in zip(data.proxies, chosen, strict=True):
        by_proxy = inputs.values_of(_called_relevant(data, proxy, threshold), options["measures"])
        for measure, runs in by_proxy.items():
            for run, values in runs.items():
                people = by_people[measure][run]
                rows.append(
                    {
                        "proxy": proxy.name,
                        "run": run,
                        "measure": measure,
                        "original": float(by_original[measure][run].mean()),
                        "by_proxy": float(values.mean()),
                        "by_people": float(people.mean()),
                        "difference": float((values - people).mean()),
                        "interval": _difference_interval(data, values, people),
                    }
                )
    return rows


def _difference_interval(data: _Data, values: FloatArray, people: FloatArray) -> list[float] | None:
    options = data.options
    return difference_interval(
        values,
        people,
        options["resamples"],
        rng=data.rng(),
        confidence=options["confidence"],
        clusters=data.inputs.clusters(options["unit"]),
    ).ends


def _orders(scores: Sequence[ScoreRow]) -> list[OrderRow]:
    """Return how well the order of the runs by each proxy agrees with that by people."""
    groups: dict[tuple[str, str], list[ScoreRow]] = {}
    for row in scores:
        groups.setdefault((row["proxy"], row["measure"]), []).append(row)
    found: list[OrderRow] = []
    for (proxy, measure), rows in groups.items():
        differences = np.array([row["difference"] for row in rows])
        order = kendall_tau_b([row["by_proxy"] for row in rows], [row["by_people"] for row in rows])
        found.append(
            {
                "proxy": proxy,
                "measure": measure,
                "runs": len(rows),
                "tau": order.value,
                "mean": float(differences.mean()),
                "lowest": float(differences.min()),
                "highest": float(differences.max()),
            }
        )
    return found


PROXY_CALIBRATION = Analysis(
    name="proxy-calibration",
    title="Proxies against people",
    question="Which proxy agrees best with people, at which threshold, and how would it score the "
    "runs?",
    form=CalibrationForm,
    compute=_compute,
    tables=layout.tables,
    charts=layout.charts,
    findings=layout.findings,
    warnings=layout.warnings,
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
