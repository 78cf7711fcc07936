"""Storage of labels as arrays, in addition to the texts of label sets and drafts."""

from __future__ import annotations

import hashlib
import logging
import zlib
from typing import TypeAlias

from django.db import transaction
from django.db.models import Exists, OuterRef

from evaluation.core.files.label_file import LABEL_COLUMNS, Labels, parse_labels
from evaluation.core.files.packed import pack
from evaluation.models import Draft, LabelArrays, LabelSet
from evaluation.release.selectors.labels import label_text
from pooling.models import Benchmark
from pooling.selectors.arrays import query_numbers, video_numbers

PackedLabels: TypeAlias = dict[str, bytes]

logger = logging.getLogger(__name__)


def pack_labels(labels: Labels) -> PackedLabels:
    """Return the compressed columns of `LabelArrays`."""
    return {name: pack(getattr(labels, name)) for name in LABEL_COLUMNS}


def store_label_arrays(benchmark: Benchmark, sha256: str, packed: PackedLabels) -> None:
    """Store the labels of a text with this hash, and delete those of texts that no longer exist.

    Call it after the label set or draft is stored, in the same transaction.
    """
    stored = LabelArrays.objects.filter(benchmark=benchmark)
    if not stored.filter(sha256=sha256).exists():
        _store(benchmark, sha256, packed)
    label_sets, drafts = (
        of_text.objects.filter(benchmark=benchmark).order_by().values("sha256")
        for of_text in (LabelSet, Draft)
    )
    stored.exclude(sha256__in=label_sets).exclude(sha256__in=drafts).delete()


def store_missing_arrays(*, dry_run: bool) -> tuple[int, int]:
    """Store the labels of label sets that an earlier version of Hearth published without arrays.

    Return the number of label sets, and the bytes of their arrays (0 if `dry_run` is set). A label
    set whose file is missing or damaged is skipped; `manage.py verify` reports it.
    """
    same = LabelArrays.objects.filter(benchmark=OuterRef("benchmark"), sha256=OuterRef("sha256"))
    missing = LabelSet.objects.filter(~Exists(same)).select_related("benchmark").order_by("pk")
    if dry_run:
        return missing.count(), 0
    sizes = [size for label_set in missing if (size := _store_label_set(label_set))]
    return len(sizes), sum(sizes)


def _store_label_set(label_set: LabelSet) -> int:
    """Store the arrays of a label set. Return their bytes, or 0 if its file cannot be read."""
    benchmark = label_set.benchmark
    try:
        text = label_text(label_set)
    except (OSError, EOFError, zlib.error):
        text = b""
    if hashlib.sha256(text).hexdigest() != label_set.sha256:
        logger.warning("The file of label set %s is missing or damaged.", label_set)
        return 0
    labels = parse_labels(text, query_numbers(benchmark), video_numbers(benchmark))
    with transaction.atomic():
        return _store(benchmark, label_set.sha256, pack_labels(labels))


def _store(benchmark: Benchmark, sha256: str, packed: PackedLabels) -> int:
    """Store the arrays, unless another process has stored them. Return their bytes."""
    LabelArrays.objects.bulk_create(
        [LabelArrays(benchmark=benchmark, sha256=sha256, **packed)], ignore_conflicts=True
    )
    return sum(len(column) for column in packed.values())
