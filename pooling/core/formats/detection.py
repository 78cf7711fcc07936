"""Detection of the format of a file from its content. The name of the file is not used."""

from __future__ import annotations

import json
import re
from pathlib import Path

from hearth.shared.delimited import MARK, stated_delimiter
from pooling.core.formats.tables import JSONL, KNOWN_NAMES, TEXT, VIDEO, read_head
from pooling.core.formats.video_list import HEADERS
from pooling.core.layouts import QRELS_LINE, known_layout
from pooling.core.lines import first_bytes

TABLE, MSRVTT, MSVD = "table", "msrvtt", "msvd"
VIDEO_LIST, TOPICS, QRELS = "video-list", "topics", "qrels"
TITLES = {
    TABLE: "table of captions",
    MSRVTT: "MSRVTT_data.json",
    MSVD: "MSVD captions",
    VIDEO_LIST: "list of videos",
    TOPICS: "TREC topics",
    QRELS: "TREC qrels",
    "csv": "table of captions (CSV)",
    "tsv": "table of captions (TSV)",
    JSONL: "table of captions (JSON lines)",
}

_STRING = r'"(?:[^"\\]|\\.)*"'
# The first member of an MSVD file is a list of texts. The first member of MSRVTT_data.json is not.
_MSVD = re.compile(rf"\{{\s*{_STRING}\s*:\s*\[\s*(?:\"|\])")
_SEPARATED = re.compile(r"[^\s,]+[ \t]+\S+")


def format_of(path: Path, source: str) -> str:
    """Return the format of a file of captions or positives; `TABLE` if no other format fits.

    If the file has a known layout that is not read here, the result is what messages call it.
    """
    head = first_bytes(path, source).decode("utf-8", "replace").lstrip(MARK)
    stated, head = stated_delimiter(head)
    head = head.lstrip()
    first = head.partition("\n")[0].strip()
    if stated or not first or "\0" in head or "\ufffd" in first:
        return TABLE  # If it cannot be read, reading the table raises an error with the reason.
    if layout := known_layout(head):
        return layout
    if head.startswith("{"):
        if _is_json_line(first):
            return TABLE
        return MSVD if _MSVD.match(head) else MSRVTT
    return TOPICS if head[:4].lower() == "<top" else _format_of_text(path, source, first)


def _format_of_text(path: Path, source: str, first: str) -> str:
    if QRELS_LINE.fullmatch(first):
        return QRELS
    columns = set(read_head(path, source).columns)
    if columns & {*KNOWN_NAMES[TEXT], *KNOWN_NAMES[VIDEO]} and len(columns) > 1:
        return TABLE
    if first.lower() in HEADERS or not re.search(r"[\s,;]", first):
        return VIDEO_LIST
    return TOPICS if _SEPARATED.match(first) else TABLE


def _is_json_line(line: str) -> bool:
    """Return whether a line is a whole JSON object with a caption, or with only scalar values."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return False
    if not isinstance(found, dict):
        return False
    return any(isinstance(found.get(name), str) for name in KNOWN_NAMES[TEXT]) or not any(
        isinstance(value, list | dict) for value in found.values()
    )
