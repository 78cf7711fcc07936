"""The share of potentially relevant pairs that people call relevant, and their moments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np

from annotation.questions.spans.answers import people_spans
from evaluation.core.arrays import BoolArray, FloatArray, IntArray
from evaluation.core.moments.candidates import JudgedCandidates, best_candidates, best_overlaps
from evaluation.core.relevance.judged import Judged
from evaluation.core.statistics.resampling import mean_interval
from evaluation.lab.analyses import charts, options, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.results import Tabled
from evaluation.lab.analyses.rows import Ends, Interval, Shown
from evaluation.release.selectors import label_set_judged
from hearth.shared.progress import Progress
from pooling.core.pair_space import PairSpace
from pooling.moments.core.spans import Spans
from pooling.moments.selectors import original_spans
from pooling.relevant_pairs.core.detection import expand
from pooling.relevant_pairs.models import RelevantPairs
from pooling.relevant_pairs.selectors import load_pairs, relevant_pairs_of
from pooling.selectors.arrays import original_positives

THRESHOLDS: Final = (0.5, 0.6, 0.7, 0.8)
BINS: Final = 10
_QUERIES: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Options):
    proxies: options.Proxies = ()
    confidence: options.Confidence = 0.95


@dataclass(frozen=True, slots=True)
class ThresholdRow:
    """The judged candidates of a detector at one threshold.

    pairs: captions and videos with a candidate that people judged
    relevant: the share of these pairs that people call relevant
    located: relevant pairs with spans of people
    overlap: the mean tIoU of the candidate’s moment and people’s spans
    """

    pairs_of: Annotated[str, Shown("Pairs of")]
    detector: Annotated[str, Shown("Detector")]
    threshold: Annotated[float, Shown("Threshold", "coefficient")]
    pairs: Annotated[int, Shown("Judged", "count")]
    relevant: Annotated[float | None, Shown("Relevant, %", "percent")]
    interval: Interval
    located: Annotated[int, Shown("With spans", "count")]
    overlap: Annotated[float | None, Shown("Mean tIoU", "number")]
    half: Annotated[float | None, Shown("tIoU 0.5 or more, %", "percent")]


@dataclass(frozen=True, slots=True)
class ConfidenceRow:
    """The judged candidates whose confidence is in one range, at the lowest threshold."""

    pairs_of: Annotated[str, Shown("Pairs of")]
    low: Annotated[float, Shown("Confidence from", "coefficient")]
    high: Annotated[float, Shown("To", "coefficient")]
    pairs: Annotated[int, Shown("Judged", "count")]
    mean: Annotated[float, Shown("Mean confidence", "number")]
    relevant: Annotated[float | None, Shown("Relevant, %", "percent")]
    interval: Interval


@dataclass(frozen=True, slots=True)
class Result(results.Result):
    confidence: float
    rows: Annotated[
        list[ThresholdRow], Tabled("thresholds", "Candidates that people judged, by threshold")
    ]
    calibration: Annotated[
        list[ConfidenceRow],
        Tabled("calibration", "Candidates that people judged, by confidence", is_optional=True),
    ]

    def findings(self) -> list[str]:
        judged = [row for row in self.rows if row.relevant is not None]
        if not self.rows:
            return ["The benchmark has no potentially relevant pairs. Find some first."]
        if not judged:
            return ["People have judged none of the candidates."]
        best = max(judged, key=lambda row: row.relevant or 0)
        share = f"{100 * (best.relevant or 0):.1f}\N{NO-BREAK SPACE}%"
        return [
            f"People call {share} of the judged candidates of {best.pairs_of} relevant at the "
            f"threshold {best.threshold:g}, the highest share."
        ]

    def charts(self) -> list[charts.Chart]:
        judged = [row for row in self.rows if row.relevant is not None]
        if not judged:
            return []
        share = charts.quantity("relevant", "Relevant", axis={"format": charts.PERCENT})
        text = "The share of judged candidates that people call relevant, by threshold."
        threshold = charts.quantity("threshold", "Threshold", scale={"zero": False})
        found = charts.bands(judged, threshold, share, charts.name_of("pairs_of"), "interval")
        bins = [row for row in self.calibration if row.relevant is not None]
        mean = charts.quantity("mean", "Confidence", scale={"domain": [0, 1]})
        calibrated = charts.bands(bins, mean, share, charts.name_of("pairs_of"), "interval")
        about = "The share of judged candidates that people call relevant, by confidence."
        return [
            charts.Chart("thresholds", "Relevant candidates by threshold", text, found),
            charts.Chart("calibration", "Relevant candidates by confidence", about, calibrated),
        ]


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Candidates of judged pairs. moments: the pair whose moment is the candidate."""

    codes: IntArray
    moments: IntArray
    similarity: FloatArray
    confidence: FloatArray


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    names = {proxy.name for proxy in inputs.proxies}
    every = [pairs for pairs in relevant_pairs_of(inputs.benchmark) if pairs.proxy.name in names]
    judged = (
        inputs.original.empty() if inputs.label_set is None else label_set_judged(inputs.label_set)
    )
    space = inputs.benchmark.pair_space
    spans, marked = original_spans(inputs.benchmark), people_spans(inputs.benchmark)
    people = Spans.of(marked.codes, marked.starts, marked.ends)
    rows: list[ThresholdRow] = []
    bins: list[ConfidenceRow] = []
    for number, pairs in enumerate(every):
        progress(number, len(every), "comparing candidates")
        found = _judged_rows(pairs, judged)
        thresholds = [pairs.threshold, *(one for one in THRESHOLDS if one > pairs.threshold)]
        for threshold in thresholds:
            kept = _at_least(found, threshold, judged, spans, people)
            rows.append(_threshold_row(pairs, threshold, kept, space, options.confidence))
            if threshold == pairs.threshold:
                bins += _calibration(pairs, kept, space, options.confidence)
    return Result(options.confidence, rows, bins)


