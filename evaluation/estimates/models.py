"""The draws of captions from which scores are estimated."""

from __future__ import annotations

from typing import TypedDict

from django.conf import settings
from django.db import models
from django.utils import timezone

from annotation.models import Campaign
from pooling.models import Run


class DrawnCaption(TypedDict):
    """A drawn caption with what was known of it before anyone judged it.

    codes, gains: the pair of each rank, and its label; -1: unjudged. outside: the number of known
    relevant pairs that are not listed. predicted: the prediction by measure; a measure that is
    decided for this caption is missing.
    """

    query: int
    codes: list[int]
    gains: list[int]
    outside: int
    predicted: dict[str, float]


class StoredPopulation(TypedDict):
    """See `evaluation.core.estimates.drawn.Population`."""

    size: int
    decided_sum: float
    mean_predicted: float


class Draw(models.Model):
    """A random sample of the captions of a run that no known label decides.

    It is stored before anyone judges the captions, and never changes: a trigger refuses updates.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="draws")
    measure = models.CharField(max_length=50)
    n = models.PositiveIntegerField(help_text="number of drawn captions")
    seed = models.BigIntegerField(default=0)
    stops_early = models.BooleanField(
        help_text="whether judging stops at the first relevant pair of a caption"
    )
    proxy = models.CharField(max_length=150, blank=True, help_text="name of the machine")
    proxy_sha256 = models.CharField(max_length=64, blank=True)
    run_sha256 = models.CharField(max_length=64)
    labels_fingerprint = models.JSONField(help_text="of the labels before the draw")
    populations = models.JSONField(help_text="`StoredPopulation` by measure")
    captions = models.JSONField(help_text="list of `DrawnCaption`, in the drawn order")
    campaign = models.OneToOneField(Campaign, models.CASCADE, related_name="draw")
    code_version = models.CharField(max_length=50)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-pk"]
        constraints = [models.CheckConstraint(condition=models.Q(n__gte=1), name="draw_not_empty")]

    def __str__(self) -> str:
        return f"{self.n} captions for {self.measure} of {self.run}"

    @property
    def measures(self) -> list[str]:
        """The measures that the judged pairs are enough for."""
        return list(self.populations)
