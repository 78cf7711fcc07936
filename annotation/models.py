"""Who judged what: campaigns, their tasks, who holds them, and the log of judgments."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from annotation.enums import (
    AssignmentState,
    CampaignState,
    EscalationKind,
    JudgmentState,
    Scale,
    TaskState,
)
from pooling.models import KEY_LENGTH, Benchmark, Pair, Pool

# More labels than any policy asks for and any imported pair has.
SLOTS_MAX = 1000
DECIDED = [TaskState.RESOLVED, TaskState.ADJUDICATED]
# What only a lead can move on.
AT_DESK = [TaskState.CONFLICTED, TaskState.ESCALATED, TaskState.UNPLAYABLE]
# Written out, for SQLite uses a partial index only where it finds its condition word by word.
IS_AT_DESK = (
    Q(state=TaskState.CONFLICTED) | Q(state=TaskState.ESCALATED) | Q(state=TaskState.UNPLAYABLE)
)


class Annotator(models.Model):
    """A person who judges, here or in an imported file. Never leaves the platform by name."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="annotator"
    )
    # Imported annotators are known by the name in the file, within one benchmark.
    benchmark = models.ForeignKey(Benchmark, models.CASCADE, null=True, blank=True)
    key = models.CharField(max_length=KEY_LENGTH, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "key"], name="annotator_key"),
            models.CheckConstraint(
                condition=Q(user__isnull=False, benchmark=None)
                | Q(user=None, benchmark__isnull=False),
                name="annotator_is_user_or_imported",
            ),
        ]

    def __str__(self) -> str:
        return self.key or f"annotator {self.pk}"


class Guideline(models.Model):
    """What annotators are told, in versions; each judgment names the one it was made under."""

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="guidelines")
    version = models.PositiveIntegerField()
    text = models.TextField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["benchmark", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "version"], name="guideline_version"),
        ]

    def __str__(self) -> str:
        return f"Guideline {self.version}"


class Campaign(models.Model):
    """A round of judging under one policy, or an imported file of judgments (closed)."""

    pool = models.ForeignKey(Pool, models.PROTECT, related_name="campaigns")
    name = models.CharField(max_length=150)
    state = models.CharField(max_length=10, choices=CampaignState, default=CampaignState.OPEN)
    scale = models.CharField(max_length=10, choices=Scale, default=Scale.BINARY)
    double_share = models.DecimalField(max_digits=5, decimal_places=4, default=0)
    seed = models.BigIntegerField(default=0)
    labels_max = models.PositiveSmallIntegerField(default=3)
    guideline = models.ForeignKey(Guideline, models.PROTECT, null=True, blank=True)
    n_tasks = models.PositiveIntegerField(default=0)
    source_sha256 = models.CharField(max_length=64, blank=True, help_text="of the imported file")
    created_at = models.DateTimeField(default=timezone.now)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(double_share__gte=0, double_share__lte=1), name="double_share_is_share"
            ),
            models.CheckConstraint(condition=Q(labels_max__gte=1), name="labels_max_positive"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_imported(self) -> bool:
        return bool(self.source_sha256)


class JudgmentTask(models.Model):
    """A pair to judge in a campaign.

    `labels_planned` (one, or two for the doubled share) never changes. `labels_required`
    grows on disagreement. `seats_open` counts the slots that nobody holds or has filled; it
    is kept here, and not counted at each claim, so that one index finds the next task at once
    however many tasks there are.
    """

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="tasks", db_index=False)
    pair = models.ForeignKey(Pair, models.PROTECT)
    position = models.PositiveIntegerField(help_text="order in which the tasks are handed out")
    labels_planned = models.PositiveSmallIntegerField(default=1)
    labels_required = models.PositiveSmallIntegerField(default=1)
    labels_live = models.PositiveSmallIntegerField(default=0)
    seats_open = models.PositiveSmallIntegerField(default=1)
    state = models.CharField(max_length=11, choices=TaskState, default=TaskState.OPEN)
    label = models.SmallIntegerField(null=True, help_text="the consensus; empty: none")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "pair"], name="task_pair"),
            models.CheckConstraint(
                condition=Q(labels_live__lte=F("labels_required")), name="task_labels_bounded"
            ),
            models.CheckConstraint(
                condition=Q(labels_planned__gte=1) & Q(labels_required__gte=F("labels_planned")),
                name="task_labels_planned",
            ),
            models.CheckConstraint(
                condition=Q(state=TaskState.OPEN) | Q(seats_open=0), name="task_ended_has_no_seats"
            ),
            models.CheckConstraint(
                condition=Q(state__in=DECIDED, label__isnull=False)
                | (~Q(state__in=DECIDED) & Q(label=None)),
                name="task_decided_has_label",
            ),
        ]
        indexes = [
            # Only tasks that can be handed out: the index shrinks as the campaign empties.
            models.Index(
                fields=["campaign", "position"], condition=Q(seats_open__gt=0), name="task_claim"
            ),
            # Few among many: the desk and its count do not look through the campaign.
            models.Index(fields=["campaign", "state"], condition=IS_AT_DESK, name="task_desk"),
        ]

    def __str__(self) -> str:
        return f"task {self.pk}"


