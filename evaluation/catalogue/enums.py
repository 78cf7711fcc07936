"""The values of filters."""

from __future__ import annotations

from django.db import models


class Positives(models.TextChoices):
    """The number of original positives that contain a caption or a video."""

    NONE = "none", "None"
    ONE = "one", "One"
    SEVERAL = "several", "Several"


class JudgedPairs(models.TextChoices):
    """How many pooled pairs of a caption or video have a label."""

    ALL = "all", "All"
    SOME = "some", "Some"
    NONE = "none", "None"
    NOT_POOLED = "not-pooled", "Not in a pool"


class PairOutcome(models.TextChoices):
    """The outcome of a pair under a label source."""

    UNJUDGED = "unjudged", "Unjudged"
    PENDING = "pending", "Pending"
    CONFLICTED = "conflicted", "In conflict"
    RELEVANT = "relevant", "Relevant"
    NOT_RELEVANT = "not-relevant", "Not relevant"
