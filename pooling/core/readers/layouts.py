"""Names of the layouts of published files, for messages about a file that cannot be read here."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import Final

# Four columns: topic, iteration, document, relevance. Some programs write the relevance as 1.0.
QRELS_LINE = re.compile(r"[^\s,]+[ \t]+\S+[ \t]+\S+[ \t]+-?[0-9]+(?:\.0+)?\s*")
FIVE_COLUMNS_LINE = re.compile(r"[^\s,]+[ \t]+(?:0|Q0)[ \t]+\S+[ \t]+[0-9]+[ \t]+-?[0-9]+\s*")
_RUN_LINE = re.compile(r"[^\s,]+[ \t]+Q0[ \t]+\S+[ \t]+[0-9]+[ \t]+[-+.0-9eE]+[ \t]+\S+\s*")
_SCORES = re.compile(r"[^\s,]+(?:[ \t]+\S+[ \t]+[-+]?[0-9][-+.0-9eE]*)+\s*")
_NUMBERED = re.compile(r"[^\s,#]+#[0-9]+[ \t]+\S.*")
_BEIR_QRELS = re.compile(r"query-id[\t,;]corpus-id[\t,;]score\s*", re.IGNORECASE)
_BEIR_KEYS = frozenset({"_id", "title", "text", "metadata"})
_ACTIVITYNET = re.compile(r'\{\s*"[^"]*"\s*:\s*\{[^{}]*"(?:timestamps|sentences)"\s*:')
_OBJECTS = re.compile(r"\[\s*\{")
_COCO = re.compile(r'"images"\s*:\s*\[')

_OTHERS = (
    (QRELS_LINE, "TREC qrels"),
    (_RUN_LINE, "a run in TREC format, which is imported as a run"),
    (_SCORES, "ranked lists with scores, one per line, which are imported as a run"),
    # Topics with such ids can be read together with qrels.
    (_NUMBERED, "captions in lines such as 'video#0 caption'"),
)

# The columns of judgments, with their usual names in exports of MTurk, Toloka, Prolific and others.
JUDGMENT_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "caption_id": ("caption_id", "Input.caption_id", "INPUT:caption_id", "query_id", "query-id"),
    "video_id": ("video_id", "Input.video_id", "INPUT:video_id", "corpus-id"),
    "annotator": (
        *("annotator", "WorkerId", "ASSIGNMENT:worker_id", "worker_id", "annotator_id"),
        *("participant_id", "Participant id", "PROLIFIC_PID"),
    ),
    "label": ("label", "Answer.label", "OUTPUT:label", "OUTPUT:result", "answer"),
    "judged_at": ("judged_at", "ASSIGNMENT:submit_time"),
}

# Marks at the start of predictions, which are runs and would else be read as tables of captions.
_PREDICTED = re.compile(r'"pred_\w+"\s*:\s*\[|"video2idx"\s*:\s*\{|"segments"\s*:\s*\[\s*\[')

FIVE_COLUMNS = "TREC qrels with five columns (the fourth is a stratum)"
JSON_ARRAY = "a JSON array"
PREDICTIONS = "predicted moments, which are imported as a run"


def known_layout(head: str) -> str | None:
    """Return what a file is that no reader of captions accepts, or None.

    head: the first characters of its text, without a byte order mark.
    """
    head = head.lstrip()
    first = head.partition("\n")[0].strip()
    if head.startswith(("[", "{")) and _PREDICTED.search(head):
        return PREDICTIONS
    if head.startswith("[") and not _OBJECTS.match(head):
        return JSON_ARRAY
    if head.startswith("{"):
        return _json_layout(head, first)
    if _BEIR_QRELS.fullmatch(first):
        return "qrels of BEIR"
    if FIVE_COLUMNS_LINE.fullmatch(first):
        return FIVE_COLUMNS
    return None


def layout_of_other(head: str) -> str | None:
    """Return what a file is if it is not a table with a header, or None."""
    if found := known_layout(head):
        return found
    head = head.lstrip()
    first = head.partition("\n")[0].strip()
    if head.startswith(("{", "[")):
        return JSON_ARRAY if head.startswith("[") else "JSON"
    return next((name for form, name in _OTHERS if form.fullmatch(first)), None)


def table_of_others(columns: Collection[str]) -> str | None:
    """Return what a table with these columns is, and where to import it, if it has no captions."""
    has = {role for role, names in JUDGMENT_COLUMNS.items() if {*names} & {*columns}}
    if {"caption_id", "video_id", "label"} <= has and "annotator" not in has:
        return (
            "gold items, which are imported on the page Gold items of the benchmark or with "
            "import_gold"
        )
    if {"video_id", "annotator", "label"} <= has:
        return (
            "judgments, which are imported on the page Import judgments of a benchmark (under "
            "Campaigns) or with import_judgments, after its captions"
        )
    if {"video", "duration"} == {*columns}:
        return "the durations of videos, which are read together with the sentences of Charades-STA"
    if "video_id" in columns and {*columns} <= {"video_id", "file", "url", "duration"}:
        return "videos, which goes with a file of captions (field Videos, or --videos)"
    return None


def graded_moments(columns: Collection[str]) -> str | None:
    """Return what a table with the columns of TVR-Ranking is, or None.

    Its column `caption` has the text of the moment, and each row has a grade, so the rows are not
    original positives.
    """
    if not {"query_id", "query", "video_name", "timestamp", "relevance"} <= {*columns}:
        return None
    return (
        "moments graded for queries (TVR-Ranking), without original positives; import the captions "
        "of TVR (JSON lines with desc_id, which are the ids in 'query_id'), then, from a CSV, the "
        "grades as judgments, with 'values' that map them to labels (page Import judgments, or "
        "import_judgments)"
    )


def is_activitynet(head: str) -> bool:
    """Return whether a text starts like a file of ActivityNet Captions."""
    return _ACTIVITYNET.match(head) is not None


def _json_layout(head: str, first: str) -> str | None:
    if set(_keys(first)) >= {"_id", "text"} and set(_keys(first)) <= _BEIR_KEYS:
        return "queries or a corpus of BEIR"
    if _ACTIVITYNET.match(head):
        return "captions of ActivityNet"
    if _COCO.search(head) and '"videos"' not in head:
        return "COCO annotations"
    return None


def _keys(line: str) -> list[str]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return []
    return list(found) if isinstance(found, dict) else []


def grade_of(text: str) -> int | None:
    """Return the relevance in a column of qrels, such as `2`, `1.0` or `-1`; None if it is none."""
    found = re.fullmatch(r"(-?[0-9]{1,9})(?:\.0+)?", text)
    return int(found[1]) if found else None