class Assignment(models.Model):
    """One slot of a task, held by one annotator until the lease runs out."""

    task = models.ForeignKey(
        JudgmentTask, models.CASCADE, related_name="assignments", db_index=False
    )
    annotator = models.ForeignKey(Annotator, models.PROTECT, related_name="assignments")
    slot = models.PositiveSmallIntegerField(null=True, help_text="empty once given up")
    state = models.CharField(max_length=8, choices=AssignmentState, default=AssignmentState.HELD)
    lease_expires_at = models.DateTimeField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["task", "annotator"], name="assignment_annotator"),
            models.UniqueConstraint(fields=["task", "slot"], name="assignment_slot"),
            models.CheckConstraint(
                condition=Q(state__in=[AssignmentState.HELD, AssignmentState.DONE]) | Q(slot=None),
                name="assignment_given_up_has_no_slot",
            ),
        ]
        indexes = [
            models.Index(
                fields=["lease_expires_at"],
                condition=Q(state=AssignmentState.HELD),
                name="assignment_lease",
            ),
        ]

    def __str__(self) -> str:
        return f"assignment {self.pk}"


class Judgment(models.Model):
    """One annotator's recorded answer. Append-only: a correction is a further row.

    Rule 1 of the platform is in the constraints: at most one counted judgment per annotator
    and task, at most one per slot.
    """

    task = models.ForeignKey(JudgmentTask, models.PROTECT, related_name="judgments")
    annotator = models.ForeignKey(
        Annotator, models.PROTECT, related_name="judgments", db_index=False
    )
    label = models.SmallIntegerField()
    state = models.CharField(max_length=10, choices=JudgmentState, default=JudgmentState.LIVE)
    slot = models.PositiveSmallIntegerField(null=True, help_text="empty unless counted")
    seconds = models.FloatField(null=True, help_text="from showing the pair to the answer")
    client_key = models.UUIDField(null=True, help_text="made by the browser, once per answer")
    guideline = models.ForeignKey(Guideline, models.PROTECT, null=True, db_index=False)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["task", "annotator"],
                condition=Q(state=JudgmentState.LIVE),
                name="judgment_once",
            ),
            models.UniqueConstraint(
                fields=["task", "slot"], condition=Q(slot__isnull=False), name="judgment_slot"
            ),
            models.UniqueConstraint(
                fields=["annotator", "client_key"],
                condition=Q(client_key__isnull=False),
                name="judgment_client_key",
            ),
            models.CheckConstraint(
                condition=Q(state=JudgmentState.LIVE, slot__isnull=False)
                | (~Q(state=JudgmentState.LIVE) & Q(slot=None)),
                name="judgment_live_has_slot",
            ),
            models.CheckConstraint(condition=Q(slot__lt=SLOTS_MAX), name="judgment_slot_bounded"),
        ]
        indexes = [
            models.Index(fields=["annotator", "-id"], name="judgment_history"),
            # Few, and counted at every look at the campaign.
            models.Index(
                fields=["task"], condition=Q(state=JudgmentState.SURPLUS), name="judgment_surplus"
            ),
        ]

    def __str__(self) -> str:
        return f"judgment {self.pk}"


class Escalation(models.Model):
    """An annotator hands a pair on instead of judging it: to a lead, or as a video that cannot
    play. Never a label."""

    task = models.ForeignKey(JudgmentTask, models.PROTECT, related_name="escalations")
    annotator = models.ForeignKey(Annotator, models.PROTECT, related_name="escalations")
    kind = models.CharField(max_length=11, choices=EscalationKind)
    reason = models.TextField(blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["task", "annotator", "kind"], name="escalation_once"),
        ]

    def __str__(self) -> str:
        return f"escalation of task {self.task_id}"


class Adjudication(models.Model):
    """A lead's ruling on a task; the labels it rules on stay as they are."""

    task = models.OneToOneField(JudgmentTask, models.PROTECT, related_name="adjudication")
    lead = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT)
    label = models.SmallIntegerField()
    reason = models.TextField(blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"adjudication of task {self.task_id}"


class Exclusion(models.Model):
    """A lead's word that a pair whose video cannot play stays out; its task stays unplayable."""

    task = models.OneToOneField(JudgmentTask, models.PROTECT, related_name="exclusion")
    lead = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT)
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"exclusion of task {self.task_id}"
