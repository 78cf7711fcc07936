"""Tasks, gold items, and the assignments of tasks to annotators."""

from __future__ import annotations

from typing import cast

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from annotation.enums import AssignmentState, GoldUse, TaskState
from annotation.models.campaigns import Campaign
from annotation.models.people import Annotator
from annotation.questions.kind import QuestionKind, kinds
from pooling.models import Benchmark, Pair, Query, Video

# The maximum number of labels of an imported pair. A policy allows fewer.
SLOTS_MAX = 1000
SETTLED = [TaskState.RESOLVED, TaskState.ADJUDICATED]
# Only a lead can settle tasks in these states.
AT_DESK = [TaskState.CONFLICTED, TaskState.ESCALATED, TaskState.UNPLAYABLE]
# This is not `state__in=AT_DESK`, because SQLite uses a partial index only for a condition that is
# written exactly like that of the index.
IS_AT_DESK = (
    Q(state=TaskState.CONFLICTED) | Q(state=TaskState.ESCALATED) | Q(state=TaskState.UNPLAYABLE)
)


def has_begun(of: str = "") -> Q:
    """Return the condition that the task of a pair has a label or has left the queue without one.

    Most tasks of a large campaign have not begun. With this condition, database queries read only
    the tasks that have begun, through the index `task_begun`. SQLite uses the index only for
    exactly this condition. of: the prefix of the fields of the task, such as `task__`.
    """
    is_labelled = Q(**{f"{of}labels_live__gt": 0})
    return Q(**{f"{of}pair__isnull": False}) & (is_labelled | ~Q(**{f"{of}state": TaskState.OPEN}))


HAS_BEGUN = has_begun()
# The same for the tasks of studies. There are few of them, so they need no index.
STUDY_HAS_BEGUN = Q(item__isnull=False) & (Q(labels_live__gt=0) | ~Q(state=TaskState.OPEN))


class GoldItem(models.Model):
    """A caption and a video with a known correct answer and an explanation.

    A training item shows the correct answer after the annotator's own. A control pair never does.
    No item is both, because annotators would recognise it. A retired item is no longer shown, and
    its answers are not counted.

    An item of a question about pairs has a caption and is relevant or not. Items of other
    questions show a video, a text or both, and `answer` is their correct answer. A kind can store
    more of an item in tables of its own.
    """

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="gold_items")
    question = models.CharField(max_length=30, default="label")
    query = models.ForeignKey(
        Query, models.CASCADE, null=True, blank=True, related_name="gold_items"
    )
    video = models.ForeignKey(
        Video, models.CASCADE, null=True, blank=True, related_name="gold_items"
    )
    text = models.TextField(blank=True)
    answer = models.JSONField(null=True, blank=True)
    use = models.CharField(max_length=8, choices=GoldUse, default=GoldUse.TRAINING)
    is_relevant = models.BooleanField(null=True, blank=True)
    explanation = models.TextField(blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    retired_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["query", "video", "question"], name="gold_item_pair"),
            models.UniqueConstraint(
                fields=["video", "question"],
                condition=Q(query=None, text=""),
                name="gold_item_video",
            ),
            models.CheckConstraint(
                condition=Q(
                    query__isnull=False, video__isnull=False, is_relevant__isnull=False, text=""
                )
                | Q(~Q(question="label"), query=None, is_relevant=None)
                & (Q(video__isnull=False) | ~Q(text="")),
                name="gold_item_has_answer",
            ),
        ]

    def __str__(self) -> str:
        return f"gold item {self.pk}"

    @property
    def question_kind(self) -> QuestionKind:
        return kinds()[self.question]


