"""Scores by the overlap of captions with other texts, for `wording` and `train-overlap`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.statistics.resampling import mean_interval
from evaluation.core.statistics.slices import NO_GROUP, cut_at, kendall_tau_b, spearman
from evaluation.lab.analyses.charts import PERCENT, Chart, dots, quantity, step
from evaluation.lab.analyses.fields import (
    ResamplingOptions,
    ShareMeasureField,
    confidence_field,
    resamples_field,
    resampling_unit_field,
    seed_field,
)
from evaluation.lab.analyses.forms import AnalysisForm
from evaluation.lab.analyses.inputs import VIDEOS, Inputs
from evaluation.lab.analyses.intervals import (
    count_units,
    few_in_groups_warnings,
    few_units_warnings,
    interval_title,
    method_of,
    method_title,
    resampled_by,
)
from evaluation.lab.analyses.old_results import (
    Correlation,
    Ends,
    Row,
    RunCorrelation,
    WithIntervals,
    mean_of,
)
from evaluation.lab.analyses.tables import Column, Table
from hearth.shared.progress import Progress

if TYPE_CHECKING:  # Importing sparse matrices takes long, so analyses do it only when needed.
    from evaluation.core.texts.similarity import TextOverlap

EXAMPLES = 20
LENGTH = "length in words"


class BinRow(TypedDict):
    """The mean score of a run in one bin of overlap. units: resampling units in the bin."""

    run: str
    overlap: str
    captions: int
    interval: Ends | None
    units: int
    method: str | None
    mean: float | None


class OverlapScores(WithIntervals):
    """The scores of each run by bins of overlap. unknown: captions without an overlap."""

    measure: str
    bins: list[str]
    rows: list[BinRow]
    unknown: int
    correlations: list[RunCorrelation]
    length_correlations: list[RunCorrelation]
    with_length: Correlation


class ExampleRow(TypedDict):
    """A caption with its overlap and the most similar text; null if no text is similar."""

    overlap: float
    caption_id: str
    caption: str
    closest: str | None
    similarity: float


class TextOverlapResult(OverlapScores):
    examples: list[ExampleRow]


class TextOverlapForm(AnalysisForm):
    measure = ShareMeasureField()
    unit = resampling_unit_field()
    confidence = confidence_field()
    resamples = resamples_field(1000)
    seed = seed_field()


class TextOverlapOptions(ResamplingOptions):
    measure: str


def scores_by_overlap(
    inputs: Inputs, options: TextOverlapOptions, overlap: FloatArray, cuts: Sequence[float]
) -> OverlapScores:
    """Return the scores of each run by bins of overlap [n_queries], and the correlations."""
    bins = cut_at(overlap, cuts)
    rng = np.random.default_rng(options["seed"])
    clusters = inputs.clusters(options["unit"])
    rows: list[BinRow] = []
    of_overlap: list[RunCorrelation] = []
    of_length: list[RunCorrelation] = []
    for run, values in inputs.values(inputs.judged, options["measure"]).items():
        for place, name in enumerate(bins.names):
            queries = np.flatnonzero(bins.groups == place)
            own = values[queries]
            interval = mean_interval(
                own,
                options["resamples"],
                rng=rng,
                confidence=options["confidence"],
                clusters=None if clusters is None else clusters[queries],
            )
            rows.append(
                {
                    "run": run,
                    "overlap": name,
                    "captions": len(own),
                    "interval": interval.ends,
                    "units": count_units(clusters, queries),
                    "method": method_of(interval),
                    "mean": mean_of(own),
                }
            )
        of_overlap.append({"run": run, **_correlated(overlap, values)})
        of_length.append({"run": run, **_correlated(inputs.caption_lengths, values)})
    return {
        "measure": options["measure"],
        "confidence": options["confidence"],
        **resampled_by(inputs, options["unit"]),
        "bins": list(bins.names),
        "rows": rows,
        "unknown": int((bins.groups == NO_GROUP).sum()),
        "correlations": of_overlap,
        "length_correlations": of_length,
        "with_length": _correlated(overlap, inputs.caption_lengths),
    }


def examples(inputs: Inputs, overlap: TextOverlap, texts: Sequence[str]) -> list[ExampleRow]:
    """Return captions at even steps from the lowest to the highest overlap.

    Each has the most similar one of `texts`.
    """
    closest = overlap.closest
    order = np.argsort(overlap.mean, kind="stable")
    steps = np.linspace(0, len(order) - 1, min(EXAMPLES, len(order))).round().astype(np.int64)
    return [
        {
            "overlap": float(overlap.mean[number]),
            "caption_id": inputs.query_keys[number],
            "caption": inputs.captions[number],
            "closest": texts[closest[number]] if closest[number] >= 0 else None,
            "similarity": float(overlap.similarity[number]),
        }
        for number in order[steps].tolist()
    ]


def with_phase(progress: Progress) -> Progress:
    """Return a progress function that names the phase, because functions of `core` do not."""

    def report(done: int, total: int | None, phase: str = "") -> None:
        progress(done, total, "comparing captions")

    return report


def _correlated(first: FloatArray | IntArray, second: FloatArray | IntArray) -> Correlation:
    return {
        "spearman": spearman(first, second).value,
        "kendall": kendall_tau_b(first, second).value,
    }


def overlap_tables(result: TextOverlapResult, others: str, closest: str) -> list[Table]:
    """Return the tables.

    others: the texts that captions overlap with. closest: the title of the column of the most
    similar text.
    """
    return [
        Table(
            "bins",
            f"{result['measure']} by the overlap of the caption with {others}",
            [
                Column("run", "Run"),
                Column("overlap", "Overlap"),
                Column("captions", "Captions", "count"),
                *([Column("units", "Videos", "count")] if result.get("unit") == VIDEOS else []),
                Column("mean", "Mean, %", "percent"),
                Column("interval", interval_title(result["confidence"]), "percent"),
                Column("method", "Interval by"),
            ],
            [{**row, "method": method_title(row.get("method"))} for row in result["rows"]],
        ),
        Table(
            "correlations",
            "Correlations over captions",
            [
                Column("of", "Property"),
                Column("run", "Correlated with"),
                Column("spearman", "Spearman’s rho", "number"),
                Column("kendall", "Kendall’s tau-b", "number"),
            ],
            [
                {"of": "overlap", "run": LENGTH, **result["with_length"]},
                *_with_scores("overlap", result["correlations"], result["measure"]),
                *_with_scores(LENGTH, result["length_correlations"], result["measure"]),
            ],
        ),
        Table(
            "examples",
            "Examples from the lowest to the highest overlap",
            [
                Column("overlap", "Overlap", "number"),
                Column("caption_id", "Caption id"),
                Column("caption", "Caption", names="caption"),
                Column("closest", closest),
                Column("similarity", "Similarity", "number"),
            ],
            result["examples"],
        ),
    ]


def _with_scores(of: str, rows: Sequence[RunCorrelation], measure: str) -> list[Row]:
    return [{**row, "of": of, "run": f"{measure} of {row['run']}"} for row in rows]


def overlap_warnings(result: TextOverlapResult) -> list[str]:
    rows = [{"group": row["overlap"], **row} for row in result["rows"]]
    return few_units_warnings(result) or few_in_groups_warnings(result, rows, "bin")


def overlap_charts(result: TextOverlapResult, others: str) -> list[Chart]:
    return [
        Chart(
            "bins",
            f"{result['measure']} by the overlap of the caption with {others}",
            "Each range of overlap has a dot for each run, on a line that shows its interval. "
            f"Overlap is the mean similarity to the ten most similar {others}.",
            dots(
                result["rows"],
                "x",
                step("overlap", "Overlap", sort=result["bins"]),
                quantity("mean", result["measure"], axis={"format": PERCENT}),
            ),
        )
    ]
