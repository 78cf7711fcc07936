"""Judgments exported by Label Studio as JSON: tasks with their annotations.

`data` has the caption and the video of a task. The label of an annotation is its first choice or
rating, and its annotator is `completed_by`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from annotation.core.readers.judgments import (
    JUDGMENTS,
    JudgmentRows,
    JudgmentsFile,
    JudgmentsOf,
    column_of,
)
from hearth.shared.errors import InvalidInput
from pooling.core.json_members import JsonMembers
from pooling.core.lines import SourceFile
from pooling.core.readers.registry import Fit, Head, Reader

MAX_BYTES = 1 << 30
MAX_TASKS = 5_000_000
_START = re.compile(r"\[\s*\{")


def _read(file: SourceFile, of: JudgmentsOf) -> JudgmentsFile:
    """Read each annotation that was not cancelled as a judgment."""
    blocks = file.blocks(max_line=None, max_bytes=MAX_BYTES)
    rows = JudgmentRows(blocks, of)
    skipped = 0
    tasks: Iterable[tuple[str, Any]] = JsonMembers(blocks, most=MAX_TASKS)
    for number, (_, task) in enumerate(tasks, start=1):
        try:
            query, video = _pair(task, of.columns)
            for found in task["annotations"]:
                if found.get("was_cancelled"):
                    skipped += 1
                    continue
                rows.add(number, query, video, _annotator(found), _label(found))
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            reason = f"task {number} is not as Label Studio writes it: {error} is missing"
            raise InvalidInput(reason, source=file.source) from None
    found = rows.finish()
    notes = [f"annotations that were skipped: {skipped:,}"] if skipped else []
    return replace(found, format=READER.name, notes=(*notes, *found.notes))


def _pair(task: Any, columns: Mapping[str, str]) -> tuple[str, str]:
    data = task["data"]
    query, video = (column_of(role, list(data), columns) for role in ("caption_id", "video_id"))
    return str(data[query]), str(data[video])


def _annotator(found: Mapping[str, Any]) -> str:
    by = found["completed_by"]
    return str(by.get("email") or by["id"]) if isinstance(by, dict) else str(by)


def _label(found: Mapping[str, Any]) -> str:
    value = found["result"][0]["value"]
    return str(value["choices"][0] if "choices" in value else value["rating"])


def _fits(head: Head) -> Fit:
    is_tasks = _START.match(head.text) and '"annotations"' in head.text and '"data"' in head.text
    return Fit.SURE if is_tasks else Fit.NO


READER: Final = Reader(
    kind=JUDGMENTS.kind,
    name="label-studio",
    title="Label Studio JSON",
    place=4,
    about="Tasks with data.caption_id and data.video_id, and one choice or rating in each "
    "annotation.",
    fits=_fits,
    read=_read,
)
