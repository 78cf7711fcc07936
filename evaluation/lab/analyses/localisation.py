"""Whether the clips that are matched with sentences overlap the clips that are right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from annotation.questions.spans.answers import people_spans
from annotation.selectors.labels import labels_fingerprint
from evaluation.core.arrays import FloatArray, IntArray
from evaluation.core.paragraphs.clips import THRESHOLDS, Clips, Spans, best_overlaps, recall
from evaluation.core.statistics.resampling import mean_interval
from evaluation.lab.analyses import options, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.inputs import VIDEOS, Inputs
from evaluation.lab.analyses.intervals import INTERVALS_NOTE
from evaluation.lab.analyses.results import Tabled
from evaluation.lab.analyses.rows import Ends, Interval, Run, Score, Shown
from hearth.shared.progress import Progress
from pooling.models import Benchmark
from pooling.models import Run as StoredRun
from pooling.moments.core.spans import Spans as StoredSpans
from pooling.moments.core.spans import decimals
from pooling.moments.selectors import original_spans, video_durations
from pooling.paragraphs.core.matching import Matching, match
from pooling.paragraphs.core.similarities import PairMatrix
from pooling.paragraphs.selectors import (
    Parts,
    has_paragraphs,
    newest_similarities,
    open_similarities,
    paragraphs_of,
    parts_of,
)
from pooling.selectors.arrays import query_keys, query_texts

MATCHES = (1, 2, 3)
ALONE = 0
TRACKS = ("right", "alone", "matched")
ORIGINAL, PEOPLE = "original", "people"
RIGHT = 0.5
EXAMPLES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Resampling):
    """Options of the analysis.

    similarities: the hashes of those of the runs. moment: the fingerprint of people's labels.
    """

    unit: options.Unit = VIDEOS
    similarities: list[str] | None = None
    moment: list[int] | None = None

    def filled(self, inputs: Inputs) -> Options:
        stored = filter(None, map(newest_similarities, inputs.runs))
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        values["similarities"] = [each.sha256 for each in stored]
        if has_paragraphs(inputs.benchmark):
            sentences = paragraphs_of(inputs.benchmark).sentences
            values["moment"] = labels_fingerprint(sentences).as_list()
        return Options(**values)


@dataclass(frozen=True, slots=True)
class RecallRow:
    """Recall@tIoU over the right clips of the sentences, on the right videos.

    matches: u_max; 0 if each sentence takes its most similar clip, whatever the others take
    clips: number of right clips
    low, middle, high: by the matched clip with the highest similarity, at .3, .5 and .7
    any_loose, any_half, any_strict: by any matched clip
    """

    run: Run
    by: Annotated[str, Shown("Spans")]
    matches: Annotated[int, Shown("u_max", "count")]
    clips: Annotated[int, Shown("Clips", "count")]
    low: Annotated[Score, Shown("tIoU 0.3, %", "percent")]
    low_interval: Interval
    middle: Annotated[Score, Shown("tIoU 0.5, %", "percent")]
    middle_interval: Interval
    high: Annotated[Score, Shown("tIoU 0.7, %", "percent")]
    high_interval: Interval
    any_loose: Annotated[Score, Shown("Any clip, 0.3, %", "percent")]
    any_half: Annotated[Score, Shown("Any clip, 0.5, %", "percent")]
    any_strict: Annotated[Score, Shown("Any clip, 0.7, %", "percent")]


@dataclass(frozen=True, slots=True)
class RepairRow:
    """A sentence that shares its most similar clip with another one, and is matched rightly.

    seconds: the length of the timeline
    """

    run: Run
    caption_id: Annotated[str, Shown("Sentence")]
    video_id: Annotated[str, Shown("Video", page="video")]
    text: Annotated[str, Shown("Text")]
    right: Annotated[Ends, Shown("Right clip, s", "number")]
    alone: Annotated[Ends, Shown("Most similar clip, s", "number")]
    matched: Annotated[Ends, Shown("Matched clip, s", "number")]
    seconds: float

    @property
    def timeline(self) -> Annotated[float, Shown("Timelines", tracks=TRACKS)]:
        return self.seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(results.WithIntervals):
    """Localisation of sentences."""

    recall: Annotated[
        list[RecallRow],
        Tabled(
            "recall",
            "Recall@tIoU, with {interval}",
            note="The first columns use the matched clip with the highest similarity. The last "
            "columns use any matched clip, so they rise with u_max by themselves. u_max 0: each "
            "sentence takes its most similar clip, even if another sentence takes it, too.",
        ),
    ]
    repairs: Annotated[
        list[RepairRow],
        Tabled(
            "repairs",
            "Confusions that matching repairs (u_max 1)",
            note="Another sentence has the same most similar clip. Each timeline shows the right "
            "clip, below it the most similar one, and last the matched one.",
            is_optional=True,
        ),
    ]

    def warnings(self) -> list[str]:
        if not self.recall:
            return ["No selected run has similarities of clips and sentences with spans."]
        return self.few_units_warnings()


@dataclass(frozen=True, slots=True, eq=False)
class _Pair:
    """A paragraph on its right video: the numbers of its sentences, and their spans.

    owner: the sentence of each span, by place. spans: float64 [n, 2].
    """

    video: int
    sentences: IntArray
    owner: IntArray
    spans: Spans
    matrix: PairMatrix


def _pairs(inputs: Inputs, run: StoredRun, parts: Parts, spans: StoredSpans) -> Iterator[_Pair]:
    """Yield the right pairs of a run that have a matrix and a span."""
    found = newest_similarities(run)
    if found is None:
        return
    stored, space = open_similarities(found), inputs.benchmark.pair_space
    n_videos = inputs.benchmark.n_videos
    codes = inputs.original.codes
    for code, place in zip(codes.tolist(), stored.places(codes).tolist(), strict=True):
        paragraph, video = space.decode(code)
        first, end = np.searchsorted(parts.paragraphs, [paragraph, paragraph + 1])
        sentences = parts.sentences[first:end]
        starts = np.searchsorted(spans.codes, sentences * n_videos + video, "left")
        counts = np.searchsorted(spans.codes, sentences * n_videos + video, "right") - starts
        if place < 0 or not counts.any():
            continue
        owner = np.repeat(np.arange(len(sentences)), counts)
        within = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
        rows = starts[owner] + within
        times = np.stack([spans.starts[rows], spans.ends[rows]], axis=1)
        yield _Pair(video, sentences, owner, times, stored.matrix(place))


def _alone(r: npt.NDArray[np.floating[Any]]) -> Matching:
    """Match each sentence with its most similar clip."""
    clips = r.argmax(axis=1)
    return Matching(0.0, np.arange(len(r)), clips)


def _overlaps(pair: _Pair, found: Matching) -> tuple[FloatArray, FloatArray]:
    """Return the tIoU of each right clip with the strongest matched clip, and with any."""
    r = np.asarray(pair.matrix.r, np.float64)[found.sentences, found.clips]
    clips = Clips(found.sentences, decimals(pair.matrix.clips)[found.clips], r)
    truth = Clips(pair.owner, pair.spans, np.empty(0))
    return best_overlaps(truth, clips.strongest()), best_overlaps(truth, clips)


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    rows: list[RecallRow] = []
    repairs: list[RepairRow] = []
    videos: set[int] = set()
    if has_paragraphs(inputs.benchmark):
        parts = parts_of(inputs.benchmark)
        sources = _sources(paragraphs_of(inputs.benchmark).sentences)
        for done, run in enumerate(inputs.runs):
            progress(done, len(inputs.runs), "matching")
            for by, spans in sources.items():
                pairs = list(_pairs(inputs, run, parts, spans))
                videos |= {pair.video for pair in pairs}
                if pairs:
                    every = (ALONE, *MATCHES)
                    rows += [_row(run, by, pairs, matches, options) for matches in every]
                if by == ORIGINAL:
                    repairs += _repairs(inputs, run, pairs)
    return Result(
        unit=VIDEOS,
        units=len(videos),
        confidence=options.confidence,
        recall=rows,
        repairs=repairs[:EXAMPLES],
    )


def _sources(sentences: Benchmark) -> dict[str, StoredSpans]:
    """Return the original spans, and those of people if there are any."""
    people = people_spans(sentences)
    found = {ORIGINAL: original_spans(sentences)}
    if len(people.codes):
        found[PEOPLE] = StoredSpans.of(people.codes, people.starts, people.ends)
    return found


def _row(run: StoredRun, by: str, pairs: list[_Pair], matches: int, options: Options) -> RecallRow:
    matching = _alone if matches == ALONE else partial(match, matches=matches)
    both = [_overlaps(pair, matching(pair.matrix.r)) for pair in pairs]
    strongest, of_any = (np.concatenate(each) for each in zip(*both, strict=True))
    clusters = np.repeat([pair.video for pair in pairs], [len(pair.owner) for pair in pairs])
    figures: list[float | list[float] | None] = []
    for threshold in THRESHOLDS:
        interval = mean_interval(
            (strongest >= threshold).astype(np.float64),
            options.resamples,
            rng=np.random.default_rng(options.seed),
            confidence=options.confidence,
            clusters=clusters,
        )
        figures += [recall(strongest, threshold), interval.ends]
    figures += [recall(of_any, threshold) for threshold in THRESHOLDS]
    return RecallRow(run.name, by, matches, len(strongest), *figures)  # type: ignore[arg-type]


def _repairs(inputs: Inputs, run: StoredRun, pairs: list[_Pair]) -> Iterator[RepairRow]:
    sentences = paragraphs_of(inputs.benchmark).sentences
    keys, texts = query_keys(sentences), query_texts(sentences)
    lengths = video_durations(inputs.benchmark)
    for pair in pairs:
        alone, matched = _alone(pair.matrix.r), match(pair.matrix.r, 1)
        before, after = _overlaps(pair, alone)[0], _overlaps(pair, matched)[0]
        shared = np.bincount(alone.clips, minlength=len(pair.matrix.clips))[alone.clips] > 1
        clip_of = dict(zip(matched.sentences.tolist(), matched.clips.tolist(), strict=True))
        for row in np.flatnonzero((before < RIGHT) & (after >= RIGHT)).tolist():
            sentence = int(pair.owner[row])
            if not shared[sentence]:
                continue
            clips = pair.matrix.clips
            times = [pair.spans[row], clips[alone.clips[sentence]], clips[clip_of[sentence]]]
            right, first, kept = ([round(float(each), 3) for each in span] for span in times)
            yield RepairRow(
                run.name,
                keys[pair.sentences[sentence]],
                inputs.video_keys[pair.video],
                texts[pair.sentences[sentence]].strip(),
                right,
                first,
                kept,
                float(np.nanmax([lengths[pair.video], right[1], first[1], kept[1]])),
            )


LOCALISATION = Analysis(
    name="localisation",
    title="Localisation of sentences",
    question="Are the matched clips where the sentences happen?",
    source="Shao et al., Find and Focus, tables 3 and 6",
    options=Options,
    result=Result,
    compute=_compute,
    notes=(
        "Only the right video of each paragraph counts. A right clip is found if its tIoU (the "
        "common time divided by the time of the union) is at least the threshold. The newest "
        "similarities of each run are used.",
        INTERVALS_NOTE,
    ),
)
