"""The table of potentially relevant pairs."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from pooling.models import Proxy, proxy_storage
from pooling.relevant_pairs.core.phrases import Detector


class RelevantPairs(models.Model):
    """Pairs of captions that a detector found, with their candidates.

    The proxy has the highest confidence of a candidate for each caption and video. The file has
    the pairs of captions, see `core.detection.ROW`. Neither ever changes.
    """

    proxy = models.OneToOneField(
        Proxy, models.CASCADE, primary_key=True, related_name="relevant_pairs"
    )
    detector = models.CharField(
        max_length=5, choices=[(name.value, name.value) for name in Detector]
    )
    threshold = models.FloatField(help_text="the lowest similarity of a detected pair")
    file = models.FileField(storage=proxy_storage)
    sha256 = models.CharField(max_length=64, help_text="hash of the file")
    n_parts = models.PositiveIntegerField(help_text="different parts of all captions")
    n_pairs = models.PositiveIntegerField(help_text="detected pairs of texts")
    n_candidates = models.PositiveBigIntegerField(
        help_text="pairs of two captions, counted in both directions"
    )

    class Meta:
        verbose_name_plural = "relevant pairs"
        constraints = [
            models.CheckConstraint(
                condition=Q(detector__in=[name.value for name in Detector]),
                name="relevant_pairs_detector",
            ),
            models.CheckConstraint(
                condition=Q(threshold__gt=0, threshold__lte=1), name="relevant_pairs_threshold"
            ),
        ]

    def __str__(self) -> str:
        return self.proxy.name
