"""Runs with one line per caption: the caption, and then each video with its similarity.

Dual encoding (Dong et al., CVPR 2019) writes `id.sent.score.txt` in this form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from hearth.shared.errors import InvalidInput
from pooling.core.keys import NUMBER, shown
from pooling.core.lines import SourceFile, TextBlocks
from pooling.core.ordering import RunData
from pooling.core.readers.registry import Fit, Head
from pooling.core.readers.runs import RunOf, RunReader
from pooling.core.readers.runs.json_lists import MAX_JSON_BYTES, JsonReader

_PAIR = rf"[ \t]+\S+[ \t]+{NUMBER.pattern}"
_LINE = re.compile(rf"\S+(?:{_PAIR})+\s*")
# The longest line that the head of a file contains is cut.
_START = re.compile(rf"\S+(?:{_PAIR}){{2,}}")
_RUN_COLUMNS = 6
MAX_LINE = 16 << 20


def _lists(blocks: TextBlocks) -> Iterator[tuple[str, object]]:
    for line, text in enumerate(blocks.text_lines(), start=1):
        key, *cells = text.split() or [""]
        if not key:
            continue
        wrong = next((cell for cell in cells[1::2] if not NUMBER.fullmatch(cell)), None)
        if wrong is not None:
            _refuse(blocks, line, f"the score {shown(wrong)} is not a number")
        if len(cells) % 2 or not cells:
            _refuse(blocks, line, "the line does not have a score for each video")
        yield key, [list(pair) for pair in zip(cells[::2], map(float, cells[1::2]), strict=True)]


def _refuse(blocks: TextBlocks, line: int, reason: str) -> None:
    raise InvalidInput(reason, source=blocks.source, line=line)


def _read(file: SourceFile, of: RunOf) -> RunData:
    blocks = file.blocks(max_line=MAX_LINE, max_bytes=MAX_JSON_BYTES)
    return JsonReader(of).read_lists(_lists(blocks), blocks, of.depth, READER.name)


def _fits(head: Head) -> Fit:
    """A line of TREC has six columns, and lines of this form have an odd number."""
    is_cut = len(head.first) == len(head.text)
    form = _START.match(head.first) if is_cut else _LINE.fullmatch(head.first)
    return Fit.SURE if form and len(head.first.split()) != _RUN_COLUMNS else Fit.NO


READER: Final = RunReader(
    name="scores",
    title="Lines of scores",
    place=4,
    about="A line per caption: the caption, and then each video with its similarity, as in "
    "id.sent.score.txt of dual encoding.",
    example="caption_id video_id 0.91 video_id 0.87",
    fits=_fits,
    read=_read,
)
