"""Judgments as one JSON object: `{"video:caption": true, …}`, as code of the FIRE study keeps them.

The caption is its key or its text. There is one label for each pair, and no annotator.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from annotation.core.readers.judgments import JUDGMENTS, JudgmentRows, JudgmentsFile, JudgmentsOf
from annotation.core.readers.qrels import UNNAMED
from hearth.shared.errors import InvalidInput
from pooling.core.json_members import JsonMembers
from pooling.core.keys import shown
from pooling.core.lines import SourceFile
from pooling.core.readers.registry import Fit, Reader

MAX_BYTES = 1 << 30
MAX_ENTRIES = 20_000_000
SEPARATOR = ":"
_START = re.compile(r'\{\s*"[^"\\:]+:(?:[^"\\]|\\.)+"\s*:\s*(?:true|false|[01]\s*[,}])')


def _read(file: SourceFile, of: JudgmentsOf) -> JudgmentsFile:
    by_text: dict[str, int] = {}
    for number, text in enumerate(of.query_texts):
        by_text.setdefault(text, number)
    captions = {**by_text, **of.query_numbers}
    blocks = file.blocks(max_line=None, max_bytes=MAX_BYTES)
    rows = JudgmentRows(blocks, of, captions)
    has_texts = False
    for number, (key, value) in enumerate(JsonMembers(blocks, most=MAX_ENTRIES), start=1):
        video, mark, caption = key.partition(SEPARATOR)
        if not mark or not isinstance(value, bool | int):
            reason = f"entry {shown(key)} does not have the form 'video:caption': true"
            raise InvalidInput(reason, source=file.source)
        has_texts |= caption not in of.query_numbers
        rows.add(number, caption, video, UNNAMED, str(int(value)))
    found = rows.finish()
    note = "the file does not name its annotators, and contains one label for each pair"
    found = replace(found, notes=(note,), has_annotators=False, has_texts=has_texts)
    return replace(found, format=READER.name)


READER: Final = Reader(
    kind=JUDGMENTS.kind,
    name="answers",
    title="JSON of video:caption",
    place=5,
    about="An object with true or false for each video and caption id or text.",
    example='{"v7:c1": true, "v2:c1": false}',
    fits=lambda head: Fit.SURE if _START.match(head.text) else Fit.NO,
    read=_read,
)
