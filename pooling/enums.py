"""The enumerations of the pooling app."""

from __future__ import annotations

from django.db import models

from config.audit.acts import register_acts


class MediaState(models.TextChoices):
    MISSING = "missing", "No file"
    PLAYABLE = "playable", "Playable"
    BROKEN = "broken", "Cannot play"


class PoolStrategy(models.TextChoices):
    DEPTH_K = "depth-k", "Top k of each run"
    JUDGED = "judged", "Pairs of imported judgments"


class Originals(models.TextChoices):
    """What a pool does with original positives. The values are those of `core.pool_options`."""

    RANKED = "ranked", "Only those that a run ranks, like other pairs"
    ADDED = "added", "All of them, also those that no run ranks"
    LEFT_OUT = "left-out", "None of them"


class EqualTexts(models.TextChoices):
    """The rules for when two captions count as the same text and share their judgments.

    The values are the rules of `pooling.core.equal_texts`.
    """

    FOLDED = "folded", "Equal except for case, white space and final punctuation"
    EXACT = "exact", "Equal character by character"
    OFF = "off", "Never equal: judge each caption separately"


@register_acts
class PoolingAct(models.TextChoices):
    """The administrative acts on benchmarks, runs and pools."""

    BENCHMARK_IMPORTED = "benchmark_imported", "Benchmark imported"
    EQUAL_TEXTS_SET = "equal_texts_set", "Rule for equal captions changed"
    RUN_IMPORTED = "run_imported", "Run imported"
    POOL_BUILT = "pool_built", "Pool built"
    TRAIN_CAPTIONS_IMPORTED = "train_captions_imported", "Train captions imported"
    TAGS_IMPORTED = "tags_imported", "Tags imported"
