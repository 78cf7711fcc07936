"""Judgments as TREC qrels: four columns, caption, iteration, video and label.

Qrels have one label for each pair and do not name annotators.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from annotation.core.readers.judgments import JUDGMENTS, JudgmentRows, JudgmentsFile, JudgmentsOf
from pooling.core.lines import SourceFile
from pooling.core.readers.layouts import QRELS_LINE, grade_of
from pooling.core.readers.registry import Fit, Reader

# The annotator of all labels.
UNNAMED = "unnamed"


def _read(file: SourceFile, of: JudgmentsOf) -> JudgmentsFile:
    """Read one label for each pair. A relevance below 0 means that the pair was not judged."""
    blocks = file.blocks()
    rows = JudgmentRows(blocks, of)
    n_unjudged = 0
    for line, text in enumerate(blocks.text_lines(), start=1):
        cells = text.split()
        if not cells:
            continue
        if len(cells) != 4:
            rows.stop(line, f"the line has {len(cells)} columns, but qrels have 4")
        query, _, video, relevance = cells
        grade = grade_of(relevance)
        if grade is not None and grade < 0:
            rows.check_keys(line, query, video)
            n_unjudged += 1
        else:
            rows.add(line, query, video, UNNAMED, relevance if grade is None else str(grade))
    notes = ["qrels do not name their annotators, and contain one label for each pair"]
    if n_unjudged:
        notes.append(f"pairs with a relevance below 0, which are not judged: {n_unjudged:,}")
    return replace(rows.finish(), format=READER.name, notes=tuple(notes), has_annotators=False)


READER: Final = Reader(
    kind=JUDGMENTS.kind,
    name="qrels",
    title="TREC qrels",
    place=2,
    about="Qrels contain one label for each pair, but no annotators.",
    example="c1 0 v7 1",
    fits=lambda head: Fit.SURE if QRELS_LINE.fullmatch(head.first) else Fit.NO,
    read=_read,
)
