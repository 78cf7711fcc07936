"""Captions that read like others: does repeated wording make them easy?"""

from __future__ import annotations

from typing import Any

import numpy as np

from config.shared.progress import Progress
from evaluation.analyses.base import (
    AnalysisForm,
    Chart,
    Column,
    Inputs,
    Kind,
    Result,
    ShareMeasureField,
    Table,
    ends,
    resamples_field,
    seed_field,
)
from evaluation.analyses.specs import name_of, quantity, step
from evaluation.core.resampling import mean_interval
from evaluation.core.slices import NO_GROUP, cut_at, kendall_tau_b, spearman

CUTS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)


class WordingForm(AnalysisForm):
    measure = ShareMeasureField()
    resamples = resamples_field(1000)
    seed = seed_field()


def _compute(inputs: Inputs, chosen: dict[str, Any], progress: Progress) -> Result:
    # As in `matching`: sparse matrices are imported when they are needed.
    from evaluation.core.texts import overlap_with_others

    progress(0, 2, "comparing captions")
    overlap = overlap_with_others(inputs.captions, inputs.first_videos)
    progress(1, 2, "scoring runs")
    bins = cut_at(overlap, CUTS)
    rng = np.random.default_rng(chosen["seed"])
    rows, correlations = [], []
    for run, values in inputs.values(inputs.judged, chosen["measure"]).items():
        for place, name in enumerate(bins.names):
            own = values[bins.groups == place]
            interval = mean_interval(own, chosen["resamples"], rng=rng)
            row = {"run": run, "overlap": name, "captions": len(own), "interval": ends(interval)}
            rows.append(row | {"mean": float(own.mean()) if len(own) else None})
        correlations.append({"run": run, **_correlated(overlap, values)})
    return {
        "measure": chosen["measure"],
        "bins": list(bins.names),
        "rows": rows,
        "unknown": int((bins.groups == NO_GROUP).sum()),
        "correlations": correlations,
        "with_length": _correlated(overlap, inputs.caption_lengths),
    }


def _correlated(first: Any, second: Any) -> Result:
    return {
        "spearman": spearman(first, second).value,
        "kendall": kendall_tau_b(first, second).value,
    }


def _tables(result: Result) -> list[Table]:
    length = {"run": "length of the caption in words", **result["with_length"]}
    return [
        Table(
            "bins",
            f"{result['measure']} by the overlap of the caption with others",
            [
                Column("run", "Run"),
                Column("overlap", "Overlap"),
                Column("captions", "Captions", "count"),
                Column("mean", "Mean, %", "percent"),
                Column("interval", "95 % interval", "percent"),
            ],
            result["rows"],
        ),
        Table(
            "correlations",
            "Correlation of the overlap",
            [
                Column("run", "With"),
                Column("spearman", "Spearman’s rho", "number"),
                Column("kendall", "Kendall’s tau-b", "number"),
            ],
            [*result["correlations"], length],
        ),
    ]


def _charts(result: Result) -> list[Chart]:
    lines = {"type": "line", "point": True, "tooltip": True}
    return [
        Chart(
            "bins",
            f"{result['measure']} by the overlap of the caption with others",
            "A line for each run over the overlap of the caption with the most similar captions of "
            "other videos.",
            {
                "data": {"values": result["rows"]},
                "mark": lines,
                "encoding": {
                    "x": step("overlap", "Overlap", sort=result["bins"]),
                    "y": quantity("mean", result["measure"], axis={"format": "%"}),
                    "color": name_of("run"),
                },
            },
        )
    ]


WORDING = Kind(
    name="wording",
    title="Repeated wording",
    question="Are captions easier that read like many others?",
    source="in the manner of figure 8 and table 7",
    form=WordingForm,
    compute=_compute,
    tables=_tables,
    charts=_charts,
    notes=(
        "Overlap: mean cosine similarity (runs of five characters, weighted by how rare they are) "
        "of a caption with the ten most similar captions of other videos of this benchmark. The "
        "study compares with the captions that systems were trained on; these are not part of a "
        "benchmark here, so its figure cannot be drawn as it stands there.",
    ),
)