class StudyItem(models.Model):
    """What a task of a study shows: a video, a text, or both. A kind can add rows of its own."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="items")
    video = models.ForeignKey(
        Video, models.PROTECT, null=True, blank=True, related_name="study_items"
    )
    text = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "video"], condition=Q(text=""), name="study_item_video"
            ),
            models.CheckConstraint(
                condition=Q(video__isnull=False) | ~Q(text=""), name="study_item_shows_something"
            ),
        ]

    def __str__(self) -> str:
        return self.text or str(self.video)


class JudgmentTask(models.Model):
    """A pair to judge in a campaign, a gold item, or an item of a study.

    `labels_planned` never changes. `labels_required` grows on disagreement. `seats_open` is the
    number of free slots. It is stored, not counted at each claim, so that one index finds the next
    task quickly. The task of a gold item has no slots and no counted labels. Each annotator gets it
    once. It stays open unless its video cannot play. The kind of the question decides whether a
    task of a study has a label when it is resolved.
    """

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="tasks", db_index=False)
    pair = models.ForeignKey(Pair, models.PROTECT, null=True, blank=True)
    gold = models.ForeignKey(
        GoldItem, models.PROTECT, null=True, blank=True, related_name="tasks", db_index=False
    )
    item = models.ForeignKey(
        StudyItem, models.PROTECT, null=True, blank=True, related_name="tasks", db_index=False
    )
    # The text pair as one number, `first_equal * n_videos + video number`. `first_equal` is the
    # number of the first caption with an equal text. The number of videos never changes.
    unit = models.BigIntegerField(
        null=True, help_text="empty: the label applies only to the pair's own caption"
    )
    n_pairs = models.PositiveIntegerField(
        default=1, help_text="number of pairs that share the label: one for each equal caption"
    )
    position = models.PositiveIntegerField(help_text="order in which annotators get the tasks")
    group = models.BigIntegerField(
        null=True, help_text="number shared by the tasks that one annotator judges together"
    )
    carried = models.SmallIntegerField(
        null=True,
        help_text="label of an earlier campaign that counts together with the new ones",
    )
    labels_planned = models.PositiveSmallIntegerField(default=1)
    labels_required = models.PositiveSmallIntegerField(default=1)
    labels_live = models.PositiveSmallIntegerField(default=0)
    seats_open = models.PositiveSmallIntegerField(default=1)
    state = models.CharField(max_length=11, choices=TaskState, default=TaskState.OPEN)
    label = models.SmallIntegerField(null=True, help_text="label of the outcome; empty: none")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "pair"], name="task_pair"),
            models.UniqueConstraint(
                fields=["campaign", "unit"], condition=Q(unit__isnull=False), name="task_unit"
            ),
            models.UniqueConstraint(
                fields=["gold", "campaign"], condition=Q(gold__isnull=False), name="task_gold_once"
            ),
            models.UniqueConstraint(
                fields=["item"], condition=Q(item__isnull=False), name="task_item_once"
            ),
            models.CheckConstraint(
                condition=Q(pair__isnull=False, gold=None, item=None)
                | Q(
                    pair=None,
                    gold__isnull=False,
                    item=None,
                    seats_open=0,
                    labels_live=0,
                    label=None,
                )
                | Q(pair=None, gold=None, item__isnull=False, unit=None, carried=None),
                name="task_is_pair_gold_or_item",
            ),
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
                condition=Q(state__in=SETTLED, label__isnull=False)
                | (~Q(state__in=SETTLED) & Q(label=None))
                # The label is settled, and another part of the answer, such as times, is not.
                | Q(state=TaskState.CONFLICTED, label__isnull=False, pair__isnull=False)
                | Q(item__isnull=False, label=None),
                name="task_decided_has_label",
            ),
        ]
        indexes = [
            # Only tasks with a free slot, so that the index shrinks as the campaign progresses.
            models.Index(
                fields=["campaign", "position"], condition=Q(seats_open__gt=0), name="task_claim"
            ),
            models.Index(
                fields=["campaign", "group"],
                condition=Q(group__isnull=False),
                name="task_group",
            ),
            # Few tasks are at the desk, so the desk does not have to read the whole campaign.
            models.Index(fields=["campaign", "state"], condition=IS_AT_DESK, name="task_desk"),
            models.Index(
                fields=["campaign", "position"],
                condition=Q(gold__isnull=False),
                name="task_gold",
            ),
            # All columns that `annotation.selectors.progress.task_groups` groups by, and then the
            # one that it adds up. The numbers are before the text `state`: many tasks have equal
            # values, and PostgreSQL compares numbers faster if no text is before them.
            models.Index(
                fields=[
                    "campaign",
                    "label",
                    "labels_live",
                    "labels_required",
                    "labels_planned",
                    "state",
                    "n_pairs",
                ],
                condition=HAS_BEGUN,
                name="task_begun",
            ),
        ]

    def __str__(self) -> str:
        return f"task {self.pk}"

    @property
    def query(self) -> Query:
        """The caption of the pair or of the gold item."""
        return cast(Query, cast("Pair | GoldItem", self._shown).query)

    @property
    def video(self) -> Video | None:
        return self._shown.video

    @property
    def _shown(self) -> Pair | GoldItem | StudyItem:
        # By the constraint `task_is_pair_gold_or_item`, a task has one of them.
        return self.pair or self.gold or cast(StudyItem, self.item)


class Assignment(models.Model):
    """One slot of a task, held by one annotator until the lease expires. Gold has no slots."""

    task = models.ForeignKey(
        JudgmentTask, models.CASCADE, related_name="assignments", db_index=False
    )
    annotator = models.ForeignKey(
        Annotator, models.PROTECT, related_name="assignments", db_index=False
    )
    slot = models.PositiveSmallIntegerField(
        null=True,
        help_text="empty for gold, after a surplus answer, and after the lease expired or the task "
        "was released",
    )
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
            # Finds the tasks that an annotator holds now without reading all earlier ones.
            models.Index(
                fields=["annotator"],
                condition=Q(state=AssignmentState.HELD),
                name="assignment_held",
            ),
            # Finds the items that come back to an annotator after their leases have ended.
            models.Index(
                fields=["annotator"],
                condition=Q(state=AssignmentState.EXPIRED),
                name="assignment_expired",
            ),
        ]

    def __str__(self) -> str:
        return f"assignment {self.pk}"
