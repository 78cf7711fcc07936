"""Scores by the overlap of captions with other texts, for `wording` and `train-overlap`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from config.shared.progress import Progress
from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.statistics.resampling import mean_interval
from evaluation.core.statistics.slices import NO_GROUP, cut_at, kendall_tau_b, spearman
from evaluation.lab.analyses.charts import PERCENT, Chart, dots, quantity, step
from evaluation.lab.analyses.fields import (
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
    method_of,
    method_title,
    resampled_by,
)
from evaluation.lab.analyses.results import Result, ends
from evaluation.lab.analyses.tables import Column, Table

EXAMPLES = 20
LENGTH = "length in words"


class TextOverlapForm(AnalysisForm):
    measure = ShareMeasureField()
    unit = resampling_unit_field()
    confidence = confidence_field()
    resamples = resamples_field(1000)
    seed = seed_field()


def scores_by_overlap(
    inputs: Inputs, options: dict[str, Any], overlap: FloatArray, cuts: Sequence[float]
) -> Result:
    """Return the scores of each run by bins of overlap [n_queries], and the correlations."""
    bins = cut_at(overlap, cuts)
    rng = np.random.default_rng(options["seed"])
    clusters = inputs.clusters(options["unit"])
    rows: list[Result] = []
    with_scores: dict[str, list[Result]] = {"correlations": [], "length_correlations": []}
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
            row = {"run": run, "overlap": name, "captions": len(own), "interval": ends(interval)}
            row |= {"units": count_units(clusters, queries), "method": method_of(interval)}
            rows.append(row | {"mean": float(own.mean()) if len(own) else None})
        for key, attribute in zip(with_scores, (overlap, inputs.caption_lengths), strict=True):
            with_scores[key].append({"run": run, **_correlated(attribute, values)})
    return {
        "measure": options["measure"],
        "confidence": options["confidence"],
        **resampled_by(inputs, options["unit"]),
        "bins": list(bins.names),
        "rows": rows,
        "unknown": int((bins.groups == NO_GROUP).sum()),
        **with_scores,
        "with_length": _correlated(overlap, inputs.caption_lengths),
    }


def examples(inputs: Inputs, overlap: Any, texts: Sequence[str]) -> list[Result]:
    """Return captions at even steps from the lowest to the highest overlap.

    Each has the most similar one of `texts`. overlap: a `TextOverlap`, whose module is imported
    only when needed.
    """
    closest: IntArray = overlap.closest
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
    """Return a progress function for core, which has no phases."""

    def report(done: int, total: int | None, phase: str = "") -> None:
        progress(done, total, "comparing captions")

    return report


def _correlated(first: Any, second: Any) -> Result:
    return {
        "spearman": spearman(first, second).value,
        "kendall": kendall_tau_b(first, second).value,
    }


def overlap_tables(result: Result, others: str, closest: str) -> list[Table]:
    """Return the tables.

    others: the texts that captions overlap with. closest: the head of the most similar text.
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
                Column(
                    "interval", f"{100 * result.get('confidence', 0.95):g} % interval", "percent"
                ),
                Column("method", "Interval by"),
            ],
            [{**row, "method": method_title(row.get("method"))} for row in result["rows"]],
        ),
        Table(
            "correlations",
            "Correlations over captions",
            [
                Column("of", "Property"),
                Column("run", "With"),
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
                Column("caption", "Caption"),
                Column("closest", closest),
                Column("similarity", "Their similarity", "number"),
            ],
            result["examples"],
        ),
    ]


def _with_scores(of: str, rows: list[Result], measure: str) -> list[Result]:
    return [{**row, "of": of, "run": f"{measure} of {row['run']}"} for row in rows]


def overlap_warnings(result: Result) -> list[str]:
    rows = [{"group": row["overlap"], **row} for row in result["rows"]]
    return few_units_warnings(result) or few_in_groups_warnings(result, rows, "bin")


def overlap_charts(result: Result, others: str) -> list[Chart]:
    return [
        Chart(
            "bins",
            f"{result['measure']} by the overlap of the caption with {others}",
            "Dots for each run over the overlap of the caption with the ten most similar "
            f"{others}, each on a line that is its interval.",
            dots(
                result["rows"],
                "x",
                step("overlap", "Overlap", sort=result["bins"]),
                quantity("mean", result["measure"], axis={"format": PERCENT}),
            ),
        )
    ]
