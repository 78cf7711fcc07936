"""Judgments in JSON lines: `{"caption": "c1", "video": "v7", "by": "anna", "relevant": true}`."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from annotation.core.readers.judgments import JUDGMENTS, JudgmentRows, JudgmentsFile, JudgmentsOf
from pooling.core.lines import SourceFile
from pooling.core.readers.benchmarks.json_lines import json_object
from pooling.core.readers.registry import Fit, Head, Reader

EXAMPLE = '{"caption": "c1", "video": "v7", "by": "anna", "relevant": true}'
NAMES = ("caption", "video", "by", "relevant")


def fits(head: Head) -> Fit:
    """Return `SURE` if the first line has exactly these names."""
    try:
        return Fit.SURE if tuple(json_object(head.first)) == NAMES else Fit.NO
    except ValueError:
        return Fit.NO


def read(file: SourceFile, of: JudgmentsOf) -> JudgmentsFile:
    """Read line by line. `JudgmentRows` checks the keys, the label and the number of judgments."""
    blocks = file.blocks()
    rows = JudgmentRows(blocks, of)
    for line, text in enumerate(blocks.text_lines(), start=1):
        try:
            caption, video, annotator, relevant = map(json_object(text).__getitem__, NAMES)
        except (ValueError, KeyError) as error:
            rows.stop(line, f"the line is not like {EXAMPLE}: {error}")
        rows.add(line, str(caption), str(video), str(annotator), str(int(relevant is True)))
    return replace(rows.finish(), format=READER.name)


READER: Final = Reader(
    kind=JUDGMENTS.kind,
    name="lines",
    title="JSON lines",
    about="One judgment per line.",
    example=EXAMPLE,
    fits=fits,
    read=read,
)
