"""Storing and verifying the spans of label sets. The services that publish them call this."""

from __future__ import annotations

import gzip
import hashlib

from django.core.files.base import ContentFile

from evaluation.core.files.label_file import Labels
from evaluation.models import LabelSet, LabelSetBasis, label_set_storage
from evaluation.spans.models import LabelSetSpans
from evaluation.spans.selectors import content_of, spans_text


def store_spans(label_set: LabelSet, text: bytes, n_spans: int, n_unsettled: int) -> None:
    """Store the spans file of a new label set. Nothing is stored if people located no pair."""
    if not text:
        return
    name = f"{label_set.benchmark.key}-v{label_set.version}-spans.csv.gz"
    file = label_set_storage().save(name, ContentFile(gzip.compress(text, mtime=0)))
    LabelSetSpans.objects.create(
        label_set=label_set,
        file=file,
        sha256=hashlib.sha256(text).hexdigest(),
        n_spans=n_spans,
        n_unsettled=n_unsettled,
    )


def problems_of_spans(basis: LabelSetBasis, labels: Labels) -> tuple[str, ...]:
    """Return what is wrong with the stored spans file, and how it differs from a rebuilt one."""
    label_set = basis.label_set
    found = LabelSetSpans.objects.filter(label_set=label_set).first()
    if found is None:
        return ()
    try:
        content = content_of(found)
    except (OSError, EOFError):
        return ("The stored spans file is missing or damaged.",)
    if hashlib.sha256(content).hexdigest() != found.sha256:
        return ("The stored spans file does not have the published sha256.",)
    rebuilt, _, _ = spans_text(basis, labels, label_set.benchmark)
    return () if rebuilt == content else ("The rebuilt spans file differs from the published one.",)
