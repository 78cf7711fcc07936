"""Closed vocabularies of the pooling app."""

from __future__ import annotations

from django.db import models


class MediaState(models.TextChoices):
    MISSING = "missing", "No file"
    PLAYABLE = "playable", "Playable"
    BROKEN = "broken", "Cannot play"


class PoolStrategy(models.TextChoices):
    DEPTH_K = "depth-k", "Top k of each run"
    JUDGED = "judged", "Pairs of an imported file of judgments"
