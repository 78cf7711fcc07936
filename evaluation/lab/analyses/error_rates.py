"""Error rates of labels: estimated from labels or control pairs, or entered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from evaluation.core.arrays import IntArray
from evaluation.core.people import label_rates
from evaluation.core.relevance import noisy_labels
from evaluation.core.relevance.label_noise import Resamples
from evaluation.lab.analyses import options
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.rows import Ends, Interval, Score, Shown, row_of
from evaluation.lab.selectors import gold_answers
from hearth.shared.options import Option

DOUBLE, GOLD, ANNOTATORS, TYPED = "double", "gold", "dawid-skene", "typed"
SOURCES = {
    DOUBLE: "Pairs with several labels",
    GOLD: "Control pairs",
    ANNOTATORS: "Dawid and Skene, by annotator",
    TYPED: "Entered rates",
}
AUTO = "auto"
# `AUTO` uses the first source that has an estimate.
PREFERENCE = (DOUBLE, GOLD)


@dataclass(frozen=True, slots=True, kw_only=True)
class RatesOptions(options.Resampling):
    """The source of the error rates, and entered rates in %.

    rates: Best source: pairs with several labels if their labels give an estimate, else control
        pairs.
    false_alarms: Share of labels “relevant” among the labels of pairs that are not relevant. Only
        for “Entered rates”.
    misses: Share of labels “not relevant” among the labels of relevant pairs. Only for “Entered
        rates”.
    """

    rates: Annotated[str, Option("Error rates from", choices={AUTO: "best source", **SOURCES})] = (
        AUTO
    )
    false_alarms: Annotated[float | None, Option("False alarms (%)", low=0, high=49)] = None
    misses: Annotated[float | None, Option("Misses (%)", low=0, high=49)] = None
    resamples: options.NumberOfResamples = 1000


@dataclass(frozen=True, slots=True)
class RatesRow:
    """The error rates of one source.

    source: `double`, `gold`, `dawid-skene` or `typed`
    used: whether the correction uses them
    alone: null if not distinguished
    beside: null if not distinguished
    """

    source: str
    used: bool
    false_alarm: Annotated[Score, Shown("False alarms, %", "percent")]
    false_alarm_interval: Interval
    alone: Annotated[Score, Shown("If isolated, %", "percent")]
    beside: Annotated[Score, Shown("If not isolated, %", "percent")]
    miss: Annotated[Score, Shown("Misses, %", "percent")]
    miss_interval: Interval
    prevalence: Annotated[Score, Shown("Truly relevant, %", "percent")]
    pairs: Annotated[int, Shown("Pairs or answers", "count")]
    disagreements: Annotated[int, Shown("Differing or wrong labels", "count")]
    undefined: Annotated[
        str | None, Shown("Reason for no estimate", write=lambda reason: reason or "")
    ]

    @property
    def source_used(self) -> Annotated[str, Shown("Estimated from", key="source")]:
        return SOURCES[self.source] + (", used here" if self.used else "")


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """Error rates by source.

    used: the source that the correction uses; None if no requested source has rates.
    """

    by_source: Mapping[str, label_rates.RatesEstimate]
    annotators: noisy_labels.AnnotatorRates | None
    used: str | None

    @property
    def used_rates(self) -> label_rates.ErrorRates | None:
        """The rates that the correction uses."""
        return None if self.used is None else self.by_source[self.used].rates

    @property
    def own(self) -> noisy_labels.AnnotatorRates | None:
        """Return the rates of each annotator if the correction uses them."""
        return self.annotators if self.used == ANNOTATORS else None


def estimate_rates(
    inputs: Inputs,
    labels: noisy_labels.NoisyLabels,
    strata: IntArray,
    resamples: Resamples,
    options: RatesOptions,
) -> Estimates:
    """Return the error rates of all sources, or only the entered rates if the options have them.

    strata: int64 [n_pairs], the stratum of each pair of `labels`.
    """
    number = options.resamples
    false_alarms, misses = options.false_alarms, options.misses
    if false_alarms is not None and misses is not None:
        rates = label_rates.typed_rates(false_alarms / 100, misses / 100, number)
        return Estimates({TYPED: rates}, None, TYPED)
    of_pairs = resamples.clusters[labels.space.queries(labels.codes)]
    table = labels.table(strata, of_pairs, resamples.n_clusters)
    by_labels = label_rates.rates_from_labels(table, resamples.sums(table.counts))
    people = inputs.judgments.annotators
    answers = gold_answers(inputs.benchmark, np.unique(people))
    rng = np.random.default_rng(options.seed)
    own = noisy_labels.annotator_rates(labels.each) if labels.each else "no labels"
    by_annotator = (
        label_rates.RatesEstimate(None, None, np.empty((0, 2)), 0, 0, own)
        if isinstance(own, str)
        else noisy_labels.estimate_of_annotators(own, by_labels)
    )
    found = {
        DOUBLE: by_labels,
        GOLD: label_rates.rates_from_gold(*answers, number, rng=rng),
        ANNOTATORS: by_annotator,
    }
    wanted = PREFERENCE if options.rates == AUTO else (options.rates,)
    used = next((source for source in wanted if found[source].rates is not None), None)
    return Estimates(found, None if isinstance(own, str) else own, used)


def rates_row(
    source: str, estimate: label_rates.RatesEstimate, used: str | None, confidence: float
) -> RatesRow:
    rates = estimate.rates
    return row_of(
        RatesRow,
        estimate,
        source=source,
        used=source == used,
        false_alarm=None if rates is None else rates.false_alarm,
        false_alarm_interval=ends_of(estimate.interval(0, confidence)),
        alone=None if rates is None else rates.isolated,
        beside=None if rates is None else rates.not_isolated,
        miss=None if rates is None else rates.miss,
        miss_interval=ends_of(estimate.interval(1, confidence)),
    )


def ends_of(interval: tuple[float, float] | None) -> Ends | None:
    return None if interval is None else list(interval)
