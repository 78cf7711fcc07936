"""Scores corrected for wrong labels, and the error rates that the labels show."""

from __future__ import annotations

from typing import Any

import numpy as np
from django import forms

from annotation.selectors.campaigns import confirming_campaigns
from evaluation.core.arrays import IntArray, dense_groups
from evaluation.core.relevance.corrected_scores import CORRECTABLE
from evaluation.core.relevance.deciding import Confirmation, expect_confirmation
from evaluation.core.relevance.label_noise import NoisyScore, Resamples, correct_scores
from evaluation.core.relevance.measures import Measure, parse_measure
from evaluation.core.relevance.noisy_labels import (
    NoisyLabels,
    best_ranks,
    rank_strata,
)
from evaluation.core.relevance.scoring import score_run
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.error_rates import (
    AUTO,
    Estimates,
    RatesOptions,
    ends_of,
    estimate_rates,
    rates_row,
)
from evaluation.lab.analyses.fields import (
    MeasuresField,
    confidence_field,
    resamples_field,
    resampling_unit_field,
    seed_field,
)
from evaluation.lab.analyses.forms import AnalysisForm
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.intervals import resampled_by
from evaluation.lab.analyses.layouts.label_noise import (
    SOURCES,
    TYPED,
    NoiseResult,
    NoiseRow,
    RawRow,
    SolePositivesRow,
    StratumRow,
    noise_charts,
    noise_tables,
    noise_warnings,
)
from evaluation.lab.analyses.noise import LabelNoise, corrected_bounds, sharing_of
from evaluation.lab.analyses.results import Ends, mean_of
from evaluation.lab.selectors import noisy_labels
from evaluation.release.selectors import judgments_of_captions, label_set_labels
from hearth.shared.progress import Progress

STRATA = (
    "Rank 1 in a run",
    "Best rank 2 or 3",
    "Best rank 4 to 10",
    "Deeper or in no run",
    "Original positives",
)


class LabelNoiseForm(AnalysisForm):
    measures = MeasuresField(
        initial="C@1 C@5 C@10 P@10 AP AP(found)",
        shares=True,
        help_text="C@k, P@k, R@k, RR, AP, AP(found) or nDCG, separated by spaces. AP(found) "
        "divides by the number of positives in the list instead of all known positives.",
    )
    rates = forms.ChoiceField(
        label="Error rates from",
        initial=AUTO,
        choices=[(AUTO, "best source"), *SOURCES.items()],
        help_text="Best source: pairs with several labels if their labels give an estimate, "
        "else control pairs.",
    )
    false_alarms = forms.FloatField(
        label="False alarms (%)",
        required=False,
        min_value=0,
        max_value=49,
        help_text="Share of labels “relevant” among the labels of pairs that are not relevant. "
        "Only for “Entered rates”.",
    )
    misses = forms.FloatField(
        label="Misses (%)",
        required=False,
        min_value=0,
        max_value=49,
        help_text="Share of labels “not relevant” among the labels of relevant pairs. Only for "
        "“Entered rates”.",
    )
    unit = resampling_unit_field()
    confidence = confidence_field()
    resamples = resamples_field(1000)
    seed = seed_field()

    def clean_measures(self) -> list[str]:
        names: list[str] = self.cleaned_data["measures"]
        for name in names:
            if parse_measure(name).name not in CORRECTABLE:
                raise forms.ValidationError(f"{name} cannot be corrected for label noise.")
        return names

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        entered = [cleaned.get(name) is not None for name in ("false_alarms", "misses")]
        if cleaned.get("rates") == TYPED and not all(entered):
            self.add_error("rates", "Enter both false alarms and misses for “Entered rates”.")
        if cleaned.get("rates") != TYPED and any(entered):
            self.add_error("rates", "Choose “Entered rates” to use the rates that you entered.")
        return cleaned


class LabelNoiseOptions(RatesOptions):
    measures: list[str]


