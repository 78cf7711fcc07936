"""Enums of the annotation app."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_noop as _


class CampaignState(models.TextChoices):
    OPEN = "open", "Open"
    PAUSED = "paused", "Paused"
    CLOSED = "closed", "Closed"


class CampaignKind(models.TextChoices):
    JUDGING = "judging", "Judging"
    TRAINING = "training", "Training"


class Order(models.TextChoices):
    GROUPED = "grouped", "By caption, at most 20 pairs in a row"
    SHUFFLED = "shuffled", "Shuffled"


class Priority(models.TextChoices):
    NONE = "none", "None"
    RANK = "rank", "By rank in the runs"


class Joining(models.TextChoices):
    ALL = "everybody", "All annotators"
    ADDED = "chosen", "Only annotators that a lead adds"


class MembershipState(models.TextChoices):
    ACTIVE = "active", "Active"
    PAUSED = "paused", "Paused"


class PauseCause(models.TextChoices):
    """Why an annotator is paused in a campaign. `Membership` stores the reason or the numbers."""

    LEAD = "lead", "Paused by a lead"
    WITHDRAWAL = "withdrawal", "Answers withdrawn by a lead"
    ACCURACY = "accuracy", "Below the accuracy requirement"


class MemberAction(models.TextChoices):
    PAUSED = "paused", "Paused"
    RESUMED = "resumed", "Resumed"


class GoldUse(models.TextChoices):
    TRAINING = "training", "Training"
    CONTROL = "control", "Control"


class Scale(models.TextChoices):
    BINARY = "binary", "Relevant or not"
    GRADED = "graded", "Graded relevance"


class TaskState(models.TextChoices):
    OPEN = "open", "Open"
    RESOLVED = "resolved", "Resolved"
    CONFLICTED = "conflicted", "In conflict"
    ADJUDICATED = "adjudicated", "Adjudicated"
    ESCALATED = "escalated", "Escalated"
    UNPLAYABLE = "unplayable", "Video cannot play"


# In these states the labels of a task determine its state. In all others, a lead decides.
STATES_FROM_LABELS = (TaskState.OPEN, TaskState.RESOLVED, TaskState.CONFLICTED)


class AssignmentState(models.TextChoices):
    HELD = "held", "Held"
    DONE = "done", "Judged"
    EXPIRED = "expired", "Expired"
    RELEASED = "released", "Released"


class JudgmentState(models.TextChoices):
    LIVE = "live", "Counted"
    SUPERSEDED = "superseded", "Corrected later"
    SURPLUS = "surplus", "Surplus"
    GOLD = "gold", "Answer to a gold item"
    WITHDRAWN = "withdrawn", "Withdrawn by a lead"


class EscalationKind(models.TextChoices):
    UNSURE = "unsure", "Unsure"
    CANNOT_PLAY = "cannot-play", "Video cannot play"


# Annotators see the translations.
LABELS: dict[str, dict[int, str]] = {
    Scale.BINARY: {0: _("not relevant"), 1: _("relevant")},
    Scale.GRADED: {
        0: _("not relevant"),
        1: _("partly relevant"),
        2: _("mostly relevant"),
        3: _("relevant"),
    },
}
