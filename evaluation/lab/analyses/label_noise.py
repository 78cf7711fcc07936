"""Scores corrected for labels that may be wrong, with the error rates that the labels show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from django import forms

from annotation.selectors.campaigns import confirming_campaigns
from config.shared.progress import Progress
from evaluation.core.arrays import IntArray
from evaluation.core.people.label_rates import (
    RatesEstimate,
    rates_from_gold,
    rates_from_labels,
    typed_rates,
)
from evaluation.core.relevance.corrected_scores import CORRECTABLE
from evaluation.core.relevance.deciding import expect_confirmation
from evaluation.core.relevance.label_noise import NoisyScore, Resamples, correct_scores
from evaluation.core.relevance.measures import Measure, parse_measure
from evaluation.core.relevance.noisy_labels import (
    AnnotatorRates,
    NoisyLabels,
    annotator_rates,
    best_ranks,
    estimate_of_annotators,
    rank_strata,
)
from evaluation.core.statistics.resampling import dense_clusters
from evaluation.lab.analyses.base import (
    AnalysisForm,
    Inputs,
    Kind,
    MeasuresField,
    Result,
    confidence_field,
    mean_of,
    resamples_field,
    seed_field,
    unit_field,
)
from evaluation.lab.analyses.intervals import resampled_by
from evaluation.lab.analyses.noise_layout import (
    ANNOTATORS,
    DOUBLE,
    GOLD,
    SOURCES,
    TYPED,
    noise_charts,
    noise_tables,
    noise_warnings,
)
from evaluation.lab.selectors import gold_answers, noisy_labels
from evaluation.release.selectors import judgments_of_captions, label_set_labels

AUTO = "auto"
# `AUTO` uses the first source that has an estimate.
PREFERENCE = (DOUBLE, GOLD)
STRATA = (
    "Rank 1 in a run",
    "Best rank 2 or 3",
    "Best rank 4 to 10",
    "Deeper or in no run",
    "Original positives",
)


class LabelNoiseForm(AnalysisForm):
    measures = MeasuresField(
        initial="C@1 C@5 C@10 P@10 AP",
        shares=True,
        help_text="Separated by blanks: C@k, P@k, R@k, RR, AP, AP(found) or nDCG.",
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
        help_text="Share of the pairs that are not relevant but labelled relevant. Only for "
        "“Typed in”.",
    )
    misses = forms.FloatField(
        label="Misses (%)",
        required=False,
        min_value=0,
        max_value=49,
        help_text="Share of the relevant pairs that are labelled not relevant. Only for “Typed "
        "in”.",
    )
    unit = unit_field()
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
        given = [cleaned.get(name) is not None for name in ("false_alarms", "misses")]
        if cleaned.get("rates") == TYPED and not all(given):
            self.add_error("rates", "Enter both false alarms and misses for “Typed in”.")
        if cleaned.get("rates") != TYPED and any(given):
            self.add_error("rates", "Choose “Typed in” to use the rates that you entered.")
        return cleaned


@dataclass(frozen=True, slots=True, eq=False)
class _Estimates:
    """Error rates by source, and the source that the correction uses; None if no rate is known."""

    by_source: Mapping[str, RatesEstimate]
    annotators: AnnotatorRates | None
    used: str | None

    @property
    def own(self) -> AnnotatorRates | None:
        """Return the rates of each annotator if the correction uses them."""
        return self.annotators if self.used == ANNOTATORS else None


def _compute(inputs: Inputs, chosen: dict[str, Any], progress: Progress) -> Result:
    assert inputs.label_set is not None  # noqa: S101 - checked by the kind
    progress(0, 4, "reading judgments")
    labels = noisy_labels(
        label_set_labels(inputs.label_set),
        inputs.judgments,
        inputs.standing,
        confirming=confirming_campaigns(inputs.benchmark),
        everywhere=judgments_of_captions(inputs.benchmark, inputs.judgments),
    )
    progress(1, 4, "error rates")
    clusters = _clusters(inputs, chosen["unit"])
    resamples = Resamples(clusters, chosen["resamples"], chosen["seed"])
    ranks = best_ranks(inputs.ranked.values(), labels.codes, inputs.benchmark.n_videos)
    strata, n_strata = rank_strata(labels.codes, ranks, inputs.original)
    estimates = _estimate(inputs, labels, strata, resamples, chosen)
    progress(2, 4, "correcting scores")
    measures = [parse_measure(name) for name in chosen["measures"]]
    return {
        "confidence": chosen["confidence"],
        **resampled_by(inputs, chosen["unit"]),
        "used": estimates.used,
        "annotators": len(np.unique(labels.each.annotators)) if labels.each else 0,
        "left_out": int((labels.n_all_labels - labels.n_labels).sum()),
        "rates": [
            _rates_row(source, estimate, estimates.used, chosen["confidence"])
            for source, estimate in estimates.by_source.items()
        ],
        "scores": _scores(inputs, labels, estimates, measures, resamples, chosen["confidence"]),
        "labels": _strata_rows(labels, strata, n_strata, estimates),
        "deciding": _deciding(inputs, labels, estimates, measures),
    }


def _clusters(inputs: Inputs, unit: str) -> IntArray:
    """Return the cluster of each query, numbered without gaps, int64 [n_queries]."""
    n_queries = inputs.benchmark.n_queries
    clusters = inputs.clusters(unit)
    return dense_clusters(np.arange(n_queries) if clusters is None else clusters, n_queries)


def _estimate(
    inputs: Inputs,
    labels: NoisyLabels,
    strata: IntArray,
    resamples: Resamples,
    chosen: dict[str, Any],
) -> _Estimates:
    number = chosen["resamples"]
    if chosen["rates"] == TYPED:
        rates = (chosen["false_alarms"] / 100, chosen["misses"] / 100)
        return _Estimates({TYPED: typed_rates(*rates, number)}, None, TYPED)
    of_pairs = resamples.clusters[labels.space.queries(labels.codes)]
    table = labels.table(strata, of_pairs, resamples.n_clusters)
    by_labels = rates_from_labels(table, resamples.sums(table.counts))
    people = inputs.judgments.annotators
    answers = gold_answers(inputs.benchmark, np.unique(people))
    rng = np.random.default_rng(chosen["seed"])
    own = annotator_rates(labels.each) if labels.each else "no labels"
    by_annotator = (
        RatesEstimate(None, None, np.empty((0, 2)), 0, 0, own)
        if isinstance(own, str)
        else estimate_of_annotators(own, by_labels)
    )
    found = {
        DOUBLE: by_labels,
        GOLD: rates_from_gold(*answers, number, rng=rng),
        ANNOTATORS: by_annotator,
    }
    wanted = PREFERENCE if chosen["rates"] == AUTO else (chosen["rates"],)
    used = next((source for source in wanted if found[source].rates is not None), None)
    return _Estimates(found, None if isinstance(own, str) else own, used)


def _rates_row(source: str, estimate: RatesEstimate, used: str | None, confidence: float) -> Result:
    rates = estimate.rates
    return {
        "source": source,
        "used": source == used,
        "false_alarm": rates and rates.false_alarm,
        "false_alarm_interval": _ends(estimate.interval(0, confidence)),
        "alone": rates and rates.isolated,
        "beside": rates and rates.not_isolated,
        "miss": rates and rates.miss,
        "miss_interval": _ends(estimate.interval(1, confidence)),
        "prevalence": estimate.prevalence,
        "pairs": estimate.pairs,
        "disagreements": estimate.disagreements,
        "undefined": estimate.undefined,
    }


def _ends(interval: tuple[float, float] | None) -> list[float] | None:
    return None if interval is None else list(interval)


def _scores(
    inputs: Inputs,
    labels: NoisyLabels,
    estimates: _Estimates,
    measures: list[Measure],
    resamples: Resamples,
    confidence: float,
) -> list[Result]:
    """Return raw and corrected scores; nothing without error rates."""
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
    )
    return [_score_row(row) for row in rows]


def _score_row(row: NoisyScore) -> Result:
    return {
        **asdict(row),
        "measure": str(row.measure),
        "raw_interval": _ends(row.raw_interval),
        "interval": _ends(row.interval),
        "change_interval": _ends(row.change_interval),
    }


def _strata_rows(
    labels: NoisyLabels, strata: IntArray, n_strata: int, estimates: _Estimates
) -> list[Result]:
    """Return the chances of being relevant at different ranks, without known pairs."""
    if estimates.used is None:
        return []
    rates = estimates.by_source[estimates.used].rates
    assert rates is not None  # noqa: S101 - a source that is used has rates
    chance, shares = labels.posterior(rates, strata, estimates.own)
    positive, rows = labels.is_positive, []
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


def _deciding(
    inputs: Inputs, labels: NoisyLabels, estimates: _Estimates, measures: list[Measure]
) -> list[Result]:
    if estimates.used is None:
        return []
    rates = estimates.by_source[estimates.used].rates
    assert rates is not None  # noqa: S101 - a source that is used has rates
    return [
        {
            "run": name,
            "measure": str(measure),
            **asdict(expect_confirmation(ranked, inputs.judged, measure.cutoff, labels, rates)),
        }
        for measure in measures
        if measure.name == "C" and measure.cutoff is not None
        for name, ranked in inputs.ranked.items()
    ]


LABEL_NOISE = Kind(
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
        "C@k counts a caption as correct if any of k labels is relevant. A single false alarm "
        "makes a caption correct, so raw C@10 is too high even if few labels are wrong. Misses "
        "lower C@1 and P@k.",
        "The correction replaces each label by a number that is right on average. For one label L "
        "this is (L − f) / (1 − f − m), where f is the rate of false alarms and m the rate of "
        "misses. It makes no assumption on how often pairs are relevant, or on how relevant pairs "
        "gather in a list. There is one rate of misses. There are two rates of false alarms if "
        "they come from pairs with several labels, because people seldom make this error for a "
        "caption that no video matches. Within these groups the correction assumes that labels err "
        "independently and equally often. If the wrong videos of a run are harder to recognise "
        "than others, its C@1 stays too high. If false alarms gather at few captions, AP and nDCG "
        "may be corrected too much.",
        "The interval resamples videos (or captions) with all their labels, and estimates the "
        "error rates again in each sample. So it covers the choice of captions, the errors of the "
        "labels and the uncertainty of the error rates.",
        "Pairs with several labels: two people label the same pair without seeing each other’s "
        "answer. A third person labels it if they differ. This gives both rates. Without third "
        "labels, pairs at different ranks must differ in how often they are relevant. Errors that "
        "all people make in the same way are not found.",
        "Control pairs: answers to pairs whose truth is known. Answers in training are left out.",
        "Dawid and Skene: each annotator has their own rates. The rates of annotators with few "
        "shared pairs are drawn towards the average. As annotators share the pairs at random, "
        "average rates are enough for scores.",
        "Original positives count as relevant, as in all scores, unless the labels stand alone. "
        "A lead’s ruling counts as the truth. Unjudged pairs count as not relevant. A pair that is "
        "in conflict or pending counts by the labels that it has.",
    ),
)
