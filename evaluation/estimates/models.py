"""The draws of captions from which scores are estimated."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from django.conf import settings
from django.db import models
from django.utils import timezone

from annotation.models import Campaign
from pooling.models import Run


class DrawnCaption(TypedDict):
    """A drawn caption with what was known of it before anyone judged it.

    codes, gains: the pair of each rank, and its label; -1: unjudged. outside: the number of known
    relevant pairs that are not listed. predicted: the prediction by measure; a measure that is
    decided for this caption is missing. second, stratum: the pairs of the second run, and for which
    runs the caption is undecided; only in draws for two runs, whose predictions are differences.
    """

    query: int
    codes: list[int]
    gains: list[int]
    outside: int
    predicted: dict[str, float]
    second: NotRequired[RankedPairs]
    stratum: NotRequired[int]


class RankedPairs(TypedDict):
    """The ranked pairs of a caption; see `DrawnCaption`."""

    codes: list[int]
    gains: list[int]
    outside: int


class ByVideo(TypedDict):
    """Sums over the captions of each video, for intervals that hold for other videos.

    captions, undecided: numbers of captions. decided, predicted: the sum of the values of decided
    captions, and of the predictions of undecided ones. The last video stands for captions without
    one.
    """

    captions: list[int]
    undecided: list[int]
    decided: list[float]
    predicted: list[float]


class StoredPopulation(TypedDict):
    """See `evaluation.core.estimates.drawn.Population`.

    undecided: which captions are undecided, as bits in hexadecimal digits. by_video, undecided:
    missing in draws of earlier versions, and in those for two runs. strata, known: see
    `evaluation.core.estimates.differences.PairPopulation`; only in draws for two runs.
    """

    size: int
    decided_sum: float
    mean_predicted: float
    undecided: NotRequired[str]
    by_video: NotRequired[ByVideo]
    strata: NotRequired[list[int]]
    known: NotRequired[list[float]]


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
    # A second run: the draw is for the difference of both.
    other = models.ForeignKey(
        Run, models.CASCADE, null=True, blank=True, related_name="draws_of_differences"
    )
    other_sha256 = models.CharField(max_length=64, blank=True, default="")
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
        return f"{self.n} captions for {self.measure} of {self.title}"

    @property
    def title(self) -> str:
        """The run, or both runs."""
        return f"{self.run} minus {self.other}" if self.other else str(self.run)

    @property
    def measures(self) -> list[str]:
        """The measures that the judged pairs are enough for."""
        return list(self.populations)
