"""Windows of one video for each query, in JSON lines, as submitted to QVHighlights.

A line has `qid`, or `line` for a sentence of Charades-STA, the windows [start, end, score] in the
order of their rank, and perhaps a saliency for each clip of the video.
"""

from __future__ import annotations

from typing import Any, Final

from pooling.core.lines import SourceFile
from pooling.core.ordering import RunData
from pooling.core.readers.registry import Fit, Head
from pooling.core.readers.runs import RunOf, RunReader
from pooling.moments.core.rows import json_lines, keyed, number_of
from pooling.moments.core.run_file import SVMR, RunFile

WINDOWS: Final = "pred_relevant_windows"
SALIENCY: Final = "pred_saliency_scores"
_CELLS: Final = 3


def _read(file: SourceFile, of: RunOf) -> RunData:
    blocks = file.blocks(max_bytes=1 << 30)
    run = RunFile(of, file.source)
    has_qids = False
    for line, found in json_lines(blocks, run.problems):
        has_qids |= "qid" in found
        _add(run, line, found)
    if has_qids and not run.problems.number:
        run.check_all_captions()
    return run.finish(sha256=blocks.sha256, format=READER.name, task=SVMR)


def _add(run: RunFile, line: int, found: dict[str, Any]) -> None:
    windows = found.get(WINDOWS)
    if not isinstance(windows, list):
        run.refuse(f"the object has no list {WINDOWS!r}", line)
        return
    row = run.row_of(keyed(found.get("qid", found.get("line"))), line)
    video = run.video_of(keyed(found.get("vid")), line)
    if row is None or video is None:
        return
    moments = []
    for rank, cells in enumerate(windows, start=1):
        if not isinstance(cells, list) or len(cells) != _CELLS:
            run.refuse(f"window {rank} is not [start, end, score]", line)
        elif moment := run.moment(video, *cells, line=line, place=f"window {rank}: "):
            moments.append(moment)
    run.add(row, moments, _saliency(run, line, found.get(SALIENCY)))


def _saliency(run: RunFile, line: int, scores: Any) -> list[float] | None:
    if scores is None:
        return None
    if not isinstance(scores, list) or any(number_of(score) is None for score in scores):
        run.refuse(f"{SALIENCY!r} is not a list of finite numbers", line)
        return None
    return [float(score) for score in scores]


def _fits(head: Head) -> Fit:
    return Fit.SURE if head.first.startswith("{") and f'"{WINDOWS}"' in head.text else Fit.NO


READER: Final = RunReader(
    name="windows",
    title="Windows (QVHighlights, Charades-STA)",
    place=12,
    about="Moments of one video for each query, in JSON lines: pred_relevant_windows, and perhaps "
    "pred_saliency_scores. Sentences of Charades-STA have their line number, line.",
    example='{"qid": 1, "vid": "v1", "pred_relevant_windows": [[0, 70, 0.99], [78, 146, 0.41]]}',
    fits=_fits,
    read=_read,
)
