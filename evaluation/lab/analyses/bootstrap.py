"""Scores in sub-samples: how many captions are needed to distinguish two systems."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.statistics.resampling import (
    SubSamples,
    draw_sub_samples,
    smallest_independent_difference,
)
from evaluation.core.statistics.sub_samples import (
    clusters_to_draw,
    draw_cluster_sub_samples,
    paired_sub_samples,
    smallest_tested_difference,
)
from evaluation.lab.analyses.fields import (
    NumbersField,
    ResamplingOptions,
    ShareMeasureField,
    confidence_field,
    resamples_field,
    resampling_unit_field,
    seed_field,
)
from evaluation.lab.analyses.forms import AnalysisForm
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.intervals import resampled_by
from evaluation.lab.analyses.layouts import bootstrap as layout
from evaluation.lab.analyses.layouts.bootstrap import (
    Histogram,
    PairFigures,
    PairRow,
    SampleFigures,
    SampleRow,
    SizeFields,
    SubSamplesResult,
)
from evaluation.lab.analyses.old_analysis import Analysis
from hearth.shared.progress import Progress

# Approximate maximum number of bins in a histogram.
PARTS = 60
# Tolerance for rounding errors at the edges of bins, as a share of the width of a bin.
ROUNDING = 1e-9


class BootstrapForm(AnalysisForm):
    measure = ShareMeasureField()
    unit = resampling_unit_field()
    sizes = NumbersField(label="Captions per sample", initial="500 1000 3000", highest=1_000_000)
    confidence = confidence_field()
    resamples = resamples_field()
    seed = seed_field()


class BootstrapOptions(ResamplingOptions):
    measure: str
    sizes: list[int]


Pair = tuple[str, str]


def _compute(inputs: Inputs, options: BootstrapOptions, progress: Progress) -> SubSamplesResult:
    rows: list[SampleRow] = []
    pairs: list[PairRow] = []
    rng = np.random.default_rng(options["seed"])
    clusters = inputs.clusters(options["unit"])
    sizes = {size: _videos_to_draw(size, clusters) for size in options["sizes"]}
    for place, (by, judged) in enumerate(
        (("labelled", inputs.judged), ("original", inputs.original))
    ):
        values = inputs.values(judged, options["measure"])
        for number, (size, videos) in enumerate(sizes.items()):
            progress(place * len(sizes) + number, 2 * len(sizes), "drawing")
            common: SizeFields = {"by": by, "size": size, "videos": videos}
            runs, differences = _draw(values, size, clusters, options["resamples"], rng)
            rows += [{"run": name, **common, **_sampled(runs[name], options)} for name in values]
            pairs += [
                {
                    "first": one,
                    "second": other,
                    **common,
                    **_pair(values[one] - values[other], drawn, options),
                }
                for (one, other), drawn in differences.items()
            ]
    return {
        "measure": options["measure"],
        "confidence": options["confidence"],
        **resampled_by(inputs, options["unit"]),
        "captions_per_video": None
        if clusters is None
        else len(clusters) / len(np.unique(clusters)),
        "rows": rows,
        "pairs": pairs,
    }


def _videos_to_draw(size: int, clusters: IntArray | None) -> int | None:
    return None if clusters is None else clusters_to_draw(size, clusters, len(clusters))


def _draw(
    values: dict[str, FloatArray],
    size: int,
    clusters: IntArray | None,
    resamples: int,
    rng: np.random.Generator,
) -> tuple[dict[str, SubSamples], dict[Pair, SubSamples]]:
    """Draw sub-samples of each run, and of the differences of every two runs."""
    pairs = list(combinations(values, 2))
    if clusters is None:
        runs = {
            name: draw_sub_samples(own, size, resamples, rng=rng) for name, own in values.items()
        }
        return runs, {
            (first, second): draw_sub_samples(
                values[first] - values[second], size, resamples, rng=rng
            )
            for first, second in pairs
        }
    drawn = draw_cluster_sub_samples(
        np.stack(list(values.values())), size, resamples, rng=rng, clusters=clusters
    )
    runs = dict(zip(values, drawn, strict=True))
    return runs, {pair: paired_sub_samples(runs[pair[0]], runs[pair[1]]) for pair in pairs}


def _sampled(drawn: SubSamples, options: BootstrapOptions) -> SampleFigures:
    tail = (1 - options["confidence"]) / 2
    return {
        "mean": drawn.mean,
        "deviation": drawn.deviation,
        "interval": drawn.quantiles([tail, 1 - tail]).tolist(),
        "smallest": smallest_independent_difference(drawn, confidence=options["confidence"]),
        "histogram": _histogram(drawn),
    }


def _histogram(drawn: SubSamples) -> Histogram:
    """Return a histogram whose bins are a whole number of captions wide.

    A share such as C@k is a number of captions divided by the size of the sample. Bins of another
    width would contain different numbers of its possible values.
    """
    span = float(drawn.means.max() - drawn.means.min())
    width = max(1, math.ceil(span * drawn.size / PARTS)) / drawn.size
    # If the width is an even number of captions, the edges of bins are possible scores. Rounding
    # errors must not move these scores to another bin.
    places = np.floor(drawn.means / width + 0.5 + ROUNDING).astype(np.int64)
    first = int(places.min())
    return {"first": first * width, "width": width, "counts": np.bincount(places - first).tolist()}


def _pair(differences: FloatArray, drawn: SubSamples, options: BootstrapOptions) -> PairFigures:
    smallest = smallest_tested_difference(drawn, differences, confidence=options["confidence"])
    return {"difference": float(differences.mean()), "smallest": smallest}


BOOTSTRAP = Analysis(
    name="bootstrap",
    title="Sub-samples of captions",
    question="How small a difference between systems can a given number of captions show?",
    source="FIRE study, section 4.3, figures 4, 9 and 10",
    form=BootstrapForm,
    compute=_compute,
    tables=layout.tables,
    charts=layout.charts,
    warnings=layout.warnings,
    notes=(
        "Captions, or whole videos with all their captions, are drawn with replacement many "
        "times. Each run is scored on each sample.",
        "The smallest significant difference is the standard deviation of the difference times the "
        "normal quantile of the confidence (1.96 for 95 %). For two systems on different captions, "
        "the deviation is that of one system times √2. For two systems on the same captions, it is "
        "the deviation that the paired differences would have if both systems had the same mean, "
        "which is the null hypothesis of a test. This deviation is smaller. The analysis “Plan "
        "the judging” uses the same variances.",
        "A true difference of this size is significant in only half of all samples. Use the "
        "analysis “Plan the judging” for a higher power.",
    ),
)
