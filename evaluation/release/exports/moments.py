"""The corrected truth of moments in the forms of the data sets, so that their evaluators run on it.

Of each original positive, these are the spans of people, or the original spans if no one located
it. Charades-STA has a line for each span, also of new positives. QVHighlights has all spans of a
video. TVR has the span with the most support, and DiDeMo repeats a segment for each annotator.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from evaluation.models import LabelSet
from evaluation.release.exports.options import ExportOptions
from evaluation.release.exports.tables import spans_parquet
from evaluation.spans.selectors import label_set_spans, spans_content
from hearth.shared.errors import InvalidInput
from pooling.core.readers.benchmarks.didemo import CHUNK_SECONDS, CHUNKS
from pooling.models import Benchmark
from pooling.moments.exports import number_or_text
from pooling.moments.selectors import form_of, graded_clips, original_spans, video_durations
from pooling.selectors.arrays import (
    original_positives,
    query_keys,
    query_texts,
    video_keys,
)

NO_SPANS = "This label set has no spans."
Spans = list[tuple[float, float, int]]


@dataclass(frozen=True, slots=True)
class Truth:
    """The original positives of a label set with their spans.

    pairs: query number, video number, and start, end and support of each span. new: those of other
    relevant pairs.
    """

    benchmark: Benchmark
    keys: list[str]
    texts: list[str]
    videos: list[str]
    durations: list[float]
    pairs: list[tuple[int, int, Spans]]
    new: list[tuple[int, int, Spans]]


def _truth(label_set: LabelSet) -> Truth:
    benchmark = label_set.benchmark
    if not form_of(benchmark):
        raise InvalidInput(f"The benchmark {benchmark.key} has no moments.")
    people, support = label_set_spans(label_set)
    found: dict[int, Spans] = defaultdict(list)
    columns = (people.codes, people.starts, people.ends, support)
    for code, *span in zip(*(column.tolist() for column in columns), strict=True):
        found[code].append(tuple(span))
    original: dict[int, Spans] = defaultdict(list)
    spans = original_spans(benchmark)
    times = (spans.codes, spans.starts, spans.ends)
    for code, start, end in zip(*(column.tolist() for column in times), strict=True):
        original[code].append((start, end, 1))
    space = benchmark.pair_space
    home = space.encode(*original_positives(benchmark)).tolist()

    def pair(code: int, listed: Spans) -> tuple[int, int, Spans]:
        query, video = space.decode(code)
        return query, video, listed

    return Truth(
        benchmark,
        query_keys(benchmark),
        query_texts(benchmark),
        video_keys(benchmark),
        video_durations(benchmark).tolist(),
        [pair(code, found.get(code) or original[code]) for code in home],
        [pair(code, listed) for code, listed in found.items() if code not in set(home)],
    )


def _lines(rows: Iterator[dict[str, Any]]) -> Iterator[bytes]:
    for row in rows:
        yield f"{json.dumps(row, ensure_ascii=False)}\n".encode()


def tvr(label_set: LabelSet, options: ExportOptions) -> Iterator[bytes]:
    truth = _truth(label_set)
    extras = truth.benchmark.moments.extras
    yield from _lines(
        {
            "vid_name": truth.videos[video],
            "duration": truth.durations[video],
            "ts": list(max(spans, key=lambda span: (span[2], -span[0]))[:2]),
            "desc": truth.texts[query],
            **extras.get(truth.keys[query], {}),
            "desc_id": number_or_text(truth.keys[query]),
        }
        for query, video, spans in truth.pairs
        if spans
    )


def qvhighlights(label_set: LabelSet, options: ExportOptions) -> Iterator[bytes]:
    truth = _truth(label_set)
    clips = graded_clips(truth.benchmark)
    grades: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    if clips.grades is not None:
        cells = (clips.codes, clips.starts, clips.grades)
        for code, start, grade in zip(*(cell.tolist() for cell in cells), strict=True):
            grades[code][round(start / 2)].append(int(grade))
    space = truth.benchmark.pair_space
    yield from _lines(
        {
            "qid": number_or_text(truth.keys[query]),
            "query": truth.texts[query],
            "duration": truth.durations[video],
            "vid": truth.videos[video],
            "relevant_windows": [list(span[:2]) for span in spans],
            "relevant_clip_ids": list(of_clips := grades[space.encode(query, video)]),
            "saliency_scores": list(of_clips.values()),
        }
        for query, video, spans in truth.pairs
        if spans
    )


def charades(label_set: LabelSet, options: ExportOptions) -> Iterator[bytes]:
    truth = _truth(label_set)

    def lines(pairs: list[tuple[int, int, Spans]]) -> Iterator[str]:
        for query, video, spans in pairs:
            for start, end, _ in spans:
                yield f"{truth.videos[video]} {start} {end}##{truth.texts[query]}\n"

    # A moment of equal captions is the original moment of one and a new one of the others.
    original = list(lines(truth.pairs))
    new = dict.fromkeys(lines(truth.new))
    known = set(original)
    for line in (*original, *(line for line in new if line not in known)):
        yield line.encode()


def didemo(label_set: LabelSet, options: ExportOptions) -> Iterator[bytes]:
    truth = _truth(label_set)
    rows = [
        {
            "annotation_id": number_or_text(truth.keys[query]),
            "description": truth.texts[query],
            "video": truth.videos[video],
            "num_segments": _segments(truth.durations[video]),
            "times": [_segment(*span[:2]) for span in spans for _ in range(span[2])],
        }
        for query, video, spans in truth.pairs
        if spans
    ]
    yield f"{json.dumps(rows, ensure_ascii=False)}\n".encode()


def _segments(seconds: float) -> int:
    return round(seconds / CHUNK_SECONDS) if seconds > 0 else CHUNKS


def _segment(start: float, end: float) -> list[int]:
    """Return the chunks that are nearest to a span."""
    first = min(CHUNKS - 1, round(start / CHUNK_SECONDS))
    return [first, max(first, min(CHUNKS, round(end / CHUNK_SECONDS)) - 1)]


def activitynet(label_set: LabelSet, options: ExportOptions) -> Iterator[bytes]:
    truth = _truth(label_set)
    found: dict[str, dict[str, Any]] = {}
    for query, video, spans in truth.pairs:
        for start, end, _ in sorted(spans, key=lambda span: -span[2])[:1]:
            none: dict[str, Any] = {"timestamps": [], "sentences": []}
            entry = found.setdefault(
                truth.videos[video], {"duration": truth.durations[video], **none}
            )
            entry["timestamps"].append([start, end])
            entry["sentences"].append(truth.texts[query])
    yield f"{json.dumps(found, ensure_ascii=False)}\n".encode()


def spans_table(label_set: LabelSet, options: ExportOptions) -> Iterator[bytes]:
    if not spans_content(label_set):
        raise InvalidInput(NO_SPANS)
    yield from spans_parquet(label_set)


def spans(label_set: LabelSet, options: ExportOptions) -> Iterator[bytes]:
    """Yield the second file of the label set as it was published."""
    content = spans_content(label_set)
    if not content:
        raise InvalidInput(NO_SPANS)
    yield content


FORMS: dict[str, tuple[str, str, str, Callable[[LabelSet, ExportOptions], Iterator[bytes]]]] = {
    "spans": ("Spans, one line per span", "-spans.csv", "text/csv; charset=utf-8", spans),
    "spans-parquet": (
        "Spans as Parquet",
        "-spans.parquet",
        "application/vnd.apache.parquet",
        spans_table,
    ),
    "tvr": ("TVR", "-tvr.jsonl", "application/jsonl", tvr),
    "qvhighlights": ("QVHighlights", "-qvhighlights.jsonl", "application/jsonl", qvhighlights),
    "charades": ("Charades-STA", "-charades.txt", "text/plain; charset=utf-8", charades),
    "didemo": ("DiDeMo", "-didemo.json", "application/json", didemo),
    "activitynet": ("ActivityNet Captions", "-activitynet.json", "application/json", activitynet),
}
"""Title, end of file names, content type and content of each form."""
