"""Error rates of labels: estimated from labels or control pairs, or entered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evaluation.core.arrays import IntArray
from evaluation.core.people.label_rates import (
    RatesEstimate,
    rates_from_gold,
    rates_from_labels,
    typed_rates,
)
from evaluation.core.relevance.label_noise import Resamples
from evaluation.core.relevance.noisy_labels import (
    AnnotatorRates,
    NoisyLabels,
    annotator_rates,
    estimate_of_annotators,
)
from evaluation.lab.analyses.fields import ResamplingOptions
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.layouts.label_noise import (
    ANNOTATORS,
    DOUBLE,
    GOLD,
    TYPED,
    RatesRow,
)
from evaluation.lab.analyses.results import Ends
from evaluation.lab.selectors import gold_answers

AUTO = "auto"
# `AUTO` uses the first source that has an estimate.
PREFERENCE = (DOUBLE, GOLD)


class RatesOptions(ResamplingOptions):
    """rates: the source of the error rates. false_alarms, misses: entered rates in %."""

    rates: str
    false_alarms: float | None
    misses: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """Error rates by source.

    used: the source that the correction uses; None if no requested source has rates.
    """

    by_source: Mapping[str, RatesEstimate]
    annotators: AnnotatorRates | None
    used: str | None

    @property
    def own(self) -> AnnotatorRates | None:
        """Return the rates of each annotator if the correction uses them."""
        return self.annotators if self.used == ANNOTATORS else None


def estimate_rates(
    inputs: Inputs,
    labels: NoisyLabels,
    strata: IntArray,
    resamples: Resamples,
    options: RatesOptions,
) -> Estimates:
    """Return the error rates of all sources, or only the entered rates if the options have them.

    strata: int64 [n_pairs], the stratum of each pair of `labels`.
    """
    number = options["resamples"]
    false_alarms, misses = options["false_alarms"], options["misses"]
    if false_alarms is not None and misses is not None:
        rates = typed_rates(false_alarms / 100, misses / 100, number)
        return Estimates({TYPED: rates}, None, TYPED)
    of_pairs = resamples.clusters[labels.space.queries(labels.codes)]
    table = labels.table(strata, of_pairs, resamples.n_clusters)
    by_labels = rates_from_labels(table, resamples.sums(table.counts))
    people = inputs.judgments.annotators
    answers = gold_answers(inputs.benchmark, np.unique(people))
    rng = np.random.default_rng(options["seed"])
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
    wanted = PREFERENCE if options["rates"] == AUTO else (options["rates"],)
    used = next((source for source in wanted if found[source].rates is not None), None)
    return Estimates(found, None if isinstance(own, str) else own, used)


def rates_row(
    source: str, estimate: RatesEstimate, used: str | None, confidence: float
) -> RatesRow:
    rates = estimate.rates
    return {
        "source": source,
        "used": source == used,
        "false_alarm": None if rates is None else rates.false_alarm,
        "false_alarm_interval": ends_of(estimate.interval(0, confidence)),
        "alone": None if rates is None else rates.isolated,
        "beside": None if rates is None else rates.not_isolated,
        "miss": None if rates is None else rates.miss,
        "miss_interval": ends_of(estimate.interval(1, confidence)),
        "prevalence": estimate.prevalence,
        "pairs": estimate.pairs,
        "disagreements": estimate.disagreements,
        "undefined": estimate.undefined,
    }


def ends_of(interval: tuple[float, float] | None) -> Ends | None:
    return None if interval is None else list(interval)
