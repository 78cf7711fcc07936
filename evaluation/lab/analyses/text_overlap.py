"""Scores by the overlap of captions with each other, or with train captions.

Is repeated wording easy for systems, and do they remember the captions that they were trained on?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar

import numpy as np

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.statistics.resampling import mean_interval
from evaluation.core.statistics.slices import NO_GROUP, Bins, cut_at, kendall_tau_b, spearman
from evaluation.lab.analyses import charts, intervals, options, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.results import Tabled
from evaluation.lab.analyses.rows import (
    Caption,
    Correlation,
    Interval,
    Run,
    RunCorrelation,
    Score,
    Shown,
    as_json,
    mean_of,
)
from evaluation.lab.analyses.tables import Table
from hearth.shared.errors import InvalidInput
from hearth.shared.progress import Progress
from pooling.selectors.metadata import get_train_split, train_texts

if TYPE_CHECKING:  # Importing sparse matrices takes long, so analyses do it only when needed.
    from evaluation.core.texts.similarity import TextOverlap

EXAMPLES = 20
LENGTH = "length in words"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Resampling):
    measure: options.ShareMeasure = "C@5"
    resamples: options.NumberOfResamples = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainOptions(Options):
    """split_sha256: the hash of the split, because its name does not identify its content."""

    split: options.Split
    split_sha256: str | None = None

    def filled(self, inputs: Inputs) -> TrainOptions:
        if not self.split:
            raise InvalidInput(
                f"{inputs.benchmark.key} has no train captions. A lead can import them under "
                "“Captions and videos”, and an operator with the command import_train_captions."
            )
        split = get_train_split(inputs.benchmark, self.split)
        return replace(self, split_sha256=split.sha256)


@dataclass(frozen=True, slots=True)
class BinRow:
    """The mean score of a run in one bin of overlap.

    units: number of resampling units in the bin
    """

    run: Run
    overlap: Annotated[str, Shown("Overlap")]
    captions: Annotated[int, Shown("Captions", "count")]
    units: Annotated[int, Shown("Videos", "count")]
    mean: Annotated[Score, Shown("Mean, %", "percent")]
    interval: Interval
    method: intervals.Method


@dataclass(frozen=True, slots=True)
class CorrelationRow(Correlation):
    of: Annotated[str, Shown("Property")]
    run: Annotated[str, Shown("Correlated with")]


@dataclass(frozen=True, slots=True)
class ExampleRow:
    """A caption with its overlap and the most similar text; null if no text is similar."""

    overlap: Annotated[float, Shown("Overlap", "number")]
    caption_id: Annotated[str, Shown("Caption id")]
    caption: Caption
    closest: Annotated[str | None, Shown("{closest}")]
    similarity: Annotated[float, Shown("Similarity", "number")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(results.WithIntervals):
    """The scores of each run by bins of overlap.

    cuts: the bounds of the bins. others: the texts that captions overlap with. closest: the title
    of the column of the most similar text.

    unknown: number of captions without an overlap
    """

    cuts: ClassVar[tuple[float, ...]] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
    others: ClassVar = "captions of other videos"
    closest: ClassVar = "Most similar caption of another video"
    measure: str
    bins: list[str]
    rows: list[BinRow]
    unknown: int
    correlations: list[RunCorrelation]
    length_correlations: list[RunCorrelation]
    with_length: Correlation
    examples: Annotated[
        list[ExampleRow], Tabled("examples", "Examples from the lowest to the highest overlap")
    ]

    @property
    def title(self) -> str:
        return f"{self.measure} by the overlap of the caption with {self.others}"

    def tables(self) -> list[Table]:
        found = self.with_length
        correlations = [
            CorrelationRow(found.spearman, found.kendall, "overlap", LENGTH),
            *(self._with_scores("overlap", row) for row in self.correlations),
            *(self._with_scores(LENGTH, row) for row in self.length_correlations),
        ]
        hidden = () if self.by_video else ("units",)
        return [
            self.table("bins", self.title, BinRow, self.rows, without=hidden),
            self.table(
                "correlations",
                "Correlations over captions",
                CorrelationRow,
                correlations,
                columns="of run spearman kendall",
            ),
            *super(Result, self).tables(),
        ]

    def _with_scores(self, of: str, row: RunCorrelation) -> CorrelationRow:
        return CorrelationRow(row.spearman, row.kendall, of, f"{self.measure} of {row.run}")

    def charts(self) -> list[charts.Chart]:
        overlap = charts.step("overlap", "Overlap", sort=self.bins)
        score = charts.quantity("mean", self.measure, axis={"format": charts.PERCENT})
        return [
            charts.Chart(
                "bins",
                self.title,
                "Each range of overlap has a dot for each run, on a line that shows its interval. "
                f"Overlap is the mean similarity to the ten most similar {self.others}.",
                charts.dots(as_json(self.rows), "x", overlap, score),
            )
        ]

    def warnings(self) -> list[str]:
        groups = [(row.overlap, row.units) for row in self.rows]
        return self.few_units_warnings() or self.few_in_groups_warnings(groups, "bin")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainResult(Result):
    cuts: ClassVar[tuple[float, ...]] = (*Result.cuts, 0.7, 0.8, 0.9)
    others: ClassVar = "train captions"
    closest: ClassVar = "Most similar train caption"
    split: str
    train_captions: int


AnyResult = TypeVar("AnyResult", bound=Result)


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    # The module for sparse matrices is imported only here, because this takes a tenth of a second.
    from evaluation.core.texts.similarity import overlap_with_others

    if len(set(inputs.first_videos.tolist())) < 2:
        raise InvalidInput("There are no captions of other videos to compare with.")
    found = overlap_with_others(
        inputs.captions, inputs.first_videos, progress=_with_phase(progress)
    )
    progress(0, None, "scoring runs")
    return _result(Result, inputs, options, found, inputs.captions)


def _compute_with_train(inputs: Inputs, options: TrainOptions, progress: Progress) -> TrainResult:
    from evaluation.core.texts.similarity import overlap_with_train

    train = train_texts(get_train_split(inputs.benchmark, options.split))
    found = overlap_with_train(inputs.captions, train, progress=_with_phase(progress))
    progress(0, None, "scoring runs")
    own = {"split": options.split, "train_captions": len(train)}
    return _result(TrainResult, inputs, options, found, train, **own)


def _with_phase(progress: Progress) -> Progress:
    """Return a progress function that names the phase, because functions of `core` do not."""
    return lambda done, total, phase="": progress(done, total, "comparing captions")


def _result(
    kind: type[AnyResult],
    inputs: Inputs,
    options: Options,
    found: TextOverlap,
    texts: Sequence[str],
    **more: Any,
) -> AnyResult:
    """Return the scores of each run by bins of overlap.

    texts: those that captions were compared with. more: the further fields of the result.
    """
    overlap, lengths = found.mean, inputs.caption_lengths
    bins = cut_at(overlap, kind.cuts)
    scores = inputs.values(inputs.judged, options.measure)
    return kind(
        measure=options.measure,
        confidence=options.confidence,
        **intervals.resampled_by(inputs, options.unit),
        bins=list(bins.names),
        rows=_bin_rows(inputs, options, scores, bins),
        unknown=int((bins.groups == NO_GROUP).sum()),
        correlations=_with_runs(overlap, scores),
        length_correlations=_with_runs(lengths, scores),
        with_length=Correlation(*_correlated(overlap, lengths)),
        examples=_examples(inputs, found, texts),
        **more,
    )


def _correlated(first: FloatArray | IntArray, second: FloatArray | IntArray) -> tuple[Score, Score]:
    return spearman(first, second).value, kendall_tau_b(first, second).value


def _with_runs(
    numbers: FloatArray | IntArray, scores: dict[str, FloatArray]
) -> list[RunCorrelation]:
    return [RunCorrelation(*_correlated(numbers, own), run) for run, own in scores.items()]


def _bin_rows(
    inputs: Inputs, options: Options, scores: dict[str, FloatArray], bins: Bins
) -> list[BinRow]:
    drawn = options.drawing(inputs)
    clusters = drawn["clusters"]
    rows = []
    for run, values in scores.items():
        for place, name in enumerate(bins.names):
            queries = np.flatnonzero(bins.groups == place)
            own = values[queries]
            drawn["clusters"] = None if clusters is None else clusters[queries]
            interval = mean_interval(own, **drawn)
            rows.append(
                BinRow(
                    run,
                    name,
                    len(own),
                    intervals.count_units(clusters, queries),
                    mean_of(own),
                    interval.ends,
                    intervals.method_of(interval),
                )
            )
    return rows


def _examples(inputs: Inputs, found: TextOverlap, texts: Sequence[str]) -> list[ExampleRow]:
    """Return captions at even steps from the lowest to the highest overlap."""
    closest = found.closest
    order = np.argsort(found.mean, kind="stable")
    steps = np.linspace(0, len(order) - 1, min(EXAMPLES, len(order))).round().astype(np.int64)
    return [
        ExampleRow(
            float(found.mean[number]),
            inputs.query_keys[number],
            inputs.captions[number],
            texts[closest[number]] if closest[number] >= 0 else None,
            float(found.similarity[number]),
        )
        for number in order[steps].tolist()
    ]


WORDING = Analysis(
    name="wording",
    title="Repeated wording",
    question="Are captions easier if they are similar to many others?",
    source="Similar to the FIRE study, figure 8 and table 7",
    options=Options,
    result=Result,
    compute=_compute,
    notes=(
        "Overlap is the mean cosine similarity of a caption with the ten most similar captions of "
        "other videos of this benchmark. It compares sequences of five characters, weighted by "
        "their rarity. The FIRE study (Rodriguez et al. 2022) compares captions with the captions "
        "that systems were trained on, as the analysis “Overlap with the train captions” does. "
        "This analysis needs only the captions of the benchmark.",
        intervals.INTERVALS_NOTE,
    ),
)
TRAIN_OVERLAP = Analysis(
    name="train-overlap",
    title="Overlap with the train captions",
    question="Are captions easier if they are similar to train captions?",
    source="FIRE study, figure 8 and table 7",
    options=TrainOptions,
    result=TrainResult,
    compute=_compute_with_train,
    notes=(
        "Overlap is the mean cosine similarity of a caption with the ten train captions most "
        "similar to it. It compares sequences of five characters, weighted by their rarity among "
        "the train captions.",
        "All runs are compared with the same split. The result does not apply to a system that "
        "was trained on other captions. The analysis “Repeated wording” compares captions with "
        "each other.",
        intervals.INTERVALS_NOTE,
    ),
)
