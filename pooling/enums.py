"""The enumerations of the pooling app."""

from __future__ import annotations

from django.db import models


class MediaState(models.TextChoices):
    MISSING = "missing", "No file"
    PLAYABLE = "playable", "Playable"
    BROKEN = "broken", "Cannot play"


class PoolStrategy(models.TextChoices):
    DEPTH_K = "depth-k", "Top k of each run"
    JUDGED = "judged", "Pairs of imported judgments"


class EqualTexts(models.TextChoices):
    """The rules for when two captions count as the same text and share their judgments.

    The values are the rules of `pooling.core.equal_texts`.
    """

    FOLDED = "folded", "Equal except for case, white space and final punctuation"
    EXACT = "exact", "Equal character by character"
    OFF = "off", "Never equal: judge each caption separately"
