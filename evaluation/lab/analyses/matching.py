"""Labels from matching captions, compared with human labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

import numpy as np
from django import forms

from evaluation.core.arrays import BoolArray, FloatArray, IntArray
from evaluation.core.relevance.judged import Judged, with_positives
from evaluation.core.relevance.measures import parse_measure
from evaluation.core.relevance.scoring import score_run
from evaluation.core.statistics.halves import split_in_half
from evaluation.lab.analyses.fields import MeasuresField, seed_field
from evaluation.lab.analyses.forms import AnalysisForm
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.layouts import matching as layout
from evaluation.lab.analyses.layouts.matching import (
    TOO_FEW,
    CurveFigures,
    CurveRow,
    HalfRow,
    MatchingResult,
    MatchingScore,
)
from evaluation.lab.analyses.old_analysis import Analysis
from evaluation.lab.analyses.old_results import mean_of
from hearth.shared.progress import Progress

if TYPE_CHECKING:
    from evaluation.core.texts.similarity import MatchQuality

# The similarity of equal captions, which match at any threshold.
EQUAL = 1.0


class MatchingForm(AnalysisForm):
    measures = MeasuresField(shares=True)
    threshold = forms.FloatField(
        label="Minimum similarity",
        required=False,
        min_value=0.02,
        max_value=1,
        help_text="At 1 only equal captions match. If empty, the similarity with the highest "
        "alpha on one half of the videos is used, and all figures are from the other half.",
    )
    seed = seed_field()


class MatchingOptions(TypedDict):
    measures: list[str]
    threshold: float | None
    seed: int


def _compute(inputs: Inputs, options: MatchingOptions, progress: Progress) -> MatchingResult:
    # The module for sparse matrices is imported only here, because this takes a tenth of a second.
    from evaluation.core.texts.similarity import match_captions

    codes = np.setdiff1d(inputs.judged.codes, inputs.original.codes, assume_unique=True)
    progress(0, 2, "comparing captions")
    similarity = match_captions(inputs.captions, inputs.original, codes)
    progress(1, 2, "scoring runs")
    if not options["threshold"] and (found := _on_halves(inputs, options, codes, similarity)):
        return found
    threshold = options["threshold"] or EQUAL
    everything = np.ones(inputs.benchmark.n_queries, dtype=np.bool_)
    return {
        **_figures(_quality(codes, similarity, inputs), threshold),
        "choosing": None,
        "reporting": None,
        "too_few": not options["threshold"],
        "scores": _scores(inputs, codes, similarity >= threshold, everything, options),
    }


def _on_halves(
    inputs: Inputs, options: MatchingOptions, codes: IntArray, similarity: FloatArray
) -> MatchingResult | None:
    """Choose the threshold on half of the videos, and report on the other half.

    Return None if a half has no relevant pair, because precision and recall are undefined then.
    """
    unit, space = inputs.first_videos, inputs.benchmark.pair_space
    n_units = max(space.n_videos, int(unit.max(initial=-1)) + 1)
    queries, videos = space.decode(codes)
    halves = split_in_half(n_units, rng=np.random.default_rng(options["seed"]))
    choosing, reporting = (
        _quality(codes[pairs], similarity[pairs], inputs)
        for pairs in halves.pairs(unit[queries], videos)
    )
    if choosing.relevant == 0 or reporting.relevant == 0:
        return None
    threshold = float(choosing.thresholds[choosing.best].round(2))
    reported = ~halves.choosing
    return {
        **_figures(reporting, threshold),
        "choosing": _half(halves.choosing, choosing, threshold, inputs),
        "reporting": _half(reported, reporting, threshold, inputs),
        "too_few": False,
        "scores": _scores(inputs, codes, similarity >= threshold, reported[unit], options),
    }


def _quality(codes: IntArray, similarity: FloatArray, inputs: Inputs) -> MatchQuality:
    from evaluation.core.texts.similarity import score_matches

    return score_matches(codes, similarity, inputs.judged)


def _figures(quality: MatchQuality, threshold: float) -> CurveFigures:
    return {
        "pairs": quality.judged,
        "relevant": quality.relevant,
        "threshold": threshold,
        "curve": _curve_of(quality),
    }


def _half(part: BoolArray, quality: MatchQuality, threshold: float, inputs: Inputs) -> HalfRow:
    """Return the contents of a half and its figures at the chosen threshold.

    part: bool [n_units], the units in the half.
    """
    row = next(row for row in _curve_of(quality) if row["threshold"] == threshold)
    return {
        "videos": int(np.count_nonzero(part[: inputs.benchmark.n_videos])),
        "captions": int(np.count_nonzero(part[inputs.first_videos])),
        "pairs": quality.judged,
        "relevant": quality.relevant,
        "precision": row["precision"],
        "recall": row["recall"],
        "f1": row["f1"],
        "alpha": row["alpha"],
    }


def _curve_of(quality: MatchQuality) -> list[CurveRow]:
    return [
        {
            "threshold": threshold,
            "precision": float(quality.precision[place]),
            "recall": float(quality.recall[place]),
            "f1": float(quality.f1[place]),
            "alpha": float(quality.alpha[place]),
            "labelled": int(quality.labelled[place]),
            "correct": int(quality.correct[place]),
        }
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
    options: MatchingOptions,
) -> list[MatchingScore]:
    """Return the mean scores over some captions. captions: which ones, bool [n_queries].

    The ranked lists contain the videos of both halves.
    """
    measures = [parse_measure(name) for name in options["measures"]]
    matched = _labels(codes, matches, inputs)
    rows: list[MatchingScore] = []
    for run, ranked in inputs.ranked.items():
        original, by_captions, labelled = (
            score_run(ranked, judged, measures)
            for judged in (inputs.original, matched, inputs.judged)
        )
        rows += [
            {
                "run": run,
                "measure": str(measure),
                "original": mean_of(original.per_query(measure)[captions]),
                "matched": mean_of(by_captions.per_query(measure)[captions]),
                "labelled": mean_of(labelled.per_query(measure)[captions]),
            }
            for measure in measures
        ]
    return rows


MATCHING = Analysis(
    name="matching",
    title="Labels from matching captions",
    question="Could word matching between captions replace human labels?",
    form=MatchingForm,
    compute=_compute,
    tables=layout.tables,
    charts=layout.charts,
    warnings=lambda result: [TOO_FEW] if result["too_few"] else [],
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
