"""Campaigns and guidelines."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from annotation.core.gold import Requirement
from annotation.enums import (
    LABELS,
    CampaignKind,
    CampaignState,
    Joining,
    Order,
    Priority,
    Scale,
)
from annotation.questions.kind import QuestionKind, Subject, kinds, publishing
from pooling.enums import PoolStrategy
from pooling.models import Benchmark, Pool, Proxy


class Guideline(models.Model):
    """A version of the text that explains how to judge.

    A judgment stores the version under which it was made.
    """

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


class GuidelinePicture(models.Model):
    """An example picture of one version of a guideline. Later versions can use the same file."""

    guideline = models.ForeignKey(
        Guideline, models.CASCADE, related_name="pictures", db_index=False
    )
    place = models.PositiveSmallIntegerField()
    public_id = models.UUIDField(default=uuid.uuid4, unique=True)
    file = models.FileField()
    text = models.CharField(
        max_length=500, help_text="description of the picture, also for screen readers"
    )
    is_match = models.BooleanField(
        null=True, help_text="true: shows a relevant pair; false: an irrelevant one; empty: neither"
    )

    class Meta:
        ordering = ["place"]
        constraints = [
            models.UniqueConstraint(fields=["guideline", "place"], name="guideline_picture_place"),
        ]

    def __str__(self) -> str:
        return self.text


def is_share(field: str) -> Q:
    """Return the condition that a field is between 0 and 1."""
    return Q(**{f"{field}__gte": 0, f"{field}__lte": 1})


def of_labels(of: str = "") -> Q:
    """Return the condition that a campaign judges pairs, and its answers may enter label sets.

    of: the prefix of the fields of the campaign, such as `campaign__`.
    """
    return Q(**{f"{of}kind": CampaignKind.JUDGING, f"{of}question__in": publishing()})


class Campaign(models.Model):
    """A round of judging under one policy.

    A campaign contains the pairs of a pool, the items of a training queue, the judgments of an
    imported file, or the items of a study. An imported campaign is closed from the start. A study
    has no pool. `question` is what annotators are asked, and `options` are the settings that only
    this kind of question has.
    """

    benchmark = models.ForeignKey(Benchmark, models.PROTECT, related_name="campaigns")
    pool = models.ForeignKey(Pool, models.PROTECT, null=True, blank=True, related_name="campaigns")
    kind = models.CharField(max_length=8, choices=CampaignKind, default=CampaignKind.JUDGING)
    question = models.CharField(max_length=30, default="label")
    options = models.JSONField(default=dict, blank=True)
    name = models.CharField(max_length=150)
    state = models.CharField(max_length=10, choices=CampaignState, default=CampaignState.OPEN)
    # Labels
    scale = models.CharField(max_length=10, choices=Scale, default=Scale.BINARY)
    steps = models.JSONField(default=list, blank=True, help_text="names of the labels 0, 1, …")
    threshold = models.PositiveSmallIntegerField(
        default=1, help_text="lowest label that is relevant"
    )
    original_grade = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="label that original positives get; empty: the highest"
    )
    labels_each = models.PositiveSmallIntegerField(default=1)
    double_share = models.DecimalField(max_digits=5, decimal_places=4, default=0)
    labels_max = models.PositiveSmallIntegerField(default=3)
    seed = models.BigIntegerField(default=0)
    confirms = models.BooleanField(
        default=False,
        help_text="whether it requests second labels for pairs with one label",
    )
    # Order of the pairs
    order = models.CharField(max_length=8, choices=Order, default=Order.GROUPED)
    priority = models.CharField(max_length=5, choices=Priority, default=Priority.NONE)
    proxy = models.ForeignKey(
        Proxy,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="orders the pairs by its values, or chooses the items of a study",
    )
    # Annotators
    joining = models.CharField(max_length=9, choices=Joining, default=Joining.ALL)
    ceiling = models.DecimalField(
        max_digits=5,
        decimal_places=4,
        default=1,
        help_text="maximum share of the pairs for one annotator",
    )
    # Entry requirement: the minimum share of correct answers among the last training answers
    gate_share = models.DecimalField(max_digits=5, decimal_places=4, default=0)
    gate_last = models.PositiveSmallIntegerField(default=0, help_text="0: no entry requirement")
    # Control pairs: their share of the assigned pairs, and the accuracy requirement, which is the
    # minimum share of correct answers among the last control answers
    gold_share = models.DecimalField(max_digits=5, decimal_places=4, default=0)
    gold_bar = models.DecimalField(max_digits=5, decimal_places=4, default=0)
    gold_last = models.PositiveSmallIntegerField(default=10)
    # Judging aids
    guideline = models.ForeignKey(Guideline, models.PROTECT, null=True, blank=True)
    checklist = models.BooleanField(default=False)
    contact_sheet = models.BooleanField(default=False)
    in_groups = models.BooleanField(
        default=False, help_text="whether a claim takes all tasks of a group, or none"
    )
    n_tasks = models.PositiveIntegerField(default=0)
    plan = models.JSONField(
        default=list,
        blank=True,
        help_text="numbers of tasks and pairs for each planned number of labels, without gold",
    )
    source_sha256 = models.CharField(
        max_length=64, blank=True, help_text="hash of the imported file"
    )
    source = models.JSONField(
        default=dict,
        blank=True,
        help_text="imported file: format, name, licences, whether it has annotators and times",
    )
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        editable=False,
        related_name="+",
        help_text="empty: opened by a command or an older version of Hearth",
    )
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=is_share("double_share"), name="double_share_is_share"
            ),
            models.CheckConstraint(
                condition=is_share("ceiling") & Q(ceiling__gt=0), name="ceiling_is_share"
            ),
            models.CheckConstraint(
                condition=is_share("gate_share") & is_share("gold_share") & is_share("gold_bar"),
                name="gold_shares_are_shares",
            ),
            models.CheckConstraint(
                condition=Q(labels_each__gte=1) & Q(labels_max__gte=1), name="labels_positive"
            ),
            models.CheckConstraint(condition=Q(threshold__gte=1), name="threshold_above_lowest"),
            models.CheckConstraint(
                condition=Q(original_grade=None) | Q(original_grade__gte=F("threshold")),
                name="original_grade_is_relevant",
            ),
            models.CheckConstraint(
                condition=Q(kind=CampaignKind.TRAINING, pool=None)
                | Q(kind=CampaignKind.JUDGING, pool__isnull=False)
                | Q(
                    ~Q(question="label"),
                    kind=CampaignKind.JUDGING,
                    pool=None,
                    checklist=False,
                    confirms=False,
                    source_sha256="",
                ),
                name="campaign_has_pool_or_trains",
            ),
            # A benchmark has at most one training queue for each question that is not closed.
            models.UniqueConstraint(
                fields=["benchmark", "question"],
                condition=Q(kind=CampaignKind.TRAINING) & ~Q(state=CampaignState.CLOSED),
                name="campaign_one_training",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_imported(self) -> bool:
        return bool(self.source_sha256)

    @property
    def is_training(self) -> bool:
        return self.kind == CampaignKind.TRAINING

    @property
    def question_kind(self) -> QuestionKind:
        return kinds()[self.question]

    @property
    def is_study(self) -> bool:
        """Whether the tasks show items of its own instead of pairs of a pool."""
        return self.question_kind.subject != Subject.PAIR

    @property
    def repeats_pairs(self) -> bool:
        """Whether the campaign can contain pairs of other campaigns, and not all other pairs."""
        is_drawn = self.pool is not None and self.pool.strategy == PoolStrategy.DRAWN
        chooses = is_drawn or not self.question_kind.takes_all
        return self.is_imported or self.confirms or chooses

    @property
    def tasks_each(self) -> int:
        """The maximum number of tasks for one annotator, without gold."""
        return max(1, int(self.n_tasks * self.ceiling))

    def n_extra(self, n_tasks: int) -> int:
        """Return how many of `n_tasks` tasks get an extra label."""
        return round(n_tasks * float(self.double_share))

    @property
    def has_entry_requirement(self) -> bool:
        return self.gate_last > 0

    @property
    def entry_requirement(self) -> Requirement:
        """The number of correct training answers that admits an annotator."""
        return Requirement(self.gate_share, self.gate_last)

    @property
    def accuracy_requirement(self) -> Requirement:
        """The number of correct control answers below which an annotator is paused."""
        return Requirement(self.gold_bar, self.gold_last)

    @property
    def labels(self) -> dict[int, str]:
        """The name of each label of the scale, from the lowest."""
        return dict(enumerate(self.steps)) if self.steps else LABELS[self.scale]

    @property
    def grade_of_originals(self) -> int:
        """The grade of an original positive. The grade of the lowest relevant label is 1."""
        highest = max(self.labels)
        label = highest if self.original_grade is None else self.original_grade
        return label - self.threshold + 1

    @property
    def guideline_version(self) -> int:
        """The version that annotators see, or 0 for the default text."""
        return self.guideline.version if self.guideline else 0

    def is_relevant(self, label: int) -> bool:
        return label >= self.threshold
