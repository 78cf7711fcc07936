"""Labels from matching captions, compared with human labels."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from evaluation.core.arrays import BoolArray, FloatArray, IntArray
from evaluation.core.relevance.judged import Judged, with_positives
from evaluation.core.relevance.measures import parse_measure
from evaluation.core.relevance.scoring import score_run
from evaluation.core.statistics.halves import split_in_half
from evaluation.lab.analyses import charts, options, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.rows import MeasureName, Run, Score, Shown, mean_of
from evaluation.lab.analyses.tables import Table
from hearth.shared.options import Option
from hearth.shared.progress import Progress

if TYPE_CHECKING:
    from evaluation.core.texts.similarity import MatchQuality

# The similarity of equal captions, which match at any threshold.
EQUAL = 1.0
CURVES = {"precision": "Precision", "recall": "Recall", "alpha": "Alpha"}
TOO_FEW = (
    "The videos were split into two halves, and in at least one of them annotators judged no pair "
    "relevant, apart from the original positives. Therefore no similarity can be chosen on one "
    "half and tested on the other, and only equal captions match. To match similar captions, too, "
    "enter a similarity."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Options):
    """Options of the analysis.

    threshold: At 1 only equal captions match. If empty, the similarity with the highest alpha on
        one half of the videos is used, and all figures are from the other half.
    """

    measures: options.ShareMeasures = ("C@1", "C@5", "C@10", "AP")
    threshold: Annotated[float | None, Option("Minimum similarity", low=0.02, high=1)] = None
    seed: options.Seed = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """The figures of the labels from matching captions.

    alpha: that of captions and annotators
    """

    precision: Annotated[Score, Shown("Precision, %", "percent")]
    recall: Annotated[float, Shown("Recall, %", "percent")]
    f1: Annotated[float, Shown("F1, %", "percent")]
    alpha: Annotated[float, Shown("Alpha", "number")]


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveRow(Quality):
    """The quality at one threshold.

    labelled: number of matching pairs, which therefore count as relevant
    correct: number of these that annotators judged relevant
    """

    threshold: Annotated[float, Shown("Minimum similarity", "number")]
    labelled: Annotated[int, Shown("Matching pairs", "count")]
    correct: Annotated[int, Shown("Of these, relevant", "count")]


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfRow(Quality):
    """The contents of a half of the videos, and the quality on it at the chosen threshold."""

    videos: Annotated[int, Shown("Videos", "count")]
    captions: Annotated[int, Shown("Captions", "count")]
    pairs: Annotated[int, Shown("Judged pairs", "count")]
    relevant: Annotated[int, Shown("Relevant", "count")]


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedHalfRow(HalfRow):
    used: Annotated[str, Shown("Used for")]


@dataclass(frozen=True, slots=True)
class MatchingScore:
    """Three scores of a run: by original positives, by matching captions and by annotators."""

    run: Run
    measure: MeasureName
    original: Annotated[Score, Shown(f"{charts.ORIGINAL_POSITIVES}, %", "percent")]
    matched: Annotated[Score, Shown("Matched captions, %", "percent")]
    labelled: Annotated[Score, Shown("Annotators, %", "percent")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(results.Result):
    """The quality of labels from matching captions, and the scores of runs by these labels.

    pairs: number of compared pairs
    relevant: number of these that annotators judged relevant
    threshold: the chosen threshold
    curve: the quality by threshold
    choosing: a half; null if the threshold was not chosen on a half
    reporting: the other half
    """

    pairs: int
    relevant: int
    threshold: float
    curve: list[CurveRow]
    choosing: HalfRow | None
    reporting: HalfRow | None
    too_few: bool
    scores: list[MatchingScore]

    def tables(self) -> list[Table]:
        tables = [
            self.table(
                "scores",
                f"Scores by matching captions, minimum similarity {self.threshold:g}",
                MatchingScore,
                self.scores,
                note=self._caption_note(),
            ),
            self.table(
                "curve",
                "Labels from captions compared with human labels",
                CurveRow,
                self._shown_curve,
                note=f"{self.pairs:,} judged pairs"
                + (" of the half that was not used for choosing" if self.reporting else "")
                + ", without the original positives. Annotators judged "
                f"{self.relevant:,} of them relevant.",
                columns="threshold labelled correct precision recall f1 alpha",
            ),
        ]
        if self.choosing and self.reporting:
            tables.insert(0, self._halves(self.choosing, self.reporting))
        return tables

    def _halves(self, choosing: HalfRow, reporting: HalfRow) -> Table:
        return self.table(
            "halves",
            f"The two halves of the videos, at similarity {self.threshold:g}",
            UsedHalfRow,
            [
                UsedHalfRow(used="Choosing the similarity", **asdict(choosing)),
                UsedHalfRow(used="All other figures", **asdict(reporting)),
            ],
            note="Each video is in one half with all its captions. A pair is left out here if "
            "its caption and its video are in different halves. The figures of the first row "
            "tend to be too high, because the similarity with the highest alpha on these pairs was "
            "chosen.",
            columns="used videos captions pairs relevant precision recall f1 alpha",
        )

    def _caption_note(self) -> str:
        half = self.reporting
        if half is None:
            return (
                "Scores are means over all captions. The similarity was not chosen by the labels."
            )
        return (
            f"Scores are means over the {half.captions:,} captions of the {half.videos:,} videos "
            "that were not used to choose the similarity. The ranked lists contain the videos of "
            "both halves."
        )

    @property
    def _shown_curve(self) -> list[CurveRow]:
        """The curve, with null as the precision of thresholds at which no pair matches."""
        return [row if row.labelled else replace(row, precision=None) for row in self.curve]

    def charts(self) -> list[charts.Chart]:
        rows = charts.melt(self._shown_curve, "threshold", CURVES, "value", "what")
        return [
            charts.Chart(
                "curve",
                "Matching captions compared with human labels",
                "Three lines show precision, recall and alpha at each minimum similarity.",
                charts.spec(
                    rows,
                    charts.LINES,
                    x=charts.quantity("threshold", "Minimum similarity"),
                    y=charts.quantity("value", "Share, or alpha", axis={"format": ".1f"}),
                    color=charts.name_of("what", order=list(CURVES.values())),
                ),
            )
        ]

    def warnings(self) -> list[str]:
        return [TOO_FEW] if self.too_few else []


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    # The module for sparse matrices is imported only here, because this takes a tenth of a second.
    from evaluation.core.texts.similarity import match_captions

    codes = np.setdiff1d(inputs.judged.codes, inputs.original.codes, assume_unique=True)
    progress(0, 2, "comparing captions")
    similarity = match_captions(inputs.captions, inputs.original, codes)
    progress(1, 2, "scoring runs")
    if not options.threshold and (found := _on_halves(inputs, options, codes, similarity)):
        return found
    threshold = options.threshold or EQUAL
    everything = np.ones(inputs.benchmark.n_queries, dtype=np.bool_)
    quality = _quality(codes, similarity, inputs)
    return Result(
        pairs=quality.judged,
        relevant=quality.relevant,
        threshold=threshold,
        curve=_curve_of(quality),
        choosing=None,
        reporting=None,
        too_few=not options.threshold,
        scores=_scores(inputs, codes, similarity >= threshold, everything, options),
    )


def _on_halves(
    inputs: Inputs, options: Options, codes: IntArray, similarity: FloatArray
) -> Result | None:
    """Choose the threshold on half of the videos, and report on the other half.

    Return None if a half has no relevant pair, because precision and recall are undefined then.
    """
    unit, space = inputs.first_videos, inputs.benchmark.pair_space
    n_units = max(space.n_videos, int(unit.max(initial=-1)) + 1)
    queries, videos = space.decode(codes)
    halves = split_in_half(n_units, rng=np.random.default_rng(options.seed))
    choosing, reporting = (
        _quality(codes[pairs], similarity[pairs], inputs)
        for pairs in halves.pairs(unit[queries], videos)
    )
    if choosing.relevant == 0 or reporting.relevant == 0:
        return None
    threshold = float(choosing.thresholds[choosing.best].round(2))
    reported = ~halves.choosing
    return Result(
        pairs=reporting.judged,
        relevant=reporting.relevant,
        threshold=threshold,
        curve=_curve_of(reporting),
        choosing=_half(halves.choosing, choosing, threshold, inputs),
        reporting=_half(reported, reporting, threshold, inputs),
        too_few=False,
        scores=_scores(inputs, codes, similarity >= threshold, reported[unit], options),
    )


def _quality(codes: IntArray, similarity: FloatArray, inputs: Inputs) -> MatchQuality:
    from evaluation.core.texts.similarity import score_matches

    return score_matches(codes, similarity, inputs.judged)


def _half(part: BoolArray, quality: MatchQuality, threshold: float, inputs: Inputs) -> HalfRow:
    """Return the contents of a half and its figures at the chosen threshold.

    part: bool [n_units], the units in the half.
    """
    row = next(row for row in _curve_of(quality) if row.threshold == threshold)
    return HalfRow(
        videos=int(np.count_nonzero(part[: inputs.benchmark.n_videos])),
        captions=int(np.count_nonzero(part[inputs.first_videos])),
        pairs=quality.judged,
        relevant=quality.relevant,
        precision=row.precision,
        recall=row.recall,
        f1=row.f1,
        alpha=row.alpha,
    )


def _curve_of(quality: MatchQuality) -> list[CurveRow]:
    return [
        CurveRow(
            threshold=threshold,
            precision=float(quality.precision[place]),
            recall=float(quality.recall[place]),
            f1=float(quality.f1[place]),
            alpha=float(quality.alpha[place]),
            labelled=int(quality.labelled[place]),
            correct=int(quality.correct[place]),
        )
        for place, threshold in enumerate(quality.thresholds.round(2).tolist())
    ]


def _labels(codes: IntArray, matches: BoolArray, inputs: Inputs) -> Judged:
    judged = Judged(
        codes, matches.astype(np.int8), inputs.benchmark.n_queries, inputs.benchmark.n_videos
    )
    return with_positives(judged, inputs.original)


def _scores(
    inputs: Inputs,
    codes: IntArray,
    matches: BoolArray,
    captions: BoolArray,
    options: Options,
) -> list[MatchingScore]:
    """Return the mean scores over some captions. captions: which ones, bool [n_queries].

    The ranked lists contain the videos of both halves.
    """
    measures = [parse_measure(name) for name in options.measures]
    matched = _labels(codes, matches, inputs)
    rows: list[MatchingScore] = []
    for run, ranked in inputs.ranked.items():
        original, by_captions, labelled = (
            score_run(ranked, judged, measures)
            for judged in (inputs.original, matched, inputs.judged)
        )
        rows += [
            MatchingScore(
                run,
                str(measure),
                mean_of(original.per_query(measure)[captions]),
                mean_of(by_captions.per_query(measure)[captions]),
                mean_of(labelled.per_query(measure)[captions]),
            )
            for measure in measures
        ]
    return rows


MATCHING = Analysis(
    name="matching",
    title="Labels from matching captions",
    question="Could word matching between captions replace human labels?",
    options=Options,
    result=Result,
    compute=_compute,
    needs_labels=True,
    needs_originals=True,
    notes=(
        "A caption and a video match if the caption is similar to one of the video’s own captions. "
        "A pair that matches is labelled relevant. Similarity is the cosine of two captions’ "
        "counts of five-character sequences, weighted by the rarity of the sequences. These labels "
        "are compared with human labels of the same pairs. Original positives are left out, "
        "because they are known.",
        "If no similarity is entered, the one with the highest alpha on a random half of the "
        "videos is used. Alpha compares both kinds of labels like those of two annotators: it is 1 "
        "for equal labels and 0 for guessing. F1 would choose a similarity at which nearly all "
        "pairs match if captions say nothing about relevance. All other figures are from the other "
        "half. Figures from the half on which the "
        "similarity was chosen would be too high. For the same reason, the highest point of the "
        "curve is too high.",
    ),
)
