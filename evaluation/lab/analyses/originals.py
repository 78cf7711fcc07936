"""Share of rejected original positives, and scores with and without them."""

from __future__ import annotations

from typing import Any

import numpy as np
from django import forms

from annotation.core.consensus import NO_LABEL
from config.shared.progress import Progress
from config.shared.words import counted
from evaluation.core.arrays import IntArray
from evaluation.core.files.label_file import Labels
from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.originals import drop_rejected
from evaluation.core.statistics.resampling import FEW_CLUSTERS, difference_interval, mean_interval
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.charts import DOTS, PERCENT, Chart, measures_in, name_of, quantity
from evaluation.lab.analyses.fields import (
    MeasuresField,
    confidence_field,
    resamples_field,
    resampling_unit_field,
    seed_field,
)
from evaluation.lab.analyses.forms import AnalysisForm
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.intervals import NAMES, few_units_warnings, resampled_by
from evaluation.lab.analyses.results import Result, ends, mean_of
from evaluation.lab.analyses.tables import Column, Table
from evaluation.release.selectors import label_set_judged, label_set_labels

BY = {"kept": "Rejected ones kept", "dropped": "Rejected ones dropped"}


class OriginalsForm(AnalysisForm):
    measures = MeasuresField(shares=True)
    examples = forms.IntegerField(
        label="Examples",
        initial=50,
        min_value=0,
        max_value=10_000,
        help_text="Maximum number of rejected original positives in the list. Those with the "
        "most judgments come first.",
    )
    unit = resampling_unit_field()
    confidence = confidence_field()
    resamples = resamples_field()
    seed = seed_field()


def _compute(inputs: Inputs, options: dict[str, Any], progress: Progress) -> Result:
    assert inputs.label_set is not None  # noqa: S101 - checked by the analysis
    progress(0, 2, "comparing labels")
    labels, original = label_set_judged(inputs.label_set), inputs.graded_original
    found = label_set_labels(inputs.label_set)
    judged = np.flatnonzero(np.isin(found.codes, original.codes, assume_unique=True))
    dropped = drop_rejected(labels, original)
    progress(1, 2, "scoring")
    return {
        "known": len(original.codes),
        **_counts(found.labels[judged]),
        **_share(found, judged, inputs, options),
        "confidence": options["confidence"],
        **resampled_by(inputs, options["unit"]),
        "without": _count_without_positive(dropped) - _count_without_positive(inputs.judged),
        "rows": _rows(inputs, dropped, options),
        "examples": _examples(found, judged, inputs, options["examples"]),
    }


def _counts(labels: IntArray) -> dict[str, int]:
    relevant, irrelevant = int((labels >= 1).sum()), int((labels == 0).sum())
    return {
        "judged": len(labels),
        "settled": relevant + irrelevant,
        "relevant": relevant,
        "irrelevant": irrelevant,
    }


def _share(found: Labels, judged: IntArray, inputs: Inputs, options: dict[str, Any]) -> Result:
    """Return the share of rejected pairs among those that are settled, with its interval."""
    settled = judged[found.labels[judged] != NO_LABEL]
    is_rejected = found.labels[settled] == 0
    captions = inputs.benchmark.pair_space.queries(found.codes[settled])
    by_caption = inputs.clusters(options["unit"])
    clusters = captions if by_caption is None else by_caption[captions]
    interval = mean_interval(
        is_rejected,
        options["resamples"],
        rng=np.random.default_rng(options["seed"]),
        confidence=options["confidence"],
        clusters=clusters,
    )
    return {
        "share": float(is_rejected.mean()) if len(is_rejected) else None,
        "interval": ends(interval),
        "share_units": len(np.unique(clusters)),
    }


def _count_without_positive(judged: Judged) -> int:
    """Return the number of captions without a positive."""
    codes, _ = judged.positives()
    return judged.n_queries - len(np.unique(judged.space.queries(codes)))


def _rows(inputs: Inputs, dropped: Judged, options: dict[str, Any]) -> list[Result]:
    kept = inputs.values_of(inputs.judged, options["measures"])
    without_rejected = inputs.values_of(dropped, options["measures"])
    rng = np.random.default_rng(options["seed"])
    rows = []
    for measure in options["measures"]:
        for run, values in kept[measure].items():
            others = without_rejected[measure][run]
            interval = difference_interval(
                others,
                values,
                options["resamples"],
                rng=rng,
                confidence=options["confidence"],
                clusters=inputs.clusters(options["unit"]),
            )
            rows.append(
                {
                    "run": run,
                    "measure": measure,
                    "kept": mean_of(values),
                    "dropped": mean_of(others),
                    "difference": mean_of(others - values),
                    "difference_interval": ends(interval),
                }
            )
    return rows


