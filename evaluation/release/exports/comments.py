"""The comments that people wrote about the pairs of a label set.

Unlike in all other formats, the contents are read from the log. A frozen file would keep the texts
of people who are erased.
"""

from __future__ import annotations

from collections.abc import Iterator

from annotation.selectors.comments import comments_until
from evaluation.models import LabelSet
from evaluation.release.exports.options import ExportOptions
from hearth.shared.tables import csv_parts

HEADS = ("caption_id", "video_id", "kind", "label", "comment", "written_at")


def comments(label_set: LabelSet, options: ExportOptions) -> Iterator[bytes]:
    """Yield the comments that were in force at the time of the label set, oldest first."""
    found = comments_until(label_set.benchmark, label_set.created_at)
    rows = ((*values, at.isoformat(timespec="seconds")) for *values, at in found)
    for part in csv_parts(HEADS, rows):
        yield part.encode()
