"""The number of pairs by their labels, and the agreement of the labels, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from annotation.core.alpha_words import alpha_in_words
from annotation.core.consensus import NO_LABEL
from evaluation.core.arrays import IntArray
from evaluation.core.people import agreement_figures
from evaluation.core.people.agreement import ValueCounts, count_opinions, percent_agreement
from evaluation.core.people.agreement_figures import LabelAgreement, Resampling, figures_from_store
from evaluation.core.people.alpha import alpha_interval, krippendorff_alpha
from evaluation.lab.analyses import charts, options, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.rows import Ends, Score, Shown, from_json
from evaluation.lab.analyses.tables import Table
from evaluation.models import LabelSource
from evaluation.release.selectors import label_set_labels
from hearth.shared.progress import Progress

OUTCOMES = {"relevant": "Relevant", "irrelevant": "Not relevant", "undecided": "Undecided"}
UNDEFINED_NAMES = {
    "agreement": "labels equal",
    "alpha": "alpha",
    "alpha_interval": "interval of alpha, annotators resampled",
    "alpha_interval_pairs": "interval of alpha, pairs resampled",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Options):
    confidence: options.Confidence = 0.95
    resamples: options.NumberOfResamples = 1000
    seed: options.Seed = 0


@dataclass(frozen=True, kw_only=True)
class OutcomeCounts:
    """Numbers of pairs by their label. Pairs that are pending or in conflict are undecided."""

    pairs: Annotated[int, Shown("Pairs", "count")]
    relevant: Annotated[int, Shown("Relevant", "count")]
    irrelevant: Annotated[int, Shown("Not relevant", "count")]
    undecided: Annotated[int, Shown("Undecided", "count")]


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """The agreement of some pairs; null if undefined.

    disagreement: 1 - agreement
    """

    agreement: Score
    disagreement: Annotated[Score, Shown("Labels differ, %", "percent")]
    alpha: Score
    alpha_interval_pairs: Ends | None


@dataclass(frozen=True, kw_only=True)
class LabelCountRow(OutcomeCounts, Agreement):
    """The pairs that have the same number of labels."""

    labels: Annotated[int, Shown("Labels of the pair", "count")]


@dataclass(frozen=True, kw_only=True)
class OriginalCounts(OutcomeCounts):
    """The judged original positives.

    known: number of all of them
    """

    pairs: Annotated[int, Shown("Judged", "count")]
    known: Annotated[int, Shown("Original positives", "count")]


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """The agreement of some labels, as `LabelAgreement`."""

    of: Annotated[str, Shown("Labels compared")]
    multiply_labelled: Annotated[int, Shown("Pairs", "count")]
    pairwise_agreement: Annotated[Score, Shown("Two labels equal, %", "percent")]
    agreement: Annotated[Score, Shown("All labels equal, %", "percent")]
    alpha: Annotated[Score, Shown("Krippendorff’s alpha{ordinal}", "number")]
    alpha_interval: Annotated[Ends | None, Shown("95 % interval, annotators resampled", "number")]
    alpha_interval_pairs: Annotated[Ends | None, Shown("{interval}, pairs resampled", "number")]
    ac1: Annotated[Score, Shown("Gwet’s AC1", "number")]
    ac1_interval: Annotated[Ends | None, Shown("{interval}, pairs resampled", "number")]
    alpha_nominal: Annotated[Score, Shown("Alpha, nominal", "number")] = None
    ac2: Annotated[Score, Shown("Gwet’s AC2, ordinal", "number")] = None
    relevance_alpha: Annotated[Score, Shown("Alpha, relevant or not relevant", "number")] = None


@dataclass(frozen=True, kw_only=True)
class Result(results.Result, OutcomeCounts, Agreement):
    """The labels of a benchmark and their agreement.

    The figures to quote are those of the planned labels if they are known, else of all labels.

    labels: number of labels; those of equal captions count once
    several: number of pairs with several labels
    first_labels: all figures of planned labels
    all_labels: all figures of all labels
    """

    confidence: float
    labels: Annotated[int, Shown("Labels", "count")]
    several: Annotated[int, Shown("Labelled several times", "count")]
    first_two_agreement: Score
    pairwise_agreement: Score
    alpha_interval: Ends | None
    alpha_annotator_interval: Ends | None
    ac1: Score
    ac1_interval: Ends | None
    first_labels: LabelAgreement | None
    all_labels: LabelAgreement
    by_number: list[LabelCountRow]
    originals: OriginalCounts

    def tables(self) -> list[Table]:
        outcomes = "relevant irrelevant undecided"
        return [
            self.table(
                "all",
                "The label set",
                Result,
                [self],
                columns=f"pairs labels {outcomes} several",
            ),
            self._agreement_table(),
            self.table(
                "originals",
                "Judged original positives",
                OriginalCounts,
                [self.originals],
                columns=f"known pairs {outcomes}",
                note="Scores count all original positives as positive, including rejected ones, "
                "unless “Labels only” is selected.",
            ),
            self.table(
                "by-number",
                "By the number of labels",
                LabelCountRow,
                self.by_number,
                columns=f"labels pairs {outcomes} disagreement",
                note="If a third label is requested only when two labels differ, the labels of "
                "pairs with two labels nearly always agree, and those of pairs with three never "
                "agree.",
            ),
        ]

    @property
    def compared(self) -> dict[str, LabelAgreement]:
        """The planned labels, if they are known, and all labels."""
        planned = self.first_labels
        first = {} if planned is None else {"Planned labels of each pair": planned}
        return {**first, "All labels": self.all_labels}

    @property
    def ordinal(self) -> str:
        """The words for the level of alpha in its title."""
        first = next(iter(self.compared.values()))
        return ", ordinal" if first["alpha_level"] == "ordinal" else ""

    def _agreement_table(self) -> Table:
        """Return the table of agreement, with a row for planned labels and one for all labels."""
        further = () if self.ordinal else ("alpha_nominal", "ac2", "relevance_alpha")
        rows = [
            from_json(AgreementRow, {"of": of, **figures}) for of, figures in self.compared.items()
        ]
        return self.table(
            "agreement",
            "Agreement",
            AgreementRow,
            rows,
            without=further,
            note=self._agreement_note(rows[0].alpha),
        )

    def _agreement_note(self, alpha: float | None) -> str:
        """Return the reason for each figure that is undefined, and what the intervals cover."""
        words = [] if alpha is None else [f"Alpha is {alpha_in_words(alpha)}."]
        reasons = {
            f"{of}, {UNDEFINED_NAMES[name]}: {reason}."
            for of, figures in self.compared.items()
            for name, reason in figures["undefined"].items()
            if name in UNDEFINED_NAMES
        }
        note = (
            "Quote alpha with the interval that resamples annotators, because the other one holds "
            "only for the same annotators. It was computed when the label set was published, at "
            "95 %."
        )
        has_annotators = any(figures["alpha_interval"] for figures in self.compared.values())
        return " ".join([*words, *sorted(reasons), *([note] if has_annotators else [])])

    def warnings(self) -> list[str]:
        if self.first_labels is not None:
            return []
        return [
            "An older version of Hearth published this label set and did not record planned "
            "labels. Its agreement is therefore that of all labels. A third label is requested "
            "only if two labels differ, which makes alpha too high."
        ]

    def charts(self) -> list[charts.Chart]:
        order = [OUTCOMES[key] for key in ("irrelevant", "relevant", "undecided")]
        return [
            charts.Chart(
                "by-number",
                "Pairs by their number of labels",
                "Bars of pairs for each number of labels: relevant, not relevant, undecided.",
                charts.bars(
                    charts.melt(self.by_number, "labels", OUTCOMES, "pairs", "outcome"),
                    charts.step("labels", "Labels of the pair"),
                    charts.count("pairs", "Pairs (log)"),
                    charts.name_of("outcome", order=order),
                ),
            )
        ]


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    assert inputs.label_set is not None  # noqa: S101 - checked by the analysis
    counted = label_set_labels(inputs.label_set)
    labels, judgments, relevant = counted.labels, counted.judgments, counted.relevant
    rng = np.random.default_rng(options.seed)
    resampling = Resampling(options.resamples, options.confidence, options.seed)
    rows: list[LabelCountRow] = []
    for number in np.flatnonzero(np.bincount(judgments)).tolist():
        among = judgments == number
        rows.append(
            LabelCountRow(
                labels=number,
                **_outcomes(labels[among]),
                **_agreement(count_opinions(judgments[among], relevant[among]), options, rng),
            )
        )
    return Result(
        # An answer that applies to several captions with equal texts counts once.
        labels=inputs.label_set.n_judgments,
        **_outcomes(labels),
        **_figures(inputs.label_set, count_opinions(judgments, relevant), resampling),
        confidence=options.confidence,
        by_number=rows,
        originals=OriginalCounts(
            **_outcomes(labels[np.isin(counted.codes, inputs.original.codes)]),
            known=len(inputs.original.codes),
        ),
    )


def _outcomes(labels: IntArray) -> dict[str, Any]:
    """Return the fields of `OutcomeCounts`."""
    return {
        "pairs": len(labels),
        "relevant": int((labels >= 1).sum()),
        "irrelevant": int((labels == 0).sum()),
        "undecided": int((labels == NO_LABEL).sum()),
    }


def _figures(label_set: LabelSource, counts: ValueCounts, resampling: Resampling) -> dict[str, Any]:
    """Return the agreement figures, computed from the judgments in the label set.

    counts: the counts of all labels. If an older code version published the label set, only these
    counts are known. All figures are then those of all labels, and `first_labels` is null.
    """
    if label_set.agreement is None:
        every = agreement_figures.figures_of(counts, 2, resampling)
        first, quoted = None, every
    else:
        both = figures_from_store(label_set.agreement, resampling)
        first, every = both["first_labels"], both["all_labels"]
        quoted = first
    return {
        "several": every["multiply_labelled"],
        **_with_disagreement(every["agreement"]),
        "first_two_agreement": None if first is None else first["pairwise_agreement"],
        "pairwise_agreement": every["pairwise_agreement"],
        "alpha": quoted["alpha"],
        "alpha_interval": quoted["alpha_interval"],
        "alpha_annotator_interval": quoted["alpha_annotator_interval"],
        "alpha_interval_pairs": quoted["alpha_interval_pairs"],
        "ac1": quoted["ac1"],
        "ac1_interval": quoted["ac1_interval"],
        "first_labels": first,
        "all_labels": every,
    }


def _agreement(counts: ValueCounts, options: Options, rng: np.random.Generator) -> dict[str, Any]:
    """Return the fields of `Agreement`."""
    interval = alpha_interval(counts, options.resamples, rng=rng, confidence=options.confidence)
    return {
        **_with_disagreement(percent_agreement(counts).value),
        "alpha": krippendorff_alpha(counts).value,
        "alpha_interval_pairs": interval.ends,
    }


def _with_disagreement(agreement: float | None) -> dict[str, float | None]:
    return {
        "agreement": agreement,
        "disagreement": None if agreement is None else 1 - agreement,
    }


LABELS = Analysis(
    name="labels",
    title="The labels and their agreement",
    question="How many pairs were judged, with which outcome, and do annotators agree?",
    source="FIRE study, table 2 and figure 7",
    options=Options,
    result=Result,
    compute=_compute,
    selects=("labels",),
    reads_lists=False,
    runs_needed=0,
    needs_labels=True,
    notes=(
        "Quote the figures of the planned labels. These are the labels of a pair that arrived "
        "first, up to the planned number. In imported files they are the first two labels of a "
        "pair. A third label is requested only if the first two differ, and it usually equals one "
        "of them. Alpha of all labels is therefore too high.",
        "For “Two labels equal”, every two labels of a pair are compared. The figure is the share "
        "of equal ones, as a mean over pairs (Fleiss). Alpha is 1 for perfect agreement and 0 for "
        "chance. If nearly all labels are “not relevant”, alpha is low even if annotators agree "
        "well. Gwet’s AC1 is not low then.",
        "The table by number of labels counts labels only as relevant or not, without grades.",
        "Original positives do not count as labels here.",
    ),
)
