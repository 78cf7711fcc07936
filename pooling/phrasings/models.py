"""The tables of phrasings."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from pooling.models import Benchmark, Query
from pooling.phrasings.enums import Origin

MODEL_LENGTH = 150


class PhrasingSet(models.Model):
    """Phrasings that were added together: those of a file, or those that an expansion made."""

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="phrasing_sets")
    name = models.CharField(max_length=255, help_text="the name of the file or of the expansion")
    sha256 = models.CharField(max_length=64, help_text="hash of the content of the file")
    n_phrasings = models.PositiveIntegerField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = "set of phrasings"
        verbose_name_plural = "sets of phrasings"
        ordering = ["benchmark", "created_at", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "sha256"], name="phrasing_set_content")
        ]

    def __str__(self) -> str:
        return self.name


class Phrasing(models.Model):
    """A further text of a caption. It never changes. Phrasing 0, the caption, is not stored here.

    A run names the phrasing 2 of a caption `c1` as `c1#2`.
    """

    set = models.ForeignKey(PhrasingSet, models.CASCADE, related_name="phrasings")
    query = models.ForeignKey(Query, models.CASCADE, related_name="phrasings", db_index=False)
    number = models.PositiveIntegerField(help_text="from 1, unique within the caption")
    text = models.TextField()
    origin = models.CharField(max_length=7, choices=Origin)
    model = models.CharField(
        max_length=MODEL_LENGTH, blank=True, help_text="name of the language model"
    )
    prompt_sha256 = models.CharField(
        max_length=64, blank=True, help_text="hash of the prompt of the language model"
    )

    class Meta:
        ordering = ["query", "number"]
        constraints = [
            models.UniqueConstraint(fields=["query", "number"], name="phrasing_number"),
            models.CheckConstraint(condition=models.Q(number__gte=1), name="phrasing_from_1"),
            models.CheckConstraint(
                condition=models.Q(origin__in=Origin.values), name="phrasing_origin"
            ),
            models.CheckConstraint(
                condition=models.Q(origin=Origin.MODEL.value)
                | models.Q(model="", prompt_sha256=""),
                name="phrasing_model",
            ),
        ]

    def __str__(self) -> str:
        return self.text
