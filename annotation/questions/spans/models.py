"""The spans of answers, of rulings and of gold items."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from annotation.core.spans import SPANS_MAX, Span
from annotation.models.judgments import Adjudication, Judgment
from annotation.models.tasks import GoldItem


class AnswerSpan(models.Model):
    """One span of an answer, of a ruling, or of the correct answer to a gold item.

    place: its place among the spans of the same answer, in order of time. start, end: milliseconds
    from the start of the video.
    """

    judgment = models.ForeignKey(
        Judgment, models.PROTECT, null=True, related_name="spans", db_index=False
    )
    ruling = models.ForeignKey(
        Adjudication, models.PROTECT, null=True, related_name="spans", db_index=False
    )
    gold = models.ForeignKey(
        GoldItem, models.CASCADE, null=True, related_name="spans", db_index=False
    )
    place = models.PositiveSmallIntegerField()
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()

    class Meta:
        verbose_name = "span"
        ordering = ["place"]
        constraints = [
            models.UniqueConstraint(fields=["judgment", "place"], name="span_judgment"),
            models.UniqueConstraint(fields=["ruling", "place"], name="span_ruling"),
            models.UniqueConstraint(fields=["gold", "place"], name="span_gold"),
            models.CheckConstraint(
                condition=Q(judgment__isnull=False, ruling=None, gold=None)
                | Q(judgment=None, ruling__isnull=False, gold=None)
                | Q(judgment=None, ruling=None, gold__isnull=False),
                name="span_has_one_owner",
            ),
            models.CheckConstraint(
                condition=Q(start__gte=0, end__gt=F("start")), name="span_ends_after_start"
            ),
            models.CheckConstraint(condition=Q(place__lt=SPANS_MAX), name="span_bounded"),
        ]

    def __str__(self) -> str:
        return f"{self.start / 1000:.3f}–{self.end / 1000:.3f} s"


def spans_of(owner: Judgment | Adjudication | GoldItem) -> tuple[Span, ...]:
    """Return the stored spans, in order of time."""
    return tuple(Span(row.start, row.end) for row in owner.spans.all())
