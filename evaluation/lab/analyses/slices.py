"""Scores by kinds of captions: length, number of positives, tags, agreement of annotators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from django import forms

from config.shared.errors import Conflict, InvalidInput
from config.shared.progress import Progress
from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.relevance.positives import positives_per_query
from evaluation.core.statistics.resampling import undefined_reason
from evaluation.core.statistics.significance import Comparison, adjust_together, compare_systems
from evaluation.core.statistics.slices import (
    Tagged,
    annotator_agreement,
    cut_by_quantiles,
    group_by_tags,
    kendall_tau_b,
    slice_means,
    spearman,
)
from evaluation.lab.analyses.base import (
    VIDEOS,
    AnalysisForm,
    Chart,
    Column,
    Inputs,
    Kind,
    Result,
    ShareMeasureField,
    Table,
    confidence_field,
    ends,
    resamples_field,
    seed_field,
    unit_field,
)
from evaluation.lab.analyses.intervals import (
    INTERVALS_NOTE,
    count_units,
    counted,
    few_in_groups_warnings,
    few_units_warnings,
    method_of,
    method_title,
    resampled_by,
)
from evaluation.lab.analyses.specs import PERCENT, dots, lying, quantity, step
from evaluation.release.selectors import label_set_labels
from pooling.core.tag_file import NO_TAG
from pooling.selectors import tagged_queries, tags_sha256

LENGTH, POSITIVES, TAGS, AGREEMENT = "length", "positives", "tags", "agreement"
SLICED = {
    LENGTH: "Words in the caption",
    POSITIVES: "Positives of the caption",
    TAGS: "Tags of the caption",
    AGREEMENT: "Agreement on the caption’s pairs",
}
# By AGREE, DIFFER and NO_REPEATED_LABELS.
AGREEMENT_NAMES = ("labels agree", "labels differ on some pair", "no pair labelled several times")
TAGS_MAX = 30
# With more runs there are too many pairs for a table.
COMPARED_MAX = 6


class SlicesForm(AnalysisForm):
    measure = ShareMeasureField()
    by = forms.ChoiceField(label="Sliced by", choices=list(SLICED.items()), initial=LENGTH)
    bins = forms.IntegerField(
        label="Slices",
        initial=6,
        min_value=2,
        max_value=30,
        help_text="Of tags and agreement: as many as there are.",
    )
    unit = unit_field()
    confidence = confidence_field()
    resamples = resamples_field(1000)
    seed = seed_field()


@dataclass(frozen=True, slots=True)
class Slicing:
    """Which captions stand in which slice, and the number behind it where it is one: [n_queries].

    As in `Tagged`, a caption may stand in several slices, or in none.
    """

    places: Tagged
    attribute: IntArray | None = None


def _fill(inputs: Inputs, chosen: dict[str, Any]) -> dict[str, Any]:
    """With the content of the tags, where they are asked for."""
    if chosen["by"] == AGREEMENT and inputs.label_set is None:
        raise InvalidInput("agreement is that of a label set; the original positives have none")
    if chosen["by"] != TAGS:
        return chosen
    if not inputs.benchmark.tags.exists():
        raise InvalidInput(
            f"{inputs.benchmark.key} has no tags yet; a lead brings them on the page of the "
            "benchmark, or import_tags does"
        )
    return chosen | {"tags_sha256": tags_sha256(inputs.benchmark)}


def _compute(inputs: Inputs, chosen: dict[str, Any], progress: Progress) -> Result:
    slicing = _slicing(inputs, chosen)
    places, attribute = slicing.places, slicing.attribute
    clusters = inputs.clusters(chosen["unit"])
    rng = np.random.default_rng(chosen["seed"])
    rows, correlations = [], []
    values_by_run = inputs.values(inputs.judged, chosen["measure"])
    for number, (name, values) in enumerate(values_by_run.items()):
        progress(number, len(inputs.runs), "slicing")
        found = slice_means(
            values[places.queries],
            places.groups,
            places.names,
            chosen["resamples"],
            rng=rng,
            confidence=chosen["confidence"],
            clusters=None if clusters is None else clusters[places.queries],
        )
        rows += [
            {
                "run": name,
                "slice": one.name,
                "captions": one.n,
                "units": count_units(clusters, places.queries[places.groups == number]),
                "mean": one.mean.value,
                "interval": ends(one.interval),
                "method": method_of(one.interval),
            }
            for number, one in enumerate(found)
        ]
        if attribute is not None:
            correlations.append(
                {
                    "run": name,
                    "spearman": spearman(attribute, values).value,
                    "kendall": kendall_tau_b(attribute, values).value,
                }
            )
    return {
        "measure": chosen["measure"],
        "by": chosen["by"],
        "confidence": chosen["confidence"],
        "slices": list(places.names),
        "left_out": places.left_out,
        **resampled_by(inputs, chosen["unit"]),
        "rows": rows,
        "correlations": correlations,
        "differences": _differences(values_by_run, places, clusters, chosen, rng),
    }


def _differences(
    values_by_run: dict[str, FloatArray],
    places: Tagged,
    clusters: IntArray | None,
    chosen: dict[str, Any],
    rng: np.random.Generator,
) -> list[Result]:
    """Return every two of the first runs in each slice, with p corrected over all of them."""
    names = list(values_by_run)[:COMPARED_MAX]
    values = np.stack([values_by_run[name] for name in names])
    found: list[Comparison] = []
    slices: list[str] = []
    for number, title in enumerate(places.names):
        queries = places.queries[places.groups == number]
        own = None if clusters is None else clusters[queries]
        if undefined_reason(len(queries), own) is not None:
            continue
        compared = compare_systems(
            values[:, queries],
            chosen["resamples"],
            rng=rng,
            confidence=chosen["confidence"],
            clusters=own,
        )
        found += compared
        slices += [title] * len(compared)
    return [
        {
            "slice": title,
            "first": names[row.system],
            "second": names[row.other],
            "difference": row.difference.mean,
            "interval": ends(row.difference.interval),
            "p_holm": row.adjusted,
            "p_randomisation": row.difference.randomisation.p,
        }
        for title, row in zip(slices, adjust_together(found), strict=True)
    ]


def _slicing(inputs: Inputs, chosen: dict[str, Any]) -> Slicing:
    """Raises `Conflict` where the tags are not those any more that the result would name."""
    by, n_queries = chosen["by"], inputs.benchmark.n_queries
    if by == TAGS:
        tags = tagged_queries(inputs.benchmark)
        if tags_sha256(inputs.benchmark) != chosen["tags_sha256"]:
            raise Conflict("the tags were replaced at this moment; ask again")
        return Slicing(group_by_tags(tags, n_queries, TAGS_MAX, NO_TAG))
    everybody = np.arange(n_queries)
    if by == AGREEMENT:
        return Slicing(Tagged(everybody, _agreement(inputs), AGREEMENT_NAMES, left_out=0))
    attribute = inputs.caption_lengths if by == LENGTH else positives_per_query(inputs.judged)
    bins = cut_by_quantiles(attribute, chosen["bins"])
    return Slicing(Tagged(everybody, bins.groups, bins.names, left_out=0), attribute)


def _agreement(inputs: Inputs) -> IntArray:
    assert inputs.label_set is not None  # noqa: S101 - checked before
    counted = label_set_labels(inputs.label_set)
    return annotator_agreement(
        inputs.benchmark.pair_space.queries(counted.codes),
        counted.judgments,
        counted.relevant,
        inputs.benchmark.n_queries,
    )


def _tables(result: Result) -> list[Table]:
    percent = f"{100 * result['confidence']:g} % interval"
    slices = Table(
        "slices",
        f"{result['measure']} by {SLICED[result['by']].lower()}",
        [
            Column("run", "Run"),
            Column("slice", SLICED[result["by"]]),
            Column("captions", "Captions", "count"),
            *([Column("units", "Videos", "count")] if result.get("unit") == VIDEOS else []),
            Column("mean", "Mean, %", "percent"),
            Column("interval", percent, "percent"),
            Column("method", "Interval by"),
        ],
        [{**row, "method": method_title(row.get("method"))} for row in result["rows"]],
        note=_left_out(result["left_out"]),
    )
    correlations = Table(
        "correlations",
        "Correlation with the score of the caption",
        [
            Column("run", "Run"),
            Column("spearman", "Spearman’s rho", "number"),
            Column("kendall", "Kendall’s tau-b", "number"),
        ],
        result["correlations"],
    )
    tables = [slices]
    if result.get("differences"):
        tables.append(_differences_table(result, percent))
    # Tags and agreement are not numbers.
    return [*tables, correlations] if result["correlations"] else tables


def _differences_table(result: Result, percent: str) -> Table:
    rows = result["differences"]
    slices = len({row["slice"] for row in rows})
    left_out = len({row["run"] for row in result["rows"]}) - COMPARED_MAX
    return Table(
        "differences",
        "Differences between every two systems in each slice",
        [
            Column("slice", SLICED[result["by"]]),
            Column("first", "Run"),
            Column("second", "minus run"),
            Column("difference", "Difference, points", "points"),
            Column("interval", percent, "points"),
            Column("p_holm", "p (Holm, whole table)", "p"),
            Column("p_randomisation", "p, randomisation", "p"),
        ],
        rows,
        note=f"Holm’s correction covers the {counted(len(rows), 'test')} of this table: "
        f"{counted(slices, 'slice')} by {counted(len(rows) // slices, 'pair')} of systems."
        + (f" Only the first {COMPARED_MAX} runs are compared." if left_out > 0 else ""),
    )


def _warnings(result: Result) -> list[str]:
    rows = [{"group": row["slice"], **row} for row in result["rows"]]
    return few_units_warnings(result) or few_in_groups_warnings(result, rows, "slice")


def _left_out(tags: int) -> str:
    if not tags:
        return ""
    return f"The {TAGS_MAX} tags of most captions; {tags:,} more are left out."


def _charts(result: Result) -> list[Chart]:
    title = SLICED[result["by"]]
    if result["by"] in (TAGS, AGREEMENT):
        runs = {row["run"] for row in result["rows"]}
        place, at = "y", lying("slice", result["slices"], len(runs))
    else:
        place, at = "x", step("slice", title, sort=result["slices"])
    score = quantity("mean", result["measure"], axis={"format": PERCENT})
    return [
        Chart(
            "slices",
            f"{result['measure']} by {title.lower()}",
            "Dots for each run over the slices, each on a line that is its interval.",
            dots(result["rows"], place, at, score),
        )
    ]


SLICES = Kind(
    name="slices",
    title="Scores by kinds of captions",
    question="Are systems better on short captions or long ones, with few matches or many, on "
    "some topics, where people agree?",
    form=SlicesForm,
    compute=_compute,
    fill=_fill,
    tables=_tables,
    charts=_charts,
    warnings=_warnings,
    notes=(
        "By a number, slices hold about as many captions each, as far as equal values allow.",
        "By tags, a caption counts in the slice of each of its tags; captions without one are a "
        "slice of their own.",
        "By agreement: of the pairs of a caption that several people labelled, whether all said "
        "the same of each, relevant or not. The more such pairs, the likelier is one on which "
        "they differ.",
        INTERVALS_NOTE,
    ),
)
