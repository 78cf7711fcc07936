"""ActivityNet Captions: a JSON object with the sentences and time stamps of each video.

The key of a caption is `VIDEO#i` with i from 0, in the order of the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

from hearth.shared.errors import InvalidInput
from pooling.core.lines import SourceFile
from pooling.core.problems import Problems
from pooling.core.readers.benchmarks import BenchmarkReader, Part, captions
from pooling.core.readers.layouts import is_activitynet
from pooling.core.readers.registry import Fit, Head
from pooling.moments.core.rows import (
    Span,
    SpanRowsBuilder,
    json_file,
    number_of,
    pair_of,
    span_fault,
)


def read_activitynet(
    files: Mapping[str, SourceFile], _: Mapping[str, str], problems: Problems
) -> captions.CaptionsFile:
    file = files[ACTIVITYNET.name]
    blocks = file.blocks(max_line=None, max_bytes=captions.MAX_BYTES)
    videos = json_file(blocks)
    if not isinstance(videos, dict):
        raise InvalidInput("the file is not an object of videos", source=file.source)
    builder = captions.CaptionsBuilder(file.source, problems)
    spans = SpanRowsBuilder("activitynet")
    for video, found in videos.items():
        _add(builder, spans, video, found if isinstance(found, dict) else {})
    read = [(file.source, ACTIVITYNET.name, blocks.sha256)]
    notes = () if problems.number else tuple(_notes(videos))
    return builder.finish_files(notes, files=read).with_moments(spans)


def _notes(videos: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is usual in these files, and may surprise. All sentences and stamps are valid."""
    spaced = sum(text != text.strip() for found in videos.values() for text in found["sentences"])
    if spaced:
        yield f"Sentences with spaces around them, which are left out: {spaced:,}."
    stamps = [found["timestamps"] for found in videos.values()]
    unordered = sum(each != sorted(each) for each in stamps)
    if unordered:
        yield f"Videos whose moments are not in order: {unordered:,}."
    overlapping = sum(any(b[0] < a[1] for a, b in pairwise(sorted(each))) for each in stamps)
    if overlapping:
        yield f"Videos with moments that overlap: {overlapping:,}."


def _add(
    builder: captions.CaptionsBuilder, spans: SpanRowsBuilder, video: str, found: dict[str, Any]
) -> None:
    sentences, stamps = found.get("sentences"), found.get("timestamps")
    if not isinstance(sentences, list) or not isinstance(stamps, list):
        builder.refuse("it has no lists 'sentences' and 'timestamps'", place=f"video {video}")
        return
    if len(sentences) != len(stamps):
        reason = f"it has {len(sentences)} sentences and {len(stamps)} timestamps"
        builder.refuse(reason, place=f"video {video}")
        return
    if duration := number_of(found.get("duration")):
        spans.durations[video] = duration
    for number, (sentence, stamp) in enumerate(zip(sentences, stamps, strict=True)):
        key = f"{video}#{number}"
        pair = pair_of(stamp) or ("", "")
        if fault := span_fault(*pair):
            builder.refuse(fault, place=f"sentence {key}")
        elif not isinstance(sentence, str):
            builder.refuse("it is not a text", place=f"sentence {key}")
        elif builder.add_query(0, key, sentence.strip(), place=f"sentence {key}") is not None:
            builder.add_positive(0, key, video, builder.source)
            spans.add(key, video, [Span(*pair)])


def _fits(head: Head) -> Fit:
    return Fit.SURE if is_activitynet(head.text) else Fit.NO


ACTIVITYNET: Final = Part("activitynet", "ActivityNet Captions", _fits)
READER: Final = BenchmarkReader(
    name="activitynet",
    title="ActivityNet Captions",
    place=14,
    about="Moments: a JSON object with duration, timestamps and sentences of each video.",
    example='{"v_1": {"duration": 55.2, "timestamps": [[0.3, 55.1]], "sentences": ["…"]}}',
    combinations=[[ACTIVITYNET]],
    files="sentences of ActivityNet Captions",
    option="JSON object of videos with sentences and timestamps",
    read=read_activitynet,
)
