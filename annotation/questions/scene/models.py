"""The times of the scenes that a study shows."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from annotation.models.tasks import StudyItem


class StudyScene(models.Model):
    """The part of a video that an item of a study shows.

    start, end: seconds. They are copied from the scene, because a video can be divided again.
    """

    item = models.OneToOneField(StudyItem, models.CASCADE, primary_key=True, related_name="scene")
    start = models.FloatField(help_text="seconds")
    end = models.FloatField(help_text="seconds")

    class Meta:
        verbose_name = "scene of a study"
        verbose_name_plural = "scenes of studies"
        constraints = [
            models.CheckConstraint(
                condition=Q(start__gte=0, end__gt=F("start")), name="study_scene_bounds"
            )
        ]

    def __str__(self) -> str:
        return f"{self.start:.1f}–{self.end:.1f} s"
