"""Labels from matching captions, compared with human labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from django import forms

from config.shared.progress import Progress
from evaluation.core.arrays import BoolArray, FloatArray, IntArray
from evaluation.core.relevance.judged import Judged, with_positives
from evaluation.core.relevance.measures import parse_measure
from evaluation.core.relevance.scoring import score_run
from evaluation.core.statistics.halves import split_in_half
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.charts import LINES, PERCENT, Chart, name_of, quantity, spec
from evaluation.lab.analyses.fields import MeasuresField, seed_field
from evaluation.lab.analyses.forms import AnalysisForm
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.results import Result, mean_of
from evaluation.lab.analyses.tables import Column, Table

if TYPE_CHECKING:
    from evaluation.core.texts.similarity import MatchQuality

CURVES = {"precision": "Precision", "recall": "Recall", "f1": "F1"}
BY = {"original": "Original positives", "matched": "Matched captions", "labelled": "Annotators"}


# Equal captions match at any similarity.
EQUAL = 1.0
TOO_FEW = (
    "The halves of the videos have too few judged pairs to choose a similarity on one half and "
    "report it on the other. Only equal captions match. Enter a similarity to compare others."
)


class MatchingForm(AnalysisForm):
    measures = MeasuresField(shares=True)
    threshold = forms.FloatField(
        label="Minimum similarity",
        required=False,
        min_value=0.02,
        max_value=1,
        help_text="At 1 only equal captions match. If empty, the similarity with the highest F1 "
        "on half of the videos is used, and figures are of the other half.",
    )
    seed = seed_field()


def _compute(inputs: Inputs, options: dict[str, Any], progress: Progress) -> Result:
    # Importing sparse matrices takes a tenth of a second, so they are imported only here.
    from evaluation.core.texts.similarity import match_captions

    codes = np.setdiff1d(inputs.judged.codes, inputs.original.codes, assume_unique=True)
    progress(0, 2, "comparing captions")
    similarity = match_captions(inputs.captions, inputs.original, codes)
    progress(1, 2, "scoring runs")
    if not options["threshold"] and (found := _on_halves(inputs, options, codes, similarity)):
        return found
    threshold = options["threshold"] or EQUAL
    everything = np.ones(inputs.benchmark.n_queries, dtype=np.bool_)
    return _figures(_quality(codes, similarity, inputs), threshold) | {
        "choosing": None,
        "reporting": None,
        "too_few": not options["threshold"],
        "scores": _scores(inputs, codes, similarity >= threshold, everything, options),
    }


def _on_halves(
    inputs: Inputs, options: dict[str, Any], codes: IntArray, similarity: FloatArray
) -> Result | None:
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
    return _figures(reporting, threshold) | {
        "choosing": _half(halves.choosing, choosing, threshold, inputs),
        "reporting": _half(reported, reporting, threshold, inputs),
        "too_few": False,
        "scores": _scores(inputs, codes, similarity >= threshold, reported[unit], options),
    }


def _quality(codes: IntArray, similarity: FloatArray, inputs: Inputs) -> MatchQuality:
    from evaluation.core.texts.similarity import score_matches

    return score_matches(codes, similarity, inputs.judged)


def _figures(quality: MatchQuality, threshold: float) -> Result:
    return {
        "pairs": quality.judged,
        "relevant": quality.relevant,
        "threshold": threshold,
        "curve": _curve_of(quality),
    }


def _half(part: BoolArray, quality: MatchQuality, threshold: float, inputs: Inputs) -> Result:
    """Return the contents of a half and its figures at the chosen threshold.

    part: bool [n_units], the units in the half.
    """
    row = next(row for row in _curve_of(quality) if row["threshold"] == threshold)
    return {
        "videos": int(np.count_nonzero(part[: inputs.benchmark.n_videos])),
        "captions": int(np.count_nonzero(part[inputs.first_videos])),
        "pairs": quality.judged,
        "relevant": quality.relevant,
        **{key: row[key] for key in CURVES},
    }


def _curve_of(quality: MatchQuality) -> list[Result]:
    columns = (
        quality.thresholds.round(2),
        quality.precision,
        quality.recall,
        quality.f1,
        quality.labelled,
        quality.correct,
    )
    return [
        dict(zip(("threshold", *CURVES, "labelled", "correct"), row, strict=True))
        for row in zip(*(column.tolist() for column in columns), strict=True)
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
    options: dict[str, Any],
) -> list[Result]:
    """Return means over these captions [n_queries]; the lists contain the videos of both halves."""
    measures = [parse_measure(name) for name in options["measures"]]
    matched = _labels(codes, matches, inputs)
    by = {"original": inputs.original, "matched": matched, "labelled": inputs.judged}
    rows = []
    for run, ranked in inputs.ranked.items():
        found = {key: score_run(ranked, judged, measures) for key, judged in by.items()}
        rows += [
            {"run": run, "measure": str(measure)}
            | {key: mean_of(scores.per_query(measure)[captions]) for key, scores in found.items()}
            for measure in measures
        ]
    return rows


PARTS = {
    "choosing": "Similarity chosen on this half",
    "reporting": "Figures and scores of this half",
}


def _halves_table(result: Result) -> list[Table]:
    if result["choosing"] is None:
        return []
    return [
        Table(
            "halves",
            f"The two halves of the videos, at similarity {result['threshold']:g}",
            [
                Column("used", "Used for"),
                Column("videos", "Videos", "count"),
                Column("captions", "Captions", "count"),
                Column("pairs", "Judged pairs", "count"),
                Column("relevant", "Relevant", "count"),
                *(Column(key, f"{title}, %", "percent") for key, title in CURVES.items()),
            ],
            [{"used": used, **result[name]} for name, used in PARTS.items()],
            note="Each video is in one half with all its captions. A pair is left out here if "
            "its caption and its video are in different halves. The figures of the first row "
            "are too high, because the similarity was chosen for a high F1 on these pairs.",
        )
    ]


def _caption_note(result: Result) -> str:
    reporting = result["reporting"]
    if reporting is None:
        return "Over all captions. The similarity was not chosen on these labels."
    return (
        f"Over the {reporting['captions']:,} captions of the {reporting['videos']:,} videos that "
        "were not used to choose the similarity. The lists hold the videos of both halves."
    )


def _tables(result: Result) -> list[Table]:
    return [
        *_halves_table(result),
        Table(
            "scores",
            f"Scores with captions that match from {result['threshold']:g} on",
            [
                Column("run", "Run"),
                Column("measure", "Measure"),
                *(Column(key, f"{title}, %", "percent") for key, title in BY.items()),
            ],
            result["scores"],
            note=_caption_note(result),
        ),
        Table(
            "curve",
            "Labels from captions compared with human labels",
            [
                Column("threshold", "Minimum similarity", "number"),
                Column("labelled", "Called relevant", "count"),
                Column("correct", "Correctly", "count"),
                *(Column(key, f"{title}, %", "percent") for key, title in CURVES.items()),
            ],
            _curve(result),
            note=f"{result['pairs']:,} judged pairs {_of_half(result)}without the original "
            f"positives, {result['relevant']:,} of them relevant.",
        ),
    ]


def _of_half(result: Result) -> str:
    return "" if result["reporting"] is None else "of the half for figures and scores, "


def _curve(result: Result) -> list[Result]:
    """Return the curve without the thresholds that label no pair relevant (precision 0)."""
    return [row if row["labelled"] else {**row, "precision": None} for row in result["curve"]]


def _charts(result: Result) -> list[Chart]:
    rows = [
        {"threshold": row["threshold"], "share": row[key], "what": title}
        for row in _curve(result)
        for key, title in CURVES.items()
    ]
    return [
        Chart(
            "curve",
            "Matching captions compared with human labels",
            "Three lines over the minimum similarity: precision rises with it, recall falls, and "
            "F1 is highest in between.",
            spec(
                rows,
                LINES,
                x=quantity("threshold", "Similarity from which captions match"),
                y=quantity("share", "Share", axis={"format": PERCENT}),
                color=name_of("what", order=list(CURVES.values())),
            ),
        )
    ]


MATCHING = Analysis(
    name="matching",
    title="Labels from matching captions",
    question="Could word matching between captions replace human labels?",
    form=MatchingForm,
    compute=_compute,
    tables=_tables,
    charts=_charts,
    warnings=lambda result: [TOO_FEW] if result["too_few"] else [],
    needs_labels=True,
    needs_originals=True,
    notes=(
        "A video is called relevant for a caption if one of its own captions is similar enough: "
        "the cosine similarity of sequences of five characters, weighted by their rarity. This "
        "is compared with human labels of the same pairs. Original positives are known and left "
        "out.",
        "If no similarity is entered, the one with the highest F1 on a random half of the videos "
        "is used. All other figures are of the other half. Figures on the labels of the choice "
        "would be too high, and so is the highest point of the curve.",
    ),
)