def _judged_rows(pairs: RelevantPairs, judged: Judged) -> _Rows:
    """Return the candidates of the judged pairs, without the original positives."""
    benchmark, loaded, space = pairs.proxy.benchmark, load_pairs(pairs), judged.space
    captions, videos = original_positives(benchmark)
    wanted = np.setdiff1d(judged.codes, space.encode(captions, videos))
    queries = np.unique(space.queries(wanted))
    parts: list[tuple[IntArray, ...]] = [(np.empty(0, np.int64),) * 3]
    for block in _blocks(queries):
        found = loaded.candidates(block)
        of, at = expand(captions, benchmark.n_queries, found.other)
        codes = space.encode(found.query[of], videos[at])
        kept = np.isin(codes, wanted)
        moments = space.encode(captions[at[kept]], videos[at[kept]])
        parts.append((codes[kept], moments, found.index[of[kept]]))
    codes, moments, index = (np.concatenate(part) for part in zip(*parts, strict=True))
    detected = loaded.detected
    return _Rows(
        codes,
        moments,
        detected.similarity[index].astype(np.float64),
        detected.confidence[index].astype(np.float64),
    )


def _blocks(queries: IntArray) -> Iterator[IntArray]:
    yield from (queries[start : start + _QUERIES] for start in range(0, len(queries), _QUERIES))


def _at_least(
    found: _Rows, threshold: float, judged: Judged, spans: Spans, people: Spans
) -> JudgedCandidates:
    kept = np.flatnonzero(found.similarity >= np.float32(threshold))
    best = kept[best_candidates(found.codes[kept], found.confidence[kept])]
    codes = found.codes[best]
    is_relevant = judged.gains[np.searchsorted(judged.codes, codes)] > 0
    overlap = best_overlaps(found.moments[best], spans, codes, people)
    overlap[~is_relevant] = np.nan
    return JudgedCandidates(codes, is_relevant, found.confidence[best], overlap)


def _threshold_row(
    pairs: RelevantPairs,
    threshold: float,
    found: JudgedCandidates,
    space: PairSpace,
    confidence: float,
) -> ThresholdRow:
    share, interval = _share(found.codes, found.is_relevant, space, confidence)
    overlap = found.overlap[~np.isnan(found.overlap)]
    return ThresholdRow(
        pairs.proxy.name,
        pairs.detector,
        threshold,
        len(found.codes),
        share,
        interval,
        len(overlap),
        float(overlap.mean()) if len(overlap) else None,
        float((overlap >= 0.5).mean()) if len(overlap) else None,
    )


def _calibration(
    pairs: RelevantPairs, found: JudgedCandidates, space: PairSpace, confidence: float
) -> Iterator[ConfidenceRow]:
    place = np.minimum((found.confidence * BINS).astype(np.int64), BINS - 1)
    for number in np.unique(place).tolist():
        own = place == number
        share, interval = _share(found.codes[own], found.is_relevant[own], space, confidence)
        yield ConfidenceRow(
            pairs.proxy.name,
            number / BINS,
            (number + 1) / BINS,
            int(own.sum()),
            float(found.confidence[own].mean()),
            share,
            interval,
        )


def _share(
    codes: IntArray, is_relevant: BoolArray, space: PairSpace, confidence: float
) -> tuple[float | None, Ends | None]:
    """Return the share of relevant pairs with its interval, which resamples videos."""
    if not len(codes):
        return None, None
    found = mean_interval(
        is_relevant.astype(np.float64),
        rng=np.random.default_rng(0),
        confidence=confidence,
        clusters=space.videos(codes),
    )
    ends = None if found.low is None or found.high is None else [found.low, found.high]
    return float(is_relevant.mean()), ends


RELEVANT_PAIRS = Analysis(
    name="relevant-pairs",
    title="Potentially relevant pairs against people",
    question="Which share of the detected candidates do people call relevant?",
    source="Maeoki et al., equations 5 to 8",
    options=Options,
    result=Result,
    compute=_compute,
    selects=("labels",),
    runs_needed=0,
    proxies_needed=1,
    needs_labels=True,
    reads_lists=False,
    reads_judgments=True,
    notes=(
        "If two captions share an action, the moment of one is a candidate for the other. Only "
        "proxies that were found as potentially relevant pairs are used, and only candidates whose "
        "caption and video people judged. Original positives are left out. If several captions "
        "give a candidate in the same video, the one with the highest confidence counts.",
        "The tIoU is that of the candidate’s moment and the best span of people. Intervals "
        "resample videos. A pool by the proxy judges candidates with a high confidence, so draw a "
        "sample of captions if the shares are to hold for all candidates.",
    ),
)
