"""Labels made from captions alone, beside those that people gave."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from django import forms

from config.shared.progress import Progress
from evaluation.analyses.base import (
    AnalysisForm,
    Chart,
    Column,
    Inputs,
    Kind,
    MeasuresField,
    Result,
    Table,
)
from evaluation.analyses.specs import LINES, PERCENT, name_of, quantity, spec
from evaluation.core.measures import parse_measure
from evaluation.core.relevance import Judged, with_positives
from evaluation.core.scoring import score_run

CURVES = {"precision": "Precision", "recall": "Recall", "f1": "F1"}
BY = {"original": "Original positives", "matched": "Matched captions", "labelled": "People"}


class MatchingForm(AnalysisForm):
    measures = MeasuresField(shares=True)
    threshold = forms.FloatField(
        label="Similarity from which captions match",
        required=False,
        min_value=0.02,
        max_value=1,
        help_text="1: only equal captions. Empty: where F1 is highest.",
    )


def _compute(inputs: Inputs, chosen: dict[str, Any], progress: Progress) -> Result:
    # Sparse matrices take a tenth of a second to import, which no other page is to wait for.
    from evaluation.core.texts import match_captions, score_matches

    codes = np.setdiff1d(inputs.judged.codes, inputs.original.codes, assume_unique=True)
    progress(0, 2, "comparing captions")
    similarity = match_captions(inputs.captions, inputs.original, codes)
    quality = score_matches(codes, similarity, inputs.judged)
    curve = [
        dict(zip(("threshold", *CURVES, "labelled", "correct"), row, strict=True))
        for row in zip(
            *(
                column.tolist()
                for column in (
                    quality.thresholds.round(2),
                    quality.precision,
                    quality.recall,
                    quality.f1,
                    quality.labelled,
                    quality.correct,
                )
            ),
            strict=True,
        )
    ]
    progress(1, 2, "scoring runs")
    threshold = chosen["threshold"] or max(curve, key=lambda row: row["f1"])["threshold"]
    matched = _labels(codes, similarity >= threshold, inputs)
    return {
        "pairs": quality.judged,
        "relevant": quality.relevant,
        "threshold": threshold,
        "curve": curve,
        "scores": _scores(inputs, matched, chosen["measures"]),
    }


def _labels(codes: npt.NDArray[Any], matches: npt.NDArray[np.bool_], inputs: Inputs) -> Judged:
    judged = Judged(
        codes, matches.astype(np.int8), inputs.benchmark.n_queries, inputs.benchmark.n_videos
    )
    return with_positives(judged, inputs.original)


def _scores(inputs: Inputs, matched: Judged, names: list[str]) -> list[Result]:
    measures = [parse_measure(name) for name in names]
    by = {"original": inputs.original, "matched": matched, "labelled": inputs.judged}
    rows = []
    for run, ranked in inputs.ranked.items():
        found = {key: score_run(ranked, judged, measures) for key, judged in by.items()}
        rows += [
            {"run": run, "measure": str(measure)}
            | {key: scores.mean(measure).value for key, scores in found.items()}
            for measure in measures
        ]
    return rows


def _tables(result: Result) -> list[Table]:
    return [
        Table(
            "scores",
            f"Scores with captions that match from {result['threshold']:g} on",
            [
                Column("run", "Run"),
                Column("measure", "Measure"),
                *(Column(key, f"{title}, %", "percent") for key, title in BY.items()),
            ],
            result["scores"],
        ),
        Table(
            "curve",
            "Labels from captions beside those of people",
            [
                Column("threshold", "Similarity from", "number"),
                Column("labelled", "Called relevant", "count"),
                Column("correct", "Rightly", "count"),
                *(Column(key, f"{title}, %", "percent") for key, title in CURVES.items()),
            ],
            _curve(result),
            note=f"{result['pairs']:,} judged pairs without the original positives, "
            f"{result['relevant']:,} of them relevant.",
        ),
    ]


def _curve(result: Result) -> list[Result]:
    """Where nothing is called relevant there is no precision, which is stored as 0."""
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
            "How well matching captions stand in for people",
            "Three lines over the similarity from which captions match: precision rises with it, "
            "recall falls, F1 is highest in between.",
            spec(
                rows,
                LINES,
                x=quantity("threshold", "Similarity from which captions match"),
                y=quantity("share", "Share", axis={"format": PERCENT}),
                color=name_of("what", order=list(CURVES.values())),
            ),
        )
    ]


MATCHING = Kind(
    name="matching",
    title="Labels from matching captions",
    question="Could matching the captions’ words have replaced people?",
    form=MatchingForm,
    compute=_compute,
    tables=_tables,
    charts=_charts,
    needs_labels=True,
    needs_originals=True,
    notes=(
        "A video is called relevant for a caption where one of its own captions is similar enough: "
        "cosine of runs of five characters, weighted by how rare they are. It is held against "
        "people’s labels on the same pairs; original positives are known and left out.",
    ),
)
