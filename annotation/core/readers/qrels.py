"""Judgments as TREC qrels: caption, iteration, video, in some files a stratum, and label.

Qrels have one label for each pair and do not name annotators.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Final

import numpy as np

from annotation.core.readers.judgments import JUDGMENTS, JudgmentRows, JudgmentsFile, JudgmentsOf
from pooling.core.lines import SourceFile
from pooling.core.readers.layouts import FIVE_COLUMNS_LINE, QRELS_LINE, grade_of
from pooling.core.readers.registry import Fit, Head, Reader

# The annotator of all labels.
UNNAMED = "unnamed"
_WIDTHS = (4, 5)


def _read(file: SourceFile, of: JudgmentsOf) -> JudgmentsFile:
    """Read one label for each pair. A relevance below 0 means that the pair was not judged.

    In five columns, the fourth names the stratum of the pool from which the pair was drawn.
    """
    blocks = file.blocks()
    rows = JudgmentRows(blocks, of)
    unjudged: list[tuple[int, int]] = []
    strata: Counter[str] = Counter()
    judged: Counter[str] = Counter()
    width = 0
    for line, text in enumerate(blocks.text_lines(), start=1):
        cells = text.split()
        if not cells:
            continue
        width = width or len(cells)
        if len(cells) not in _WIDTHS or len(cells) != width:
            wanted = width if width in _WIDTHS else _WIDTHS[0]
            rows.stop(line, f"the line has {len(cells)} columns, but qrels have {wanted}")
        query, video, relevance = cells[0], cells[2], cells[-1]
        grade = grade_of(relevance)
        is_judged = grade is None or grade >= 0
        strata[cells[3]] += width > _WIDTHS[0]
        judged[cells[3]] += is_judged
        if is_judged:
            rows.add(line, query, video, UNNAMED, relevance if grade is None else str(grade))
        else:
            rows.check_keys(line, query, video)
            unjudged.append((of.query_numbers[query], of.video_numbers[video]))
    numbers = np.array(unjudged, np.int32).reshape(-1, 2)
    found = replace(
        rows.finish(),
        unjudged=(numbers[:, 0], numbers[:, 1]),
        strata={name: (strata[name], judged[name]) for name in sorted(strata) if strata[name]},
    )
    return replace(found, format=READER.name, notes=_notes(found), has_annotators=False)


def _notes(found: JudgmentsFile) -> tuple[str, ...]:
    notes = ["qrels do not name their annotators, and contain one label for each pair"]
    if len(found.unjudged[0]):
        notes.append(
            f"pairs that were pooled but not judged (-1): {len(found.unjudged[0]):,}; they are "
            "stored without a label, and the next campaign can judge them"
        )
    if found.strata:
        listed = (f"{name}: {n:,} of {all_:,}" for name, (all_, n) in found.strata.items())
        notes.append(f"judged pairs by stratum: {', '.join(listed)}")
    return tuple(notes)


def _fits(head: Head) -> Fit:
    is_qrels = QRELS_LINE.fullmatch(head.first) or FIVE_COLUMNS_LINE.fullmatch(head.first)
    return Fit.SURE if is_qrels else Fit.NO


READER: Final = Reader(
    kind=JUDGMENTS.kind,
    name="qrels",
    title="TREC qrels",
    place=2,
    about="Qrels contain one label for each pair, but no annotators. In five columns, the fourth "
    "is the stratum. A label of -1 stands for a pair that was pooled but not judged.",
    example="c1 0 v7 1",
    fits=_fits,
    read=_read,
)
