"""Tables, chart and warning of the analysis `matching`."""

from __future__ import annotations

from typing import TypedDict

from evaluation.lab.analyses.charts import (
    LINES,
    ORIGINAL_POSITIVES,
    Chart,
    name_of,
    quantity,
    spec,
)
from evaluation.lab.analyses.old_results import Row
from evaluation.lab.analyses.tables import Column, Table

SHARES = {"precision": "Precision", "recall": "Recall", "f1": "F1"}
CURVES = {"precision": "Precision", "recall": "Recall", "alpha": "Alpha"}
BY = {"original": ORIGINAL_POSITIVES, "matched": "Matched captions", "labelled": "Annotators"}


TOO_FEW = (
    "The videos were split into two halves, and in at least one of them annotators judged no pair "
    "relevant, apart from the original positives. Therefore no similarity can be chosen on one "
    "half and tested on the other, and only equal captions match. To match similar captions, too, "
    "enter a similarity."
)


class QualityFigures(TypedDict):
    """The figures of the labels from matching captions. alpha: that of captions and annotators."""

    precision: float | None
    recall: float
    f1: float
    alpha: float


class CurveRow(QualityFigures):
    """The quality at one threshold.

    labelled: number of matching pairs, which therefore count as relevant. correct: number of these
    that annotators judged relevant.
    """

    threshold: float
    labelled: int
    correct: int


class HalfRow(QualityFigures):
    """The contents of a half of the videos, and the quality on it at the chosen threshold."""

    videos: int
    captions: int
    pairs: int
    relevant: int


class MatchingScore(TypedDict):
    """Three scores of a run: by original positives, by matching captions and by annotators."""

    run: str
    measure: str
    original: float | None
    matched: float | None
    labelled: float | None


class CurveFigures(TypedDict):
    """The quality by threshold, and the chosen threshold.

    pairs: number of compared pairs. relevant: number of these that annotators judged
    relevant.
    """

    pairs: int
    relevant: int
    threshold: float
    curve: list[CurveRow]


class MatchingResult(CurveFigures):
    """The quality of labels from matching captions, and the scores of runs by these labels.

    choosing, reporting: the two halves; null if the threshold was not chosen on a half.
    """

    choosing: HalfRow | None
    reporting: HalfRow | None
    too_few: bool
    scores: list[MatchingScore]


PARTS = {
    "choosing": "Choosing the similarity",
    "reporting": "All other figures",
}


def _halves_table(result: MatchingResult) -> list[Table]:
    choosing, reporting = result["choosing"], result["reporting"]
    if choosing is None or reporting is None:
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
                *_columns(),
            ],
            [{"used": PARTS["choosing"], **choosing}, {"used": PARTS["reporting"], **reporting}],
            note="Each video is in one half with all its captions. A pair is left out here if "
            "its caption and its video are in different halves. The figures of the first row "
            "tend to be too high, because the similarity with the highest alpha on these pairs was "
            "chosen.",
        )
    ]


def _columns() -> list[Column]:
    shares = [Column(key, f"{title}, %", "percent") for key, title in SHARES.items()]
    return [*shares, Column("alpha", "Alpha", "number")]


def _caption_note(result: MatchingResult) -> str:
    reporting = result["reporting"]
    if reporting is None:
        return "Scores are means over all captions. The similarity was not chosen by the labels."
    return (
        f"Scores are means over the {reporting['captions']:,} captions of the "
        f"{reporting['videos']:,} videos that were not used to choose the similarity. The "
        "ranked lists contain the videos of both halves."
    )


def tables(result: MatchingResult) -> list[Table]:
    return [
        *_halves_table(result),
        Table(
            "scores",
            f"Scores by matching captions, minimum similarity {result['threshold']:g}",
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
                Column("labelled", "Matching pairs", "count"),
                Column("correct", "Of these, relevant", "count"),
                *_columns(),
            ],
            _curve(result),
            note=f"{result['pairs']:,} judged pairs{_of_half(result)}, without the original "
            f"positives. Annotators judged {result['relevant']:,} of them relevant.",
        ),
    ]


def _of_half(result: MatchingResult) -> str:
    return "" if result["reporting"] is None else " of the half that was not used for choosing"


def _curve(result: MatchingResult) -> list[CurveRow]:
    """Return the curve, with null as the precision of thresholds at which no pair matches."""
    return [row if row["labelled"] else {**row, "precision": None} for row in result["curve"]]


def charts(result: MatchingResult) -> list[Chart]:
    curve: list[Row] = [*_curve(result)]
    rows = [
        {"threshold": row["threshold"], "value": row[key], "what": title}
        for row in curve
        for key, title in CURVES.items()
    ]
    return [
        Chart(
            "curve",
            "Matching captions compared with human labels",
            "Three lines show precision, recall and alpha at each minimum similarity.",
            spec(
                rows,
                LINES,
                x=quantity("threshold", "Minimum similarity"),
                y=quantity("value", "Share, or alpha", axis={"format": ".1f"}),
                color=name_of("what", order=list(CURVES.values())),
            ),
        )
    ]