def _compute(inputs: Inputs, options: LabelNoiseOptions, progress: Progress) -> NoiseResult:
    assert inputs.label_set is not None  # noqa: S101 - checked by the analysis
    progress(0, 4, "reading judgments")
    labels = noisy_labels(
        label_set_labels(inputs.label_set),
        inputs.judgments,
        inputs.counted_originals,
        confirming=confirming_campaigns(inputs.benchmark),
        everywhere=judgments_of_captions(inputs.benchmark, inputs.judgments),
    )
    progress(1, 4, "error rates")
    clusters = _clusters(inputs, options["unit"])
    resamples = Resamples(clusters, options["resamples"], options["seed"])
    ranks = best_ranks(inputs.ranked.values(), labels.codes, inputs.benchmark.n_videos)
    strata, n_strata = rank_strata(labels.codes, ranks, inputs.original)
    estimates = estimate_rates(inputs, labels, strata, resamples, options)
    progress(2, 4, "correcting scores")
    measures = [parse_measure(name) for name in options["measures"]]
    return {
        "confidence": options["confidence"],
        **resampled_by(inputs, options["unit"]),
        "used": estimates.used,
        "annotators": len(np.unique(labels.each.annotators)) if labels.each else 0,
        "left_out": int((labels.n_all_labels - labels.n_labels).sum()),
        "rates": [
            rates_row(source, estimate, estimates.used, options["confidence"])
            for source, estimate in estimates.by_source.items()
        ],
        "scores": _scores(inputs, labels, estimates, measures, resamples, options["confidence"]),
        "raw": _raw_scores(inputs, measures, resamples, options["confidence"]),
        "labels": _strata_rows(labels, strata, n_strata, estimates),
        "deciding": _sole_positives(inputs, labels, estimates, measures),
    }


def _clusters(inputs: Inputs, unit: str) -> IntArray:
    """Return the cluster of each query, numbered without gaps, int64 [n_queries]."""
    n_queries = inputs.benchmark.n_queries
    clusters = inputs.clusters(unit)
    return dense_groups(np.arange(n_queries) if clusters is None else clusters, n_queries)


def _scores(
    inputs: Inputs,
    labels: NoisyLabels,
    estimates: Estimates,
    measures: list[Measure],
    resamples: Resamples,
    confidence: float,
) -> list[NoiseRow]:
    """Return raw and corrected scores, or no rows if the error rates are unknown."""
    if estimates.used is None:
        return []
    rows = correct_scores(
        inputs.ranked,
        inputs.judged,
        labels.codes,
        lambda rates: labels.relevance(rates, estimates.own),
        measures,
        estimates.by_source[estimates.used],
        resamples,
        confidence=confidence,
        sharing=sharing_of(inputs, labels),
    )
    noise = LabelNoise(
        labels, estimates.by_source[estimates.used], resamples, sharing_of(inputs, labels)
    )
    bounds = {
        name: corrected_bounds(noise, ranked, measures, confidence)
        for name, ranked in inputs.ranked.items()
    }
    return [_score_row(row, bounds[row.run].get(row.measure)) for row in rows]


def _raw_scores(
    inputs: Inputs, measures: list[Measure], resamples: Resamples, confidence: float
) -> list[RawRow]:
    return [
        {
            "run": run,
            "measure": str(measure),
            "raw": float(values.mean()),
            "raw_interval": ends_of(resamples.interval(values, confidence)),
        }
        for run, ranked in inputs.ranked.items()
        for measure, values in score_run(ranked, inputs.judged, measures).values.items()
    ]


def _score_row(row: NoisyScore, bounds: Ends | None) -> NoiseRow:
    return {
        "run": row.run,
        "measure": str(row.measure),
        "raw": row.raw,
        "raw_interval": ends_of(row.raw_interval),
        "corrected": row.corrected,
        "interval": ends_of(row.interval),
        "fixed_interval": list(row.fixed_interval),
        "bounds_corrected": bounds,
        "change": row.change,
        "change_interval": ends_of(row.change_interval),
    }


def _strata_rows(
    labels: NoisyLabels, strata: IntArray, n_strata: int, estimates: Estimates
) -> list[StratumRow]:
    """Return the shares of relevant pairs by stratum, without known original positives."""
    if estimates.used is None:
        return []
    rates = estimates.by_source[estimates.used].rates
    assert rates is not None  # noqa: S101 - a source that is used has rates
    chance, shares = labels.posterior(rates, strata, estimates.own)
    positive = labels.is_positive
    rows: list[StratumRow] = []
    for stratum in range(n_strata):
        own = (strata == stratum) & ~labels.is_known & (labels.n_labels > 0)
        if own.any():
            rows.append(
                {
                    "stratum": STRATA[stratum],
                    "pairs": int(own.sum()),
                    "labelled": float(positive[own].mean()),
                    "corrected": float(shares[stratum]),
                    "if_relevant": mean_of(chance[own & positive]),
                    "if_not": mean_of(chance[own & ~positive]),
                }
            )
    return rows


