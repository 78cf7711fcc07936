"""The log of judgments, escalations and rulings."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotation.enums import EscalationKind, JudgmentState, TaskState
from annotation.models.campaigns import Guideline
from annotation.models.people import Annotator
from annotation.models.tasks import SLOTS_MAX, JudgmentTask

# The condition that an escalation is not withdrawn.
IN_FORCE = Q(withdrawn_at=None)
HAS_VALUE = Q(label__isnull=False) | Q(payload__isnull=False)


class Judgment(models.Model):
    """One annotator's recorded answer. Append-only: a correction is another row.

    Constraints allow at most one counted judgment per annotator and task, and at most one per slot.
    An answer to gold does not count toward its task. It is correct or wrong.
    """

    # The constraint `judgment_slot` also serves as the index of this field.
    task = models.ForeignKey(JudgmentTask, models.PROTECT, related_name="judgments", db_index=False)
    annotator = models.ForeignKey(
        Annotator, models.PROTECT, related_name="judgments", db_index=False
    )
    label = models.SmallIntegerField(null=True)
    # The rest of an answer, by the names of the API. The kind of the question checks and reads it.
    payload = models.JSONField(null=True)
    state = models.CharField(max_length=10, choices=JudgmentState, default=JudgmentState.LIVE)
    slot = models.PositiveSmallIntegerField(null=True, help_text="empty unless counted")
    is_right = models.BooleanField(null=True, help_text="for gold: whether the answer is correct")
    seconds = models.FloatField(null=True, help_text="time from showing the pair to the answer")
    # What the browser recorded about viewing the video, and the elements of the caption that the
    # annotator marked as missing. See `annotation.serializers.JudgmentSerializer`.
    viewing = models.JSONField(
        null=True, help_text="how the video was watched, as recorded by the browser"
    )
    missing = models.JSONField(null=True)
    client_key = models.UUIDField(null=True, help_text="created by the browser, once per answer")
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
                fields=["task", "annotator"],
                condition=Q(state=JudgmentState.GOLD),
                name="judgment_gold_once",
            ),
            # Any number of judgments without a slot is allowed.
            models.UniqueConstraint(fields=["task", "slot"], name="judgment_slot"),
            models.UniqueConstraint(
                fields=["annotator", "client_key"],
                condition=Q(client_key__isnull=False),
                name="judgment_client_key",
            ),
            models.CheckConstraint(
                condition=Q(state=JudgmentState.LIVE, slot__isnull=False, is_right=None)
                | (~Q(state=JudgmentState.LIVE) & Q(slot=None)),
                name="judgment_live_has_slot",
            ),
            models.CheckConstraint(
                condition=~Q(state=JudgmentState.GOLD) | Q(is_right__isnull=False),
                name="judgment_gold_is_right_or_wrong",
            ),
            models.CheckConstraint(condition=Q(slot__lt=SLOTS_MAX), name="judgment_slot_bounded"),
            models.CheckConstraint(condition=HAS_VALUE, name="judgment_has_label_or_payload"),
        ]
        indexes = [
            models.Index(fields=["annotator", "-created_at"], name="judgment_history"),
            # Surplus judgments are few, and each request of the campaign's page counts them.
            models.Index(
                fields=["task"], condition=Q(state=JudgmentState.SURPLUS), name="judgment_surplus"
            ),
            # After each answer to gold, the annotator's earlier answers to gold are read.
            models.Index(
                fields=["annotator", "-created_at"],
                condition=Q(state=JudgmentState.GOLD),
                name="judgment_gold",
            ),
        ]

    def __str__(self) -> str:
        return f"judgment {self.pk}"


class ReviewComment(models.Model):
    """A lead's message to an annotator about one of their training answers."""

    judgment = models.ForeignKey(Judgment, models.CASCADE, related_name="comments")
    lead = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT)
    text = models.TextField()
    created_at = models.DateTimeField(default=timezone.now)
    read_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"comment on judgment {self.judgment_id}"


class Escalation(models.Model):
    """An annotator escalates a pair to a lead, or reports that its video cannot play.

    An escalation has no label. One that its annotator withdraws stays in the log.
    """

    task = models.ForeignKey(JudgmentTask, models.PROTECT, related_name="escalations")
    annotator = models.ForeignKey(Annotator, models.PROTECT, related_name="escalations")
    kind = models.CharField(max_length=11, choices=EscalationKind)
    reason = models.TextField(blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    withdrawn_at = models.DateTimeField(
        null=True, blank=True, help_text="when the annotator withdrew it; empty: in force"
    )

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["task", "annotator", "kind"],
                condition=IN_FORCE,
                name="escalation_once",
            ),
        ]

    def __str__(self) -> str:
        return f"escalation of task {self.task_id}"


class Adjudication(models.Model):
    """A lead's ruling on a task. The labels of the task stay.

    A ruling that a lead undoes stays in the log as well, and the task can get another one. At most
    one ruling of a task is in force.
    """

    task = models.ForeignKey(JudgmentTask, models.PROTECT, related_name="rulings", db_index=False)
    lead = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT)
    label = models.SmallIntegerField(null=True)
    payload = models.JSONField(null=True)
    reason = models.TextField(blank=True)
    state_before = models.CharField(
        max_length=11,
        choices=TaskState,
        default=TaskState.CONFLICTED,
        help_text="state of the task when the lead ruled",
    )
    created_at = models.DateTimeField(default=timezone.now)
    undone_at = models.DateTimeField(null=True, blank=True)
    undone_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["task"], condition=Q(undone_at=None), name="adjudication_one_in_force"
            ),
            models.CheckConstraint(
                condition=Q(undone_at=None, undone_by=None) | Q(undone_at__isnull=False),
                name="adjudication_undone_has_time",
            ),
            models.CheckConstraint(
                condition=Q(state_before__in=[TaskState.CONFLICTED, TaskState.ESCALATED]),
                name="adjudication_was_at_desk",
            ),
            models.CheckConstraint(condition=HAS_VALUE, name="adjudication_has_label_or_payload"),
        ]
        indexes = [models.Index(fields=["task"], name="adjudication_task")]

    def __str__(self) -> str:
        return f"adjudication of task {self.task_id}"

    @property
    def is_in_force(self) -> bool:
        return self.undone_at is None


class Exclusion(models.Model):
    """A lead excludes a pair whose video cannot play. Its task stays unplayable."""

    task = models.OneToOneField(JudgmentTask, models.PROTECT, related_name="exclusion")
    lead = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT)
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"exclusion of task {self.task_id}"
