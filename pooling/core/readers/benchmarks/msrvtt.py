"""`MSRVTT_data.json` of MSR-VTT, with or without the test captions of the 1k-A split.

Xu et al., "MSR-VTT: A large video description dataset for bridging video and language", CVPR 2016.
The 1k-A split is a table of 1,000 captions, one for each of 1,000 videos: Yu, Kim & Kim, "A joint
sequence fusion model for video question answering and retrieval", ECCV 2018.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from hearth.shared.errors import InvalidInput
from pooling.core.json_members import JsonMembers
from pooling.core.keys import key_fault, shown
from pooling.core.lines import SourceFile
from pooling.core.problems import Problems
from pooling.core.readers.benchmarks import TABLE, BenchmarkReader, Part
from pooling.core.readers.benchmarks.captions import (
    MAX_BYTES,
    MAX_ROWS,
    CaptionsBuilder,
    CaptionsFile,
)
from pooling.core.readers.benchmarks.table import CAPTIONS_TABLE, is_caption_line, read_table
from pooling.core.readers.benchmarks.video_list import VIDEO_LIST, VideoList, parse_video_list
from pooling.core.readers.registry import Fit, Head

TEST = "test"
VIDEOS, SENTENCES = "videos", "sentences"


@dataclass(frozen=True, slots=True)
class MsrvttData:
    """The content of the file: all sentences, and the split of each video ("" if it has none)."""

    splits: dict[str, str]
    sentences: list[dict[str, Any]]
    source: str
    sha256: str


def read_msrvtt(
    files: Mapping[str, SourceFile], columns: Mapping[str, str], problems: Problems
) -> CaptionsFile:
    """Read the captions of the test table, or the sentences of the listed or all test videos."""
    data = parse_msrvtt(files[MSRVTT.name])
    if table := files.get(TABLE):
        test = read_table(table, columns, problems)
        return replace(
            test,
            notes=(*check_test_captions(data, test, problems), *test.notes),
            sources=(*test.sources, data.source),
            formats=(*test.formats, MSRVTT.name),
        )
    listed = files.get(VIDEO_LIST.name)
    split = parse_video_list(listed, problems) if listed else None
    builder, notes = captions_of(data, split, problems)
    lists = [split.entry] if split else []
    return builder.finish_files(notes, files=[(data.source, MSRVTT.name, data.sha256), *lists])


def parse_msrvtt(file: SourceFile) -> MsrvttData:
    """Read `videos` and `sentences`.

    Raises `InvalidInput` if one of them is missing, too long or not a list of objects, or if the
    `video_id` of a video is missing or cannot be a key.
    """
    blocks, source = file.blocks(max_line=None, max_bytes=MAX_BYTES), file.source
    members = dict(JsonMembers(blocks, most=100, longest=MAX_BYTES))
    if not members.keys() & {VIDEOS, SENTENCES}:
        listed = ", ".join(shown(name) for name in list(members)[:5])
        reason = f"this is JSON in no known layout of captions; it begins with the names {listed}"
        raise InvalidInput(reason, source=source)
    videos, sentences = (_objects(members, name, source) for name in (VIDEOS, SENTENCES))
    splits = {}
    for number, video in enumerate(videos, start=1):
        key = video.get("video_id")
        if not isinstance(key, str):
            reason = f"entry {number} of {VIDEOS}: its 'video_id' is missing or not a text"
            raise InvalidInput(reason, source=source)
        if fault := key_fault(key, "video"):
            raise InvalidInput(f"entry {number} of {VIDEOS}: {fault}", source=source)
        splits[key] = str(video.get("split", ""))
    return MsrvttData(splits, sentences, source, blocks.sha256)


def _objects(members: dict[str, object], name: str, source: str) -> list[dict[str, Any]]:
    found = members.get(name)
    if not isinstance(found, list) or not all(isinstance(value, dict) for value in found):
        raise InvalidInput(f"{shown(name)} is not a list of objects", source=source)
    if len(found) > MAX_ROWS:
        raise InvalidInput(f"{shown(name)} has more than {MAX_ROWS:,} entries", source=source)
    return found


def captions_of(
    data: MsrvttData, split: VideoList | None, problems: Problems
) -> tuple[CaptionsBuilder, list[str]]:
    """Return all sentences of the videos of a split as captions, with notes.

    If `split` is None, the videos of the split "test" are used, or all videos if no video has that
    split. The key of a caption is its `sen_id`. An error names the entry and not the line, because
    the whole file can be one line.
    """
    wanted, notes = _wanted_videos(data, split, problems)
    builder = CaptionsBuilder(data.source, problems)
    builder.add_videos(wanted)
    for number, sentence in enumerate(data.sentences, start=1):
        place = f"entry {number} of {SENTENCES}"
        video, text, key = (sentence.get(name) for name in ("video_id", "caption", "sen_id"))
        if not isinstance(video, str) or not isinstance(text, str):
            builder.refuse("its 'video_id' or 'caption' is missing or not a text", place=place)
        elif video not in data.splits:
            builder.refuse(f"unknown video {shown(video)}", place=place)
        elif not isinstance(key, str | int) or isinstance(key, bool):
            builder.refuse("it has no 'sen_id'", place=place)
        elif video in wanted:
            _add_sentence(builder, str(key), text, video, place)
    return builder, notes


def _add_sentence(builder: CaptionsBuilder, key: str, text: str, video: str, place: str) -> None:
    if key in builder:
        builder.refuse(f"the sen_id {shown(key)} occurs twice", place=place)
    else:
        builder.add_row(0, key, text, video, place=place)


def _wanted_videos(
    data: MsrvttData, split: VideoList | None, problems: Problems
) -> tuple[dict[str, None], list[str]]:
    """Return the videos to use, in the order of the list or else of the file, and notes."""
    if split is not None:
        for key, line in split.lines.items():
            if key not in data.splits:
                reason = f"video {shown(key)} is not in {data.source}"
                problems.add(reason, split.source, line)
        return dict.fromkeys(key for key in split.lines if key in data.splits), []
    test = dict.fromkeys(key for key, name in data.splits.items() if name == TEST)
    if not test:
        return dict.fromkeys(data.splits), []
    left_out = len(data.splits) - len(test)
    return test, [f"Videos outside the test split, left out: {left_out:,}."] if left_out else []


def check_test_captions(data: MsrvttData, test: CaptionsFile, problems: Problems) -> list[str]:
    """Compare the test captions of a table with the data. Return notes.

    A video that is not in the data is added to `problems`.
    """
    texts: dict[str, set[str]] = defaultdict(set)
    for sentence in data.sentences:
        texts[str(sentence.get("video_id"))].add(_words(str(sentence.get("caption"))))
    other = 0
    pairs = zip(test.positive_queries.tolist(), test.positive_videos.tolist(), strict=True)
    for query, video in pairs:
        key = test.video_keys[video]
        if key not in data.splits:
            reason = f"video {shown(key)} is not in {data.source}"
            problems.add(reason, test.sources[0], test.lines[query])
        other += _words(test.texts[query]) not in texts[key]
    notes = [
        f"The captions are those of {test.sources[0]}; the {len(data.sentences):,} sentences of "
        f"{data.source} are not imported."
    ]
    if other:
        notes.append(f"Captions that are not among the sentences of their video: {other:,}.")
    return notes


def _words(text: str) -> str:
    return " ".join(text.split())


def _fits(head: Head) -> Fit:
    """Any JSON object is read, so that an error names the list that it lacks."""
    if not head.text.startswith("{") or is_caption_line(head.first):
        return Fit.NO
    return Fit.SURE if _LISTS.search(head.text) else Fit.LAST


_LISTS = re.compile(rf'"({VIDEOS}|{SENTENCES})"\s*:\s*\[\s*\{{')
_FILES = "MSRVTT_data.json, alone or with a table of the test captions or a list of the test videos"
MSRVTT: Final = Part("msrvtt", "MSRVTT_data.json", _fits)
READER: Final = BenchmarkReader(
    name="msrvtt",
    title="MSR-VTT",
    place=2,
    about="MSRVTT_data.json, with the table of the 1k-A test captions or a list of videos. The "
    "test table alone is also sufficient.",
    combinations=[[MSRVTT], [MSRVTT, CAPTIONS_TABLE], [MSRVTT, VIDEO_LIST]],
    files=_FILES,
    option="MSRVTT_data.json with the 1k-A test table or a list of videos",
    read=read_msrvtt,
)