def _sole_positives(
    inputs: Inputs, labels: NoisyLabels, estimates: Estimates, measures: list[Measure]
) -> list[SolePositivesRow]:
    if estimates.used is None:
        return []
    rates = estimates.by_source[estimates.used].rates
    assert rates is not None  # noqa: S101 - a source that is used has rates
    return [
        _sole_positives_row(
            name, measure, expect_confirmation(ranked, inputs.judged, measure.cutoff, labels, rates)
        )
        for measure in measures
        if measure.name == "C" and measure.cutoff is not None
        for name, ranked in inputs.ranked.items()
    ]


def _sole_positives_row(name: str, measure: Measure, found: Confirmation) -> SolePositivesRow:
    return {
        "run": name,
        "measure": str(measure),
        "deciding": found.deciding,
        "to_confirm": found.to_confirm,
        "wrong": found.wrong,
        "score": found.score,
        "confirmed": found.confirmed,
    }


LABEL_NOISE = Analysis(
    name="label-noise",
    title="Wrong labels",
    question="How often are labels wrong, and what are the scores without their errors?",
    form=LabelNoiseForm,
    compute=_compute,
    tables=noise_tables,
    charts=noise_charts,
    warnings=noise_warnings,
    needs_labels=True,
    reads_judgments=True,
    notes=(
        "C@k counts a caption as correct if any of its top k videos is labelled relevant. A "
        "single false alarm makes a caption correct, so raw C@10 is too high even if few labels "
        "are wrong. Misses lower C@1 and P@k.",
        "The correction replaces each label by a number that is correct on average. For one label "
        "L (1: relevant, 0: not relevant) this is (L − f) / (1 − f − m), where f is the rate of "
        "false alarms and m the rate of misses. It makes no assumption about how often pairs are "
        "relevant, or how relevant pairs are distributed in a list. There is one rate of misses. "
        "If the rates come from pairs with several labels, there are two rates of false alarms: "
        "one for isolated pairs, whose caption has no other pair that is labelled relevant, and "
        "one for all other pairs. There are two rates because annotators seldom label a pair as "
        "relevant if no video matches its caption.",
        "The correction assumes equal rates: all labels with the same rate are wrong equally "
        "often, and independently. C@k and P@k depend little on this. AP, R@k and nDCG depend on "
        "it, because they divide by the number of positives, and false alarms gather at captions "
        "with many positives. One rate then subtracts too much where positives are few. In the "
        "demo, whose correct labels are known, raw AP is 1.8 points too low on average, AP "
        "corrected with a single rate 1.9 points too high, and with the two rates 1.2 points too "
        "high. A second label for every positive (“Request second labels” on the page of a run, "
        "or `confirm_positives --all`) brings raw AP within 0.7 points there, for 15 % more "
        "labels. A video that is not relevant may also be labelled relevant by mistake more often "
        "if a run ranks it first. The corrected C@1 of this run is then too high.",
        "There are two intervals. The interval for other captions is for statements about the "
        "systems. It resamples videos (or captions) with all their labels, and estimates the error "
        "rates again in each sample. It therefore covers the choice of captions, the errors of "
        "the labels and the uncertainty of the error rates. The interval for these captions is "
        "for statements about this benchmark as it is, such as its leaderboard: what would the "
        "score be if every label were correct? It covers only the errors of the labels and the "
        "uncertainty of the error rates, so it is narrower.",
        "Pairs with several labels: two annotators label the same pair independently. If their "
        "labels differ, a third annotator labels the pair, too. Such pairs give the rates of "
        "false alarms and of misses. Without third labels, an estimate is possible only if the "
        "share of relevant pairs differs between ranks. Errors that all annotators make in the "
        "same way are not detected.",
        "Control pairs: answers to pairs whose correct answer is known. Answers in training are "
        "left out.",
        "Dawid and Skene: each annotator has their own rates. If others labelled few of an "
        "annotator’s pairs, the rates are moved towards the average. The correction of scores uses "
        "average rates, which are enough because pairs are assigned to annotators at random.",
        "Original positives count as relevant, as in all scores, unless “Labels only” is "
        "selected. A lead’s ruling counts as correct. Unjudged pairs count as not relevant. Raw "
        "scores also count pairs in conflict and pending pairs as unjudged, but the correction "
        "uses the labels that they have.",
    ),
)
