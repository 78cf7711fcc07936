"""Judgments as TREC qrels: caption, iteration, video, in some files a stratum, and label.

Qrels have one label for each pair and do not name annotators.
"""

from __future__ import annotations

from array import array
from dataclasses import replace
from typing import Final

import numpy as np

from annotation.core.readers.judgments import JUDGMENTS, JudgmentRows, JudgmentsFile, JudgmentsOf
from pooling.core.arrays import Int32s
from pooling.core.lines import SourceFile
from pooling.core.pair_space import PairSpace
from pooling.core.readers.layouts import FIVE_COLUMNS_LINE, QRELS_LINE, grade_of
from pooling.core.readers.registry import Fit, Head, Reader
from pooling.core.strata import NAME_MAX, STRATA_MAX

# The annotator of all labels.
UNNAMED = "unnamed"
# The stratum of all pairs in four columns.
WHOLE = "pool"
_WIDTHS = (4, 5)


def _read(file: SourceFile, of: JudgmentsOf) -> JudgmentsFile:
    """Read one label for each pair. A relevance below 0 means that the pair was not judged.

    In five columns, the fourth names the stratum of the pool from which the pair was drawn. In four
    columns, all pairs are one stratum if some of them were not judged.
    """
    blocks = file.blocks()
    rows = JudgmentRows(blocks, of)
    names: dict[str, int] = {}
    judged, unjudged = array("i"), array("i")  # the stratum of each pair
    pairs, lines = array("i"), array("i")  # of the unjudged pairs
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
        name = cells[3] if width > _WIDTHS[0] else WHOLE
        stratum = names.setdefault(name, len(names))
        if len(name) > NAME_MAX or stratum == STRATA_MAX:
            rows.stop(line, f"more than {STRATA_MAX} strata, or a name of more than {NAME_MAX}")
        grade = grade_of(relevance)
        if grade is None or grade >= 0:
            rows.add(line, query, video, UNNAMED, relevance if grade is None else str(grade))
            judged.append(stratum)
        else:
            rows.check_keys(line, query, video)
            pairs.extend((of.query_numbers[query], of.video_numbers[video]))
            lines.append(line)
            unjudged.append(stratum)
    found = rows.finish()
    numbers = np.array(pairs, np.int32).reshape(-1, 2)
    if len(numbers):
        _refuse_repeated(rows, found, numbers, np.array(lines, np.int32))
    if len(numbers) or width > _WIDTHS[0]:
        stratum_of = np.array(judged + unjudged, np.int32)
        found = replace(found, strata=tuple(names), stratum=stratum_of)
    found = replace(found, unjudged=(numbers[:, 0], numbers[:, 1]))
    return replace(found, format=READER.name, notes=_notes(found), has_annotators=False)


def _refuse_repeated(
    rows: JudgmentRows, found: JudgmentsFile, unjudged: Int32s, lines: Int32s
) -> None:
    """Refuse a pair that is judged and not judged, or not judged twice."""
    space = PairSpace(len(rows.query_numbers), len(rows.video_numbers))
    codes = space.encode(unjudged[:, 0], unjudged[:, 1])
    first = np.unique(codes, return_index=True)[1]
    is_repeated = np.isin(codes, space.encode(found.queries, found.videos))
    is_repeated[np.setdiff1d(np.arange(len(codes)), first)] = True
    if is_repeated.any():
        line = int(lines[np.flatnonzero(is_repeated)[0]])
        rows.stop(line, "the pair occurs twice, and here without a judgment (-1)")


def _notes(found: JudgmentsFile) -> tuple[str, ...]:
    notes = ["qrels do not name their annotators, and contain one label for each pair"]
    if len(found.unjudged[0]):
        notes.append(
            f"pairs that were pooled but not judged (-1): {len(found.unjudged[0]):,}; they are "
            "stored without a label, and the next campaign can judge them"
        )
    if found.strata:
        counts = sorted(found.counts_by_stratum().items())
        listed = (f"{name}: {n:,} of {all_:,}" for name, (all_, n) in counts)
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
