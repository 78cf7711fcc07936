"""Scores corrected for wrong labels, and the error rates that the labels show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from annotation.selectors.campaigns import confirming_campaigns
from evaluation.core.arrays import FloatArray, IntArray, dense_groups
from evaluation.core.relevance.corrected_scores import is_correctable
from evaluation.core.relevance.deciding import expect_confirmation
from evaluation.core.relevance.label_noise import Resamples, correct_scores
from evaluation.core.relevance.measures import Measure, parse_measure
from evaluation.core.relevance.noisy_labels import (
    NoisyLabels,
    best_ranks,
    rank_strata,
)
from evaluation.core.relevance.scoring import score_run
from evaluation.lab.analyses import charts, error_rates, options, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.error_rates import ANNOTATORS, DOUBLE, GOLD, TYPED, Estimates, RatesRow
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.intervals import resampled_by
from evaluation.lab.analyses.noise import LabelNoise, corrected_bounds, sharing_of
from evaluation.lab.analyses.results import Tabled
from evaluation.lab.analyses.rows import (
    Ends,
    Interval,
    MeasureName,
    PointsInterval,
    Run,
    Score,
    Shown,
    mean_of,
    row_of,
)
from evaluation.lab.selectors import noisy_labels
from evaluation.release.selectors import judgments_of_captions, label_set_labels
from hearth.shared.errors import InvalidInput
from hearth.shared.options import OptionFault
from hearth.shared.progress import Progress
from hearth.shared.words import counted

STRATA = (
    "Rank 1 in a run",
    "Best rank 2 or 3",
    "Best rank 4 to 10",
    "Deeper or in no run",
    "Original positives",
)
# With fewer pairs whose labels differ, the rates are very uncertain.
FEW_DISAGREEMENTS = 50
# With a larger share of false alarms, a corrected C@10 varies several times as much as the raw one.
MANY_FALSE_ALARMS = 0.1
BOTH_INTERVALS = (
    "The interval for other captions is for statements about systems. The interval for these "
    "captions is for statements about this benchmark, such as the order on its leaderboard: it "
    "covers wrong labels only. Corrected AP, R@k and nDCG assume that all labels are wrong equally "
    "often. They are usually too high; second labels for all positives are better."
)


def _parse_measures(text: str) -> list[str]:
    names = options.parse_measures(text, shares=True)
    for name in names:
        if not is_correctable(parse_measure(name)):
            raise InvalidInput(f"{name} cannot be corrected for label noise.")
    return names


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(error_rates.RatesOptions):
    """Options of the analysis.

    measures: C@k, P@k, R@k, RR, AP, AP(found) or nDCG, separated by spaces. AP(found) divides by
        the number of positives in the list instead of all known positives.
    """

    measures: Annotated[options.Measures, options.Parsed(_parse_measures)] = (
        "C@1",
        "C@5",
        "C@10",
        "P@10",
        "AP",
        "AP(found)",
    )

    def check(self) -> None:
        entered = [rate is not None for rate in (self.false_alarms, self.misses)]
        if self.rates == TYPED and not all(entered):
            reason = "Enter both false alarms and misses for “Entered rates”."
            raise OptionFault("rates", reason)
        if self.rates != TYPED and any(entered):
            reason = "Choose “Entered rates” to use the rates that you entered."
            raise OptionFault("rates", reason)


@dataclass(frozen=True, slots=True)
class RawRow:
    """A raw score with its interval for other captions."""

    run: Run
    measure: MeasureName
    raw: Annotated[float, Shown("Raw, %", "percent")]
    raw_interval: Annotated[Interval, Shown("{interval}, sampling only", "percent")]


@dataclass(frozen=True, slots=True)
class NoiseRow(RawRow):
    """A raw and a corrected score.

    bounds_corrected: the bounds over the listed pairs, allowing for wrong labels, as in the
        analysis `bounds`; null if the measure has none
    """

    corrected: Annotated[float, Shown("Corrected, %", "percent")]
    interval: Annotated[Interval, Shown("{interval}, other captions", "percent")]
    fixed_interval: Annotated[Interval, Shown("{interval}, these captions", "percent")]
    bounds_corrected: Ends | None
    change: Annotated[float, Shown("Raw minus corrected", "points")]
    change_interval: PointsInterval


@dataclass(frozen=True, slots=True)
class StratumRow:
    """The pairs of one stratum; a share is null if there are no such pairs."""

    stratum: Annotated[str, Shown("Pairs")]
    pairs: Annotated[int, Shown("Judged", "count")]
    labelled: Annotated[float, Shown("Labelled relevant, %", "percent")]
    corrected: Annotated[float, Shown("Truly relevant (estimate), %", "percent")]
    if_relevant: Annotated[Score, Shown("Truly relevant if labelled relevant, %", "percent")]
    if_not: Annotated[Score, Shown("Truly relevant if labelled not relevant, %", "percent")]


@dataclass(frozen=True, slots=True)
class SolePositivesRow:
    """The expected effect of second labels, as in `core.relevance.deciding.Confirmation`."""

    run: Run
    measure: MeasureName
    deciding: Annotated[int, Shown("Sole positives", "count")]
    to_confirm: Annotated[int, Shown("Sole positives with one label", "count")]
    wrong: Annotated[float, Shown("Of these, wrong (estimate)", "count", write=round)]
    score: Annotated[float, Shown("Raw, %", "percent")]
    confirmed: Annotated[float, Shown("Expected after confirmation, %", "percent")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(results.WithIntervals):
    """Scores that are corrected for wrong labels.

    used: the source of the error rates; null if no requested source has an estimate
    left_out: number of labels that the correction does not use
    raw: the raw scores, even if the error rates are unknown
    """

    used: str | None
    annotators: int
    left_out: int
    scores: Annotated[list[NoiseRow], Tabled("scores", "Raw and corrected scores", BOTH_INTERVALS)]
    rates: Annotated[
        list[RatesRow],
        Tabled(
            "rates",
            "Error rates of one label",
            "False alarms are “relevant” labels of pairs that are not relevant. Misses are “not "
            "relevant” labels of relevant pairs. A pair is isolated if no other pair of its "
            "caption is labelled relevant.",
            columns="source_used false_alarm false_alarm_interval alone beside miss miss_interval "
            "prevalence pairs disagreements undefined",
        ),
    ]
    raw: list[RawRow]
    labels: Annotated[
        list[StratumRow],
        Tabled(
            "labels",
            "Reliability of the labels",
            "Original positives are left out if they count as relevant.",
        ),
    ]
    deciding: Annotated[
        list[SolePositivesRow],
        Tabled(
            "deciding",
            "Sole positives",
            "If the top k of a caption contains a single positive, C@k depends on its label. A "
            "second label of each sole positive, and a third label if the two differ, corrects "
            "most of the wrong labels (“confirmation”).",
        ),
    ]

    def charts(self) -> list[charts.Chart]:
        if not self.scores:
            return []
        kinds = {"raw": "Raw", "corrected": "Corrected"}
        intervals = {"raw": "raw_interval", "corrected": "interval"}
        rows = charts.melt(self.scores, "run measure", kinds, "score", "labels", intervals)
        kind = charts.name_of("labels", order=[*kinds.values()])
        return [
            charts.Chart(
                "scores",
                "Raw and corrected scores with their intervals",
                "Each measure has two dots for each run: the raw and the corrected score. Each "
                "dot is on a line that shows its interval.",
                charts.dots_by_measure(
                    rows,
                    charts.score_axis(tickCount=5),
                    18,
                    yOffset=charts.offset(kind),
                    color=kind,
                ),
            )
        ]

    def warnings(self) -> list[str]:
        used = next((row for row in self.rates if row.used), None)
        if used is None:
            reasons = "; ".join(
                f"{error_rates.SOURCES[row.source]}: {row.undefined}"
                for row in self.rates
                if row.undefined
            )
            return [
                "No score is corrected, because the error rates are unknown "
                f"({reasons}). Enter them in the settings."
            ]
        found = []
        if used.source == TYPED:
            found.append(
                "The error rates were entered. The intervals do not cover errors in these rates."
            )
        if used.source in (DOUBLE, ANNOTATORS) and used.disagreements < FEW_DISAGREEMENTS:
            found.append(
                f"The error rates are based on only {counted(used.disagreements, 'pair')} with "
                "differing labels. Label more pairs twice."
            )
        if used.source == GOLD:
            found.append(
                "The error rates are those of control pairs. A lead selected these pairs, so other "
                "pairs may be easier or harder."
            )
        if self.annotators == 1:
            found.append(
                "All labels are from one annotator. The systematic errors of this annotator are "
                "not detected."
            )
        if (alarms := used.false_alarm or 0) > MANY_FALSE_ALARMS:
            found.append(
                f"With {100 * alarms:.0f} % false alarms, corrected scores are very uncertain."
            )
        if self.left_out:
            found.append(
                f"The correction leaves out {counted(self.left_out, 'label')}, because earlier "
                "labels were the reason to request them. Raw scores use them."
            )
        return found + self.few_units_warnings()


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
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
    clusters = _clusters(inputs, options.unit)
    resamples = Resamples(clusters, options.resamples, options.seed)
    ranks = best_ranks(inputs.ranked.values(), labels.codes)
    strata, n_strata = rank_strata(labels.codes, ranks, inputs.original)
    estimates = error_rates.estimate_rates(inputs, labels, strata, resamples, options)
    progress(2, 4, "correcting scores")
    measures = [parse_measure(name) for name in options.measures]
    confidence = options.confidence
    return Result(
        confidence=confidence,
        **resampled_by(inputs, options.unit),
        used=estimates.used,
        annotators=len(np.unique(labels.each.annotators)) if labels.each else 0,
        left_out=int((labels.n_all_labels - labels.n_labels).sum()),
        rates=[
            error_rates.rates_row(source, estimate, estimates.used, confidence)
            for source, estimate in estimates.by_source.items()
        ],
        scores=_scores(inputs, labels, estimates, measures, resamples, confidence),
        raw=[
            RawRow(
                run, str(measure), float(values.mean()), _interval(resamples, values, confidence)
            )
            for run, ranked in inputs.ranked.items()
            for measure, values in score_run(ranked, inputs.judged, measures).values.items()
        ],
        labels=_strata_rows(labels, strata, n_strata, estimates),
        deciding=_sole_positives(inputs, labels, estimates, measures),
    )


def _interval(resamples: Resamples, values: FloatArray, confidence: float) -> Ends | None:
    return error_rates.ends_of(resamples.interval(values, confidence))


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
    used, sharing = estimates.by_source[estimates.used], sharing_of(inputs, labels)
    rows = correct_scores(
        inputs.ranked,
        inputs.judged,
        labels.codes,
        lambda rates: labels.relevance(rates, estimates.own),
        measures,
        used,
        resamples,
        confidence=confidence,
        sharing=sharing,
    )
    noise = LabelNoise(labels, used, resamples, sharing)
    bounds = {
        name: corrected_bounds(noise, ranked, measures, confidence)
        for name, ranked in inputs.ranked.items()
    }
    return [
        row_of(
            NoiseRow,
            row,
            measure=str(row.measure),
            bounds_corrected=bounds[row.run].get(row.measure),
        )
        for row in rows
    ]


def _strata_rows(
    labels: NoisyLabels, strata: IntArray, n_strata: int, estimates: Estimates
) -> list[StratumRow]:
    """Return the shares of relevant pairs by stratum, without known original positives."""
    if estimates.used_rates is None:
        return []
    chance, shares = labels.posterior(estimates.used_rates, strata, estimates.own)
    positive = labels.is_positive
    rows: list[StratumRow] = []
    for stratum in range(n_strata):
        own = (strata == stratum) & ~labels.is_known & (labels.n_labels > 0)
        if own.any():
            rows.append(
                StratumRow(
                    STRATA[stratum],
                    int(own.sum()),
                    float(positive[own].mean()),
                    float(shares[stratum]),
                    mean_of(chance[own & positive]),
                    mean_of(chance[own & ~positive]),
                )
            )
    return rows


def _sole_positives(
    inputs: Inputs, labels: NoisyLabels, estimates: Estimates, measures: list[Measure]
) -> list[SolePositivesRow]:
    rates = estimates.used_rates
    if rates is None:
        return []
    return [
        row_of(
            SolePositivesRow,
            expect_confirmation(ranked, inputs.judged, measure.cutoff, labels, rates),
            run=name,
            measure=str(measure),
        )
        for measure in measures
        if measure.name == "C" and measure.cutoff is not None
        for name, ranked in inputs.ranked.items()
    ]


LABEL_NOISE = Analysis(
    name="label-noise",
    title="Wrong labels",
    question="How often are labels wrong, and what are the scores without their errors?",
    options=Options,
    result=Result,
    compute=_compute,
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
