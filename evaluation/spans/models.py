"""The spans file of a label set."""

from __future__ import annotations

from typing import Any

from django.db import models

from evaluation.models import LabelSet, label_set_storage


class LabelSetSpans(models.Model):
    """Where people located the relevant pairs of a label set. It is frozen, like the label set.

    file: see `evaluation.core.files.span_file`. sha256: the hash of its content. n_unsettled: the
    number of relevant pairs for which people did not agree on a span.
    """

    label_set = models.OneToOneField(LabelSet, models.PROTECT, related_name="spans")
    file = models.FileField(storage=label_set_storage)
    sha256 = models.CharField(max_length=64)
    n_spans = models.PositiveIntegerField()
    n_unsettled = models.PositiveIntegerField()

    def __str__(self) -> str:
        return f"spans of {self.label_set}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.pk is not None:
            raise TypeError("the spans of a label set are frozen")
        super().save(*args, **kwargs)