def _examples(found: Labels, judged: IntArray, inputs: Inputs, count: int) -> list[Result]:
    places = judged[found.labels[judged] == 0]
    order = np.lexsort((found.relevant[places], -found.judgments[places]))[:count]
    query, video = inputs.benchmark.pair_space.decode(found.codes[places[order]])
    return [
        {
            "caption_id": inputs.query_keys[q],
            "caption": inputs.captions[q],
            "video_id": inputs.video_keys[v],
            "judgments": int(found.judgments[place]),
            "relevant": int(found.relevant[place]),
        }
        for q, v, place in zip(query.tolist(), video.tolist(), places[order].tolist(), strict=True)
    ]


def _tables(result: Result) -> list[Table]:
    percent = f"{100 * result['confidence']:g} % interval"
    return [
        Table(
            "originals",
            "Judged original positives",
            [
                Column("known", "Original positives", "count"),
                Column("judged", "Judged", "count"),
                Column("settled", "Settled", "count"),
                Column("relevant", "Relevant", "count"),
                Column("irrelevant", "Not relevant", "count"),
                Column("share", "Not relevant, % of settled", "percent"),
                Column("interval", percent, "percent"),
                Column("without", "Captions that lose their only positive", "count"),
            ],
            [result],
        ),
        Table(
            "scores",
            "Scores by the labels, %",
            [
                Column("run", "Run"),
                Column("measure", "Measure"),
                Column("kept", BY["kept"], "percent"),
                Column("dropped", BY["dropped"], "percent"),
                Column("difference", "Difference", "points"),
                Column("difference_interval", percent, "points"),
            ],
            result["rows"],
        ),
        Table(
            "examples",
            "Rejected original positives",
            [
                Column("caption", "Caption"),
                Column("caption_id", "Key", compared=lambda row: {"caption": row["caption_id"]}),
                Column("video_id", "Video"),
                Column("judgments", "Judgments", "count"),
                Column("relevant", "Relevant judgments", "count"),
            ],
            result["examples"],
        ),
    ]


def _warnings(result: Result) -> list[str]:
    units = result.get("share_units", FEW_CLUSTERS)
    if few := few_units_warnings(result):
        return few
    if not 0 < units < FEW_CLUSTERS:
        return []
    name = NAMES[result["unit"]]
    return [
        f"The settled original positives belong to only {counted(units, name)}. The interval of "
        f"their share is wide and depends on each single {name}."
    ]


def _charts(result: Result) -> list[Chart]:
    rows = [
        {"run": row["run"], "measure": row["measure"], "positives": title, "score": row[by]}
        for row in result["rows"]
        for by, title in BY.items()
    ]
    if not rows:
        return []
    score = quantity("score", "Score", axis={"format": PERCENT}, scale={"zero": False})
    return [
        Chart(
            "scores",
            "Scores with and without the rejected original positives",
            "Each measure has two dots for each run: one with the rejected original positives, and "
            "one without them.",
            {
                "data": {"values": rows},
                "facet": name_of("measure", order=measures_in(rows)),
                "columns": 3,
                "resolve": {"scale": {"x": "independent"}},
                "spec": {
                    "width": 300,
                    "height": {"step": 26},
                    "mark": DOTS,
                    "encoding": {
                        "x": score,
                        "y": name_of("run"),
                        "color": name_of("positives", order=list(BY.values())),
                    },
                },
            },
        )
    ]


ORIGINALS = Analysis(
    name="originals",
    title="Rejected original positives",
    question="How many original positives do annotators reject, and does this change scores?",
    form=OriginalsForm,
    compute=_compute,
    tables=_tables,
    charts=_charts,
    warnings=_warnings,
    runs_needed=0,
    needs_labels=True,
    needs_originals=True,
    notes=(
        "An original positive is rejected if it was judged and its outcome is not relevant. "
        "Pairs that are in conflict or pending are not settled, and the share leaves them out. "
        "Only original positives that some run ranked high were judged, so the share does not "
        "apply to the others. In the published labels of the FIRE study, 219 of 927 original "
        "positives of MSR-VTT are rejected (23.6 %).",
        "Kept: all original positives count as positive, as in the study and in the stored "
        "results. Dropped: if an original positive was judged, its label counts. Captions that "
        "lose their only positive stay in the average and score 0.",
        "The interval of the share is Wilson’s with the effective number of independent pairs, "
        "because pairs of one video resemble each other.",
    ),
)
