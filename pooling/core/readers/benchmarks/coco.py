"""Captions in the form of COCO: `{"images": [{"id"}], "annotations": [{"image_id", "caption"}]}`.

Chen et al., "Microsoft COCO captions", 2015. Programs for captions of videos use the same form.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from hearth.shared.errors import InvalidInput
from pooling.core.json_members import JsonMembers
from pooling.core.keys import key_fault, shown
from pooling.core.lines import SourceFile
from pooling.core.problems import Problems
from pooling.core.readers.benchmarks import BenchmarkReader, Part
from pooling.core.readers.benchmarks.captions import (
    MAX_BYTES,
    MAX_ROWS,
    CaptionsBuilder,
    CaptionsFile,
)
from pooling.core.readers.registry import Fit, Head

IMAGES, ANNOTATIONS, IMAGE = "images", "annotations", "image_id"
_START = re.compile(r'"(?:images|annotations)"\s*:\s*\[')


def read_coco(
    files: Mapping[str, SourceFile], _: Mapping[str, str], problems: Problems
) -> CaptionsFile:
    """Read each annotation as a caption of its image, which is a video here.

    The key of a caption is its `id`, if all annotations have one; otherwise it is made of the video
    and the position of the caption among those of its video.
    """
    file = files[COCO.name]
    blocks = file.blocks(max_line=None, max_bytes=MAX_BYTES)
    members = dict(JsonMembers(blocks, most=100, longest=MAX_BYTES))
    images, annotations = (_objects(members, name, file.source) for name in (IMAGES, ANNOTATIONS))
    builder = CaptionsBuilder(file.source, problems)
    videos = [_key(image.get("id")) for image in images]
    for number, video in enumerate(videos, start=1):
        place = f"entry {number} of {IMAGES}"
        if video is None or key_fault(video, "video"):
            builder.refuse("its 'id' is missing or cannot be a key", place=place)
        else:
            builder.add_video(0, video, place=place)
    _add_captions(builder, annotations, set(videos))
    return builder.finish_files(files=[(file.source, COCO.name, blocks.sha256)])


def _add_captions(
    builder: CaptionsBuilder, annotations: list[dict[str, Any]], videos: set[str | None]
) -> None:
    has_ids = all(_key(found.get("id")) for found in annotations)
    positions: Counter[str] = Counter()
    for number, found in enumerate(annotations, start=1):
        place = f"entry {number} of {ANNOTATIONS}"
        video, text = _key(found.get(IMAGE)), found.get("caption")
        if video is None or not isinstance(text, str):
            builder.refuse(f"its {IMAGE!r} or 'caption' is missing or not a text", place=place)
        elif video not in videos:
            builder.refuse(f"unknown video {shown(video)}", place=place)
        else:
            key = _key(found["id"]) if has_ids else f"{video}#{positions[video]}"
            builder.add_row(0, str(key), text, video, place=place)
            positions[video] += 1


def _key(value: object) -> str | None:
    is_key = isinstance(value, str | int) and not isinstance(value, bool)
    return str(value) if is_key else None


def _objects(members: dict[str, object], name: str, source: str) -> list[dict[str, Any]]:
    found = members.get(name)
    if not isinstance(found, list) or not all(isinstance(value, dict) for value in found):
        raise InvalidInput(f"{shown(name)} is not a list of objects", source=source)
    if len(found) > MAX_ROWS:
        raise InvalidInput(f"{shown(name)} has more than {MAX_ROWS:,} entries", source=source)
    return found


def _fits(head: Head) -> Fit:
    is_object = head.text.startswith("{") and '"videos"' not in head.text
    return Fit.SURE if is_object and _START.search(head.text) else Fit.NO


COCO: Final = Part("coco", "captions in the form of COCO", _fits)
READER: Final = BenchmarkReader(
    name="coco",
    title="COCO",
    place=9,
    about="JSON with images and annotations. Images are videos.",
    example='{"images": [{"id": "v1"}], "annotations": [{"image_id": "v1", "caption": "a cat"}]}',
    combinations=[[COCO]],
    files="captions in the form of COCO",
    option="JSON with images and annotations",
    read=read_coco,
)
