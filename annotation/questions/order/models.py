"""The captions of the items and of the control orders of ordering studies."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from annotation.models.tasks import GoldItem, JudgmentTask
from annotation.questions.order.orders import CAPTIONS
from pooling.models import Query


class OrderingCaption(models.Model):
    """One of the five captions of a task of an ordering study.

    place: its place on the screen. level: its level, from 0 for the most similar caption by the
    campaign's proxy to 4 for the least similar one. value: its value by the proxy.
    """

    task = models.ForeignKey(
        JudgmentTask, models.CASCADE, related_name="ordering_captions", db_index=False
    )
    query = models.ForeignKey(Query, models.PROTECT, related_name="ordering_captions")
    place = models.PositiveSmallIntegerField()
    level = models.PositiveSmallIntegerField()
    value = models.FloatField()

    class Meta:
        verbose_name = "caption of an ordering study"
        verbose_name_plural = "captions of ordering studies"
        ordering = ["task", "place"]
        constraints = [
            models.UniqueConstraint(fields=["task", "place"], name="ordering_caption_place"),
            models.UniqueConstraint(fields=["task", "level"], name="ordering_caption_level"),
            models.UniqueConstraint(fields=["task", "query"], name="ordering_caption_query"),
            models.CheckConstraint(
                condition=Q(place__lt=CAPTIONS, level__lt=CAPTIONS),
                name="ordering_caption_bounded",
            ),
        ]

    def __str__(self) -> str:
        return f"caption {self.place} of task {self.task_id}"


class GoldCaption(models.Model):
    """One of the five captions of a control order.

    place: its place on the screen. step: its step in the correct order, from 0. An order is correct
    if captions of a lower step come before those of a higher step. Captions of the same step can be
    in any order.
    """

    item = models.ForeignKey(GoldItem, models.CASCADE, related_name="captions", db_index=False)
    query = models.ForeignKey(Query, models.CASCADE, related_name="gold_captions")
    place = models.PositiveSmallIntegerField()
    step = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["item", "place"]
        constraints = [
            models.UniqueConstraint(fields=["item", "place"], name="gold_caption_place"),
            models.UniqueConstraint(fields=["item", "query"], name="gold_caption_query"),
            models.CheckConstraint(
                condition=Q(place__lt=CAPTIONS, step__lt=CAPTIONS), name="gold_caption_bounded"
            ),
        ]

    def __str__(self) -> str:
        return f"caption {self.place} of gold item {self.item_id}"


def captions_of(
    task: JudgmentTask,
) -> models.QuerySet[OrderingCaption] | models.QuerySet[GoldCaption]:
    """Return the five captions that a task shows, by place."""
    return task.gold.captions.all() if task.gold else task.ordering_captions.all()
