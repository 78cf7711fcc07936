"""Predictions that MTEB writes: `{"default": {"test": {query: {document: score}}}}`."""

from __future__ import annotations

import re
from typing import Any, Final

from hearth.shared.errors import InvalidInput
from pooling.core.json_members import JsonMembers
from pooling.core.lines import SourceFile
from pooling.core.ordering import RunData
from pooling.core.readers.registry import Fit
from pooling.core.readers.runs import RunOf, RunReader
from pooling.core.readers.runs.json_lists import JsonReader

MAX_BYTES = 64 << 20  # the whole file is in memory
META, SPLIT = "mteb_model_meta", "test"
_KEY = r'"[^"\\]*"\s*:\s*'
_START = re.compile(rf'\{{\s*(?:"{META}"|(?:{_KEY}\{{\s*){{3}}{_KEY}-?[0-9])')


def _read(file: SourceFile, of: RunOf) -> RunData:
    """Read the only subset, and its split `test` or its only split."""
    blocks = file.blocks(max_line=None, max_bytes=MAX_BYTES)
    subsets = dict(JsonMembers(blocks, most=100, longest=MAX_BYTES))
    subsets.pop(META, None)
    splits = _one(subsets, "", "subsets", file.source)
    lists = _one(splits, SPLIT, "splits", file.source)
    return JsonReader(of).read_lists(iter(lists.items()), blocks, of.depth, READER.name)


def _one(found: dict[str, Any], preferred: str, noun: str, source: str) -> dict[str, Any]:
    value = found.get(preferred, next(iter(found.values()), None))
    if not isinstance(value, dict) or (len(found) > 1 and preferred not in found):
        names = ", ".join(found) or "none"
        reason = f"the file must have one of the {noun} of a task, but has {names}"
        raise InvalidInput(reason, source=source)
    return value


READER: Final = RunReader(
    name="mteb",
    title="MTEB predictions",
    place=5,
    about="The predictions that MTEB stores for a retrieval task: scores by document, by query, by "
    "split and subset.",
    example='{"default": {"test": {"c1": {"v7": 0.91, "v2": 0.87}}}}',
    fits=lambda head: Fit.SURE if _START.match(head.text) else Fit.NO,
    read=_read,
)
