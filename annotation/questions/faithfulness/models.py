"""The phrasings that tasks of faithfulness campaigns show."""

from __future__ import annotations

from django.db import models

from annotation.models.tasks import JudgmentTask
from pooling.phrasings.models import Phrasing


class PhrasingTask(models.Model):
    """The phrasing of a task. The task shows its text together with that of its caption."""

    task = models.OneToOneField(JudgmentTask, models.CASCADE, related_name="of_phrasing")
    phrasing = models.ForeignKey(Phrasing, models.PROTECT, related_name="tasks")

    class Meta:
        verbose_name = "phrasing to judge"
        verbose_name_plural = "phrasings to judge"

    def __str__(self) -> str:
        return f"phrasing {self.phrasing_id} of task {self.task_id}"
