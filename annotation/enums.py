"""Enums of the annotation app."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_noop as _

from hearth.audit.acts import register_acts


class CampaignState(models.TextChoices):
    OPEN = "open", "Open"
    PAUSED = "paused", "Paused"
    CLOSED = "closed", "Closed"


class CampaignKind(models.TextChoices):
    """A training queue produces no results. It only prepares annotators for other campaigns."""

    JUDGING = "judging", "Judging"
    TRAINING = "training", "Training"


class Order(models.TextChoices):
    GROUPED = "grouped", "By caption, at most 20 pairs in a row"
    SHUFFLED = "shuffled", "Shuffled"


class Priority(models.TextChoices):
    NONE = "none", "None"
    RANK = "rank", "By rank in the runs"
    PROXY = "proxy", "By a proxy, pairs with high values first"


class Only(models.TextChoices):
    """Which pooled pairs a campaign takes that asks where a caption applies."""

    RELEVANT = "relevant", "Pairs with a relevant label"
    ALL = "all", "All pooled pairs"


class Joining(models.TextChoices):
    ALL = "everybody", "All annotators"
    ADDED = "chosen", "Only annotators that a lead adds"


class MembershipState(models.TextChoices):
    ACTIVE = "active", "Active"
    PAUSED = "paused", "Paused"


class PauseCause(models.TextChoices):
    """Why an annotator is paused in a campaign.

    `Membership` stores it, and also the lead's reason or the numbers of control answers.
    """

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


# The labels of a task determine these states. The other states result from an escalation, a report
# of a broken video, or a ruling.
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


# The names of the labels of each scale. Annotators see them translated.
LABELS: dict[str, dict[int, str]] = {
    Scale.BINARY: {0: _("not relevant"), 1: _("relevant")},
    Scale.GRADED: {
        0: _("not relevant"),
        1: _("partly relevant"),
        2: _("mostly relevant"),
        3: _("relevant"),
    },
}


@register_acts
class AnnotationAct(models.TextChoices):
    """The administrative acts on campaigns, members, gold, guidelines and rulings."""

    CAMPAIGN_OPENED = "campaign_opened", "Campaign opened"
    CAMPAIGN_STATE_SET = "campaign_state_set", "Campaign paused, reopened or closed"
    CAMPAIGN_CHANGED = "campaign_changed", "Campaign settings changed"
    CAMPAIGN_DELETED = "campaign_deleted", "Campaign deleted"
    TRAINING_OPENED = "training_opened", "Training queue opened"
    MEMBERS_ADDED = "members_added", "Members added"
    MEMBER_ADMITTED = "member_admitted", "Member admitted"
    MEMBER_PAUSED = "member_paused", "Member paused"
    MEMBER_RESUMED = "member_resumed", "Member resumed"
    GOLD_ADDED = "gold_added", "Gold items added"
    GOLD_EXPLAINED = "gold_explained", "Gold explanation changed"
    GOLD_RETIRED = "gold_retired", "Gold item retired"
    GOLD_RESTORED = "gold_restored", "Gold item restored"
    GUIDELINE_WRITTEN = "guideline_written", "Guidelines written"
    RULED = "ruled", "Ruling made"
    RULING_UNDONE = "ruling_undone", "Ruling undone"
    TASK_REOPENED = "task_reopened", "Pair returned to the queue"
    TASK_EXCLUDED = "task_excluded", "Pair excluded"
    JUDGMENTS_IMPORTED = "judgments_imported", "Judgments imported"
    WITHDRAWAL_REQUESTED = "withdrawal_requested", "Withdrawal of answers requested"
    ANSWERS_WITHDRAWN = "answers_withdrawn", "Answers withdrawn"
    COMMENTED = "commented", "Comment on a training answer"
    RULINGS_DOWNLOADED = "rulings_downloaded", "Rulings downloaded"
    PEOPLE_DOWNLOADED = "people_downloaded", "Table of annotators downloaded"
    ANSWERS_DOWNLOADED = "orders_downloaded", "Answers of a study downloaded"
