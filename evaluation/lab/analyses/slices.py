"""Scores by slices of captions: length, number of positives, tags, agreement."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

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
from evaluation.lab.analyses import charts, intervals, options, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.rows import (
    Interval,
    PointsInterval,
    Run,
    RunCorrelation,
    Score,
    Shown,
    as_json,
)
from evaluation.lab.analyses.tables import Table
from evaluation.release.selectors import label_set_labels
from hearth.shared.errors import Conflict, InvalidInput
from hearth.shared.options import Option
from hearth.shared.progress import Progress
from hearth.shared.words import counted
from pooling.core.readers.tags import NO_TAG
from pooling.selectors.metadata import tagged_queries, tags_sha256

LENGTH, POSITIVES, TAGS, AGREEMENT = "length", "positives", "tags", "agreement"
SLICED = {
    LENGTH: "Words in the caption",
    POSITIVES: "Positives of the caption",
    TAGS: "Tags of the caption",
    AGREEMENT: "Agreement on the caption’s pairs",
}
TAGS_MAX = 30
# With more runs there are too many pairs for a table.
COMPARED_MAX = 6
# Names of the results of `annotator_agreement`, in order: AGREE, DIFFER, NO_REPEATED_LABELS.
AGREEMENT_NAMES = ("labels agree", "labels differ on some pair", "no pair labelled several times")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Resampling):
    """tags_sha256: present if the captions are sliced by tags."""

    measure: options.ShareMeasure = "C@5"
    by: Annotated[str, Option("Slice by", choices=SLICED)] = LENGTH
    bins: Annotated[
        int,
        Option(
            "Number of slices",
            "Only for slices by length or positives. By tags, there is a slice for each of "
            f"the {TAGS_MAX} most frequent tags. By agreement, there are three slices.",
            low=2,
            high=30,
        ),
    ] = 6
    resamples: options.NumberOfResamples = 1000
    tags_sha256: str | None = None

    def filled(self, inputs: Inputs) -> Options:
        """Add the hash of the tags if the captions are sliced by tags.

        Raises `InvalidInput` for slices by tags if there are no tags, and for slices by agreement
        if there is no label set.
        """
        if self.by == AGREEMENT and inputs.label_set is None:
            raise InvalidInput("Agreement needs a label set. Select one under “Labels”.")
        if self.by != TAGS:
            return self
        if not inputs.benchmark.tags.exists():
            raise InvalidInput(
                f"{inputs.benchmark.key} has no tags. A lead can import them under “Captions and "
                "videos”, and an operator with the command import_tags."
            )
        return replace(self, tags_sha256=tags_sha256(inputs.benchmark))


@dataclass(frozen=True, slots=True)
class SliceRow:
    """The mean score of a run in one slice.

    units: number of resampling units in the slice
    """

    run: Run
    slice: Annotated[str, Shown("{sliced}")]
    captions: Annotated[int, Shown("Captions", "count")]
    units: Annotated[int, Shown("Videos", "count")]
    mean: Annotated[Score, Shown("Mean, %", "percent")]
    interval: Interval
    method: intervals.Method


@dataclass(frozen=True, slots=True)
class SliceDifference:
    """The difference of two runs in one slice."""

    slice: Annotated[str, Shown("{sliced}")]
    first: Run
    second: Annotated[str, Shown("Minus run")]
    difference: Annotated[float, Shown("Difference, points", "points")]
    interval: PointsInterval
    p_holm: Annotated[float, Shown("p (Holm, whole table)", "p")]
    p_randomisation: Annotated[float, Shown("p, randomisation", "p")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(results.WithIntervals):
    """The scores in each slice of the captions.

    slices: names of the slices, in order
    left_out: number of unused tags
    """

    measure: str
    by: str
    slices: list[str]
    left_out: int
    rows: list[SliceRow]
    correlations: list[RunCorrelation]
    differences: list[SliceDifference]

    @property
    def sliced(self) -> str:
        return SLICED[self.by]

    def tables(self) -> list[Table]:
        left_out = counted(self.left_out, "other tag")
        verb = "is" if self.left_out == 1 else "are"
        tables = [
            self.table(
                "slices",
                f"{self.measure} by {self.sliced.lower()}",
                SliceRow,
                self.rows,
                note=f"Only the {TAGS_MAX} tags with the most captions are used. {left_out} {verb} "
                "left out."
                if self.left_out
                else "",
                without=() if self.by_video else ("units",),
            )
        ]
        if self.differences:
            tables.append(self._differences())
        # Tags and agreement are not numbers, so they have no correlations.
        if self.correlations:
            title = f"Correlation of the number of {self.sliced.lower()} with its score"
            names = "run spearman kendall"
            tables.append(
                self.table("correlations", title, RunCorrelation, self.correlations, columns=names)
            )
        return tables

    def _differences(self) -> Table:
        slices = len({row.slice for row in self.differences})
        pairs = counted(len(self.differences) // slices, "pair")
        left_out = len({row.run for row in self.rows}) > COMPARED_MAX
        return self.table(
            "differences",
            "Differences between every two systems in each slice",
            SliceDifference,
            self.differences,
            note=f"Holm’s correction covers the {counted(len(self.differences), 'test')} of this "
            f"table: {counted(slices, 'slice')} by {pairs} of systems."
            + (f" Only the first {COMPARED_MAX} runs are compared." if left_out else ""),
        )

    def charts(self) -> list[charts.Chart]:
        if self.by in (TAGS, AGREEMENT):
            runs = {row.run for row in self.rows}
            place, at = "y", charts.horizontal_labels("slice", self.slices, len(runs))
        else:
            place, at = "x", charts.step("slice", self.sliced, sort=self.slices)
        score = charts.quantity("mean", self.measure, axis={"format": charts.PERCENT})
        return [
            charts.Chart(
                "slices",
                f"{self.measure} by {self.sliced.lower()}",
                "Each slice has a dot for each run, on a line that shows its interval.",
                charts.dots(as_json(self.rows), place, at, score),
            )
        ]

    def warnings(self) -> list[str]:
        groups = [(row.slice, row.units) for row in self.rows]
        return self.few_units_warnings() or self.few_in_groups_warnings(groups, "slice")


@dataclass(frozen=True, slots=True)
class Slicing:
    """The slices of captions. As in `Tagged`, a caption can be in several slices, or in none.

    attribute: int64 [n_queries], the length or the number of positives of each caption; None for
    slices by tags or agreement.
    """

    tagged: Tagged
    attribute: IntArray | None = None


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    slicing = _slicing(inputs, options)
    tagged, attribute = slicing.tagged, slicing.attribute
    clusters = inputs.clusters(options.unit)
    rng = np.random.default_rng(options.seed)
    rows: list[SliceRow] = []
    correlations: list[RunCorrelation] = []
    values_by_run = inputs.values(inputs.judged, options.measure)
    for done, (name, values) in enumerate(values_by_run.items()):
        progress(done, len(inputs.runs), "scoring slices")
        found = slice_means(
            values[tagged.queries],
            tagged.groups,
            tagged.names,
            options.resamples,
            rng=rng,
            confidence=options.confidence,
            clusters=None if clusters is None else clusters[tagged.queries],
        )
        rows += [
            SliceRow(
                name,
                part.name,
                part.n,
                intervals.count_units(clusters, tagged.queries[tagged.groups == number]),
                part.mean.value,
                part.interval.ends,
                intervals.method_of(part.interval),
            )
            for number, part in enumerate(found)
        ]
        if attribute is not None:
            rho, tau = spearman(attribute, values).value, kendall_tau_b(attribute, values).value
            correlations.append(RunCorrelation(rho, tau, name))
    return Result(
        measure=options.measure,
        by=options.by,
        confidence=options.confidence,
        slices=list(tagged.names),
        left_out=tagged.left_out,
        **intervals.resampled_by(inputs, options.unit),
        rows=rows,
        correlations=correlations,
        differences=_differences(values_by_run, tagged, clusters, options, rng),
    )


def _differences(
    values_by_run: dict[str, FloatArray],
    tagged: Tagged,
    clusters: IntArray | None,
    options: Options,
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
            options.resamples,
            rng=rng,
            confidence=options.confidence,
            clusters=own,
        )
        found += compared
        slices += [title] * len(compared)
    return [
        SliceDifference(
            title,
            names[row.system],
            names[row.other],
            row.difference.mean,
            row.difference.interval.ends,
            row.adjusted,
            row.difference.randomisation.p,
        )
        for title, row in zip(slices, adjust_together(found), strict=True)
    ]


def _slicing(inputs: Inputs, options: Options) -> Slicing:
    """Return the slices. Raises `Conflict` if the tags have been replaced since the request."""
    by, n_queries = options.by, inputs.benchmark.n_queries
    if by == TAGS:
        tags = tagged_queries(inputs.benchmark)
        if tags_sha256(inputs.benchmark) != options.tags_sha256:
            raise Conflict(
                "The tags have been replaced since the request. Request the analysis again."
            )
        return Slicing(group_by_tags(tags, n_queries, TAGS_MAX, NO_TAG))
    all_captions = np.arange(n_queries)
    if by == AGREEMENT:
        return Slicing(Tagged(all_captions, _agreement(inputs), AGREEMENT_NAMES, left_out=0))
    attribute = inputs.caption_lengths if by == LENGTH else positives_per_query(inputs.judged)
    bins = cut_by_quantiles(attribute, options.bins)
    return Slicing(Tagged(all_captions, bins.groups, bins.names, left_out=0), attribute)


def _agreement(inputs: Inputs) -> IntArray:
    assert inputs.label_set is not None  # noqa: S101 - checked by `Options.filled`
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
    options=Options,
    result=Result,
    compute=_compute,
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
        intervals.INTERVALS_NOTE,
    ),
)
