"""Runs of TRECVID's ad-hoc video search, in the XML that participants submit.

The lists are elements `videoAdhocSearchTopicResult` with a `tNum`, and their items have a `seqNum`
and a `shotId`. The file is not parsed as XML, so that no entity of it is ever loaded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from hearth.shared.errors import InvalidInput
from pooling.core.lines import SourceFile, TextBlocks
from pooling.core.ordering import RunData
from pooling.core.readers.registry import Fit, Head
from pooling.core.readers.runs import RunOf, RunReader
from pooling.core.readers.runs.json_lists import MAX_JSON_BYTES, JsonReader

_TOPIC = "videoAdhocSearchTopicResult"
_TAG = re.compile(r"<(\w+)\b([^>]*)>")
_VALUE = re.compile(r"""(\w+)\s*=\s*["']([^"']*)["']""")


def _lists(blocks: TextBlocks, of: RunOf) -> Iterator[tuple[str, object]]:
    """Yield the shots of each topic by `seqNum`. Topics may lack the 1 before their number."""
    key = ""
    shots: dict[int, str] = {}
    for line, text in enumerate(blocks.text_lines(), start=1):
        for tag in _TAG.finditer(text):
            values = dict(_VALUE.findall(tag[2]))
            if tag[1] == _TOPIC:
                if key:
                    yield key, [shots[number] for number in sorted(shots)]
                number = values.get("tNum", "")
                key, shots = number if number in of.rows else f"1{number}", {}
                key = key if key in of.rows else number
            elif tag[1] == "item":
                place = values.get("seqNum", "")
                if not key or not place.isdecimal() or not values.get("shotId"):
                    reason = "the item needs a topic, a 'seqNum' and a 'shotId'"
                    raise InvalidInput(reason, source=blocks.source, line=line)
                if int(place) in shots:
                    reason = f"the topic has two items with the seqNum {place}"
                    raise InvalidInput(reason, source=blocks.source, line=line)
                shots[int(place)] = values["shotId"]
    if key:
        yield key, [shots[number] for number in sorted(shots)]


def _read(file: SourceFile, of: RunOf) -> RunData:
    blocks = file.blocks(max_bytes=MAX_JSON_BYTES)
    return JsonReader(of).read_lists(_lists(blocks, of), blocks, of.depth, READER.name)


def _fits(head: Head) -> Fit:
    return Fit.SURE if head.text.startswith("<") and "videoAdhocSearch" in head.text else Fit.NO


READER: Final = RunReader(
    name="avs",
    title="AVS XML",
    place=6,
    about="A run of TRECVID's ad-hoc video search.",
    example='<videoAdhocSearchTopicResult tNum="1501" elapsedTime="1">',
    fits=_fits,
    read=_read,
)
