"""Submissions of TVR: one JSON object with the lists of the tasks VCMR, SVMR and VR.

The order of a list counts, and not the scores. Each task is a run of its own: `tvr` reads VCMR, or
the first task that the file has; `tvr-svmr` and `tvr-vr` read the other tasks.
"""

from __future__ import annotations

import hashlib
from functools import partial
from typing import Any, Final

from hearth.shared.errors import InvalidInput
from pooling.core.lines import SourceFile
from pooling.core.ordering import RunData
from pooling.core.readers.registry import Fit, Head
from pooling.core.readers.runs import RunOf, RunReader
from pooling.moments.core.rows import json_file, keyed
from pooling.moments.core.run_file import SVMR, VCMR, VR, RunFile

NAMES: Final = {VCMR: "tvr", SVMR: "tvr-svmr", VR: "tvr-vr"}
MAX_BYTES: Final = 512 << 20
_CELLS: Final = 4


def read_tvr(file: SourceFile, of: RunOf, *, task: str) -> RunData:
    blocks = file.blocks(max_line=None, max_bytes=MAX_BYTES)
    found = json_file(blocks)
    lists = found if isinstance(found, dict) else {}
    names = lists.get("video2idx")
    tasks = [name for name in NAMES if isinstance(lists.get(name), list)]
    if not isinstance(names, dict) or not tasks:
        reason = "the file is not an object with video2idx and VCMR, SVMR or VR"
        raise InvalidInput(reason, source=file.source)
    if task not in tasks and task != VCMR:
        raise InvalidInput(f"the file has no lists of {task}", source=file.source)
    chosen = task if task in tasks else tasks[0]
    run = RunFile(of, file.source)
    videos = {number: video for video, number in names.items() if type(number) is int}
    for number, entry in enumerate(found[chosen], start=1):
        _add(run, videos, entry if isinstance(entry, dict) else {}, f"{chosen}, entry {number}: ")
    if not run.problems.number:
        run.check_all_captions()
    sha256 = blocks.sha256
    if chosen != tasks[0]:
        sha256 = hashlib.sha256(f"{chosen} {sha256}".encode()).hexdigest()
    others = [f"{other} (format {NAMES[other]})" for other in tasks if other != chosen]
    notes = (f"the file also has lists of {' and '.join(others)}",) if others else ()
    return run.finish(sha256=sha256, format=NAMES[chosen], task=chosen, warnings=notes)


def _add(run: RunFile, videos: dict[int, str], entry: dict[str, Any], place: str) -> None:
    predictions = entry.get("predictions")
    if not isinstance(predictions, list):
        run.refuse(f"{place}it has no list 'predictions'")
        return
    row = run.row_of(keyed(entry.get("desc_id")))
    if row is None:
        return
    moments = []
    for rank, cells in enumerate(predictions, start=1):
        where = f"{place}prediction {rank}: "
        if not isinstance(cells, list) or len(cells) != _CELLS:
            run.refuse(f"{where}it is not [video, start, end, score]")
            continue
        number, start, end, score = cells
        key = videos.get(number) if type(number) is int else None
        if key is None:
            run.refuse(f"{where}the video number {number!r} is not in video2idx"[:200])
            continue
        video = run.video_of(key, 0, where)
        if video is None:
            continue
        if found := run.moment(video, start, end, score, line=0, place=where):
            moments.append(found)
    run.add(row, moments)


def _fits(head: Head) -> Fit:
    start = head.text[:200]
    is_known = start.startswith("{") and any(f'"{name}"' in start for name in ("video2idx", *NAMES))
    return Fit.SURE if is_known else Fit.NO


def reader_of(task: str, *, fits: Any, place: int) -> RunReader:
    return RunReader(
        name=NAMES[task],
        title="TVR" if task == VCMR else f"TVR, task {task}",
        place=place,
        about=f"Moments: the lists of {task} in a submission of TVR (video2idx, VCMR, SVMR, VR).",
        example='{"video2idx": {"v1": 7}, "VCMR": [{"desc_id": 1, "predictions": '
        "[[7, 9.0, 12.0, 1.7]]}]}",
        fits=fits,
        read=partial(read_tvr, task=task),
    )


READER: Final = reader_of(VCMR, fits=_fits, place=10)
