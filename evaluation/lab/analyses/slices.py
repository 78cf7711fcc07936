"""Scores by slices of captions: length, number of positives, tags, agreement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NotRequired

import numpy as np
from django import forms

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
from evaluation.lab.analyses.fields import (
    ResamplingOptions,
    ShareMeasureField,
    confidence_field,
    resamples_field,
    resampling_unit_field,
    seed_field,
)
from evaluation.lab.analyses.forms import AnalysisForm
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.intervals import (
    INTERVALS_NOTE,
    count_units,
    method_of,
    resampled_by,
)
from evaluation.lab.analyses.layouts import slices as layout
from evaluation.lab.analyses.layouts.slices import (
    AGREEMENT,
    COMPARED_MAX,
    LENGTH,
    SLICED,
    TAGS,
    TAGS_MAX,
    SliceDifference,
    SliceRow,
    SlicesResult,
)
from evaluation.lab.analyses.old_analysis import Analysis
from evaluation.lab.analyses.old_results import RunCorrelation
from evaluation.release.selectors import label_set_labels
from hearth.shared.errors import Conflict, InvalidInput
from hearth.shared.progress import Progress
from pooling.core.readers.tags import NO_TAG
from pooling.selectors.metadata import tagged_queries, tags_sha256

# Names of the results of `annotator_agreement`, in order: AGREE, DIFFER, NO_REPEATED_LABELS.
AGREEMENT_NAMES = ("labels agree", "labels differ on some pair", "no pair labelled several times")


class SlicesForm(AnalysisForm):
    measure = ShareMeasureField()
    by = forms.ChoiceField(label="Slice by", choices=list(SLICED.items()), initial=LENGTH)
    bins = forms.IntegerField(
        label="Number of slices",
        initial=6,
        min_value=2,
        max_value=30,
        help_text="Only for slices by length or positives. By tags, there is a slice for each of "
        f"the {TAGS_MAX} most frequent tags. By agreement, there are three slices.",
    )
    unit = resampling_unit_field()
    confidence = confidence_field()
    resamples = resamples_field(1000)
    seed = seed_field()


class SlicesOptions(ResamplingOptions):
    """tags_sha256: present if the captions are sliced by tags."""

    measure: str
    by: str
    bins: int
    tags_sha256: NotRequired[str]


@dataclass(frozen=True, slots=True)
class Slicing:
    """The slices of captions. As in `Tagged`, a caption can be in several slices, or in none.

    attribute: int64 [n_queries], the length or the number of positives of each caption; None for
    slices by tags or agreement.
    """

    tagged: Tagged
    attribute: IntArray | None = None


def _fill_defaults(inputs: Inputs, options: SlicesOptions) -> SlicesOptions:
    """Add the hash of the tags if the captions are sliced by tags.

    Raises `InvalidInput` for slices by tags if there are no tags, and for slices by agreement if
    there is no label set.
    """
    if options["by"] == AGREEMENT and inputs.label_set is None:
        raise InvalidInput("Agreement needs a label set. Select one under “Labels”.")
    if options["by"] != TAGS:
        return options
    if not inputs.benchmark.tags.exists():
        raise InvalidInput(
            f"{inputs.benchmark.key} has no tags. A lead can import them under “Captions and "
            "videos”, and an operator with the command import_tags."
        )
    return {**options, "tags_sha256": tags_sha256(inputs.benchmark)}


def _compute(inputs: Inputs, options: SlicesOptions, progress: Progress) -> SlicesResult:
    slicing = _slicing(inputs, options)
    tagged, attribute = slicing.tagged, slicing.attribute
    clusters = inputs.clusters(options["unit"])
    rng = np.random.default_rng(options["seed"])
    rows: list[SliceRow] = []
    correlations: list[RunCorrelation] = []
    values_by_run = inputs.values(inputs.judged, options["measure"])
    for done, (name, values) in enumerate(values_by_run.items()):
        progress(done, len(inputs.runs), "scoring slices")
        found = slice_means(
            values[tagged.queries],
            tagged.groups,
            tagged.names,
            options["resamples"],
            rng=rng,
            confidence=options["confidence"],
            clusters=None if clusters is None else clusters[tagged.queries],
        )
        rows += [
            {
                "run": name,
                "slice": part.name,
                "captions": part.n,
                "units": count_units(clusters, tagged.queries[tagged.groups == number]),
                "mean": part.mean.value,
                "interval": part.interval.ends,
                "method": method_of(part.interval),
            }
            for number, part in enumerate(found)
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
        "measure": options["measure"],
        "by": options["by"],
        "confidence": options["confidence"],
        "slices": list(tagged.names),
        "left_out": tagged.left_out,
        **resampled_by(inputs, options["unit"]),
        "rows": rows,
        "correlations": correlations,
        "differences": _differences(values_by_run, tagged, clusters, options, rng),
    }


def _differences(
    values_by_run: dict[str, FloatArray],
    tagged: Tagged,
    clusters: IntArray | None,
    options: SlicesOptions,
    rng: np.random.Generator,
) -> list[SliceDifference]:
    """Compare the first `COMPARED_MAX` runs with each other in each slice.

    `p_holm` is corrected over all comparisons, `p_randomisation` is not. Slices in which
    comparisons are undefined are left out.
    """
    names = list(values_by_run)[:COMPARED_MAX]
    values = np.stack([values_by_run[name] for name in names])
    found: list[Comparison] = []
    slices: list[str] = []
    for number, title in enumerate(tagged.names):
        queries = tagged.queries[tagged.groups == number]
        own = None if clusters is None else clusters[queries]
        if undefined_reason(len(queries), own) is not None:
            continue
        compared = compare_systems(
            values[:, queries],
            options["resamples"],
            rng=rng,
            confidence=options["confidence"],
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
            "interval": row.difference.interval.ends,
            "p_holm": row.adjusted,
            "p_randomisation": row.difference.randomisation.p,
        }
        for title, row in zip(slices, adjust_together(found), strict=True)
    ]


def _slicing(inputs: Inputs, options: SlicesOptions) -> Slicing:
    """Return the slices. Raises `Conflict` if the tags have been replaced since the request."""
    by, n_queries = options["by"], inputs.benchmark.n_queries
    if by == TAGS:
        tags = tagged_queries(inputs.benchmark)
        if tags_sha256(inputs.benchmark) != options["tags_sha256"]:
            raise Conflict(
                "The tags have been replaced since the request. Request the analysis again."
            )
        return Slicing(group_by_tags(tags, n_queries, TAGS_MAX, NO_TAG))
    all_captions = np.arange(n_queries)
    if by == AGREEMENT:
        return Slicing(Tagged(all_captions, _agreement(inputs), AGREEMENT_NAMES, left_out=0))
    attribute = inputs.caption_lengths if by == LENGTH else positives_per_query(inputs.judged)
    bins = cut_by_quantiles(attribute, options["bins"])
    return Slicing(Tagged(all_captions, bins.groups, bins.names, left_out=0), attribute)


def _agreement(inputs: Inputs) -> IntArray:
    assert inputs.label_set is not None  # noqa: S101 - checked by `_fill_defaults`
    labels = label_set_labels(inputs.label_set)
    return annotator_agreement(
        inputs.benchmark.pair_space.queries(labels.codes),
        labels.judgments,
        labels.relevant,
        inputs.benchmark.n_queries,
    )


SLICES = Analysis(
    name="slices",
    title="Scores by slices of captions",
    question="Do scores depend on the length of captions, their number of positives, their tags, "
    "or the agreement of annotators?",
    form=SlicesForm,
    compute=_compute,
    fill_defaults=_fill_defaults,
    tables=layout.tables,
    charts=layout.charts,
    warnings=layout.warnings,
    notes=(
        "By length or positives, slices have about the same number of captions. But captions with "
        "equal values are always in the same slice.",
        "By tags, a caption counts in the slice of each of its tags. Captions without a tag have "
        "a separate slice.",
        "By agreement, the slice of a caption depends on its pairs with several labels. If the "
        "labels of each such pair agree on whether it is relevant, the caption is in “labels "
        "agree”. Otherwise it is in “labels differ on some pair”. A caption that has many pairs "
        "with several labels is more likely to be in this slice. A caption without such a pair is "
        "in “no pair labelled several times”.",
        INTERVALS_NOTE,
    ),
)
