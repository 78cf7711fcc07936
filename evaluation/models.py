"""What the judgments mean: frozen label sets, agreement, and scores."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.files.storage import Storage, storages
from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotation.models import Campaign
from pooling.models import Benchmark, Run

DRAFT = "draft"


def label_set_storage() -> Storage:
    return storages["label_sets"]


class LabelSummary(models.Model):
    """What label sets and drafts tell of themselves; the hash is that of the uncompressed text."""

    sha256 = models.CharField(max_length=64)
    n_pairs = models.PositiveIntegerField()
    n_relevant = models.PositiveIntegerField()
    n_conflicted = models.PositiveIntegerField()
    n_pending = models.PositiveIntegerField(default=0)
    n_judgments = models.PositiveIntegerField()
    original_grade = models.PositiveSmallIntegerField(
        default=1, help_text="grade of an original positive together with these labels"
    )
    agreement = models.JSONField(
        null=True,
        editable=False,
        help_text="figures of first labels and of all labels; empty in older label sets",
    )
    code_version = models.CharField(max_length=50)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        abstract = True


class LabelSet(LabelSummary):
    """A numbered release of the benchmark's labels. Frozen: rows and files never change.

    `file` holds one line per judged pair with its label and counts; its hash is that of the
    uncompressed text, and depends on nothing but the labels. `judgments_file` holds the single
    judgments under pseudonyms, drawn with a secret of this set alone, so that two releases
    cannot be linked person by person.
    """

    benchmark = models.ForeignKey(Benchmark, models.PROTECT, related_name="label_sets")
    version = models.PositiveIntegerField()
    judgments_sha256 = models.CharField(max_length=64)
    file = models.FileField(storage=label_set_storage)
    judgments_file = models.FileField(storage=label_set_storage)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    # A job that is done again after its worker died finds the set that it had published.
    request = models.UUIDField(null=True, unique=True, editable=False)

    class Meta:
        ordering = ["benchmark", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "version"], name="label_set_version"),
        ]

    def __str__(self) -> str:
        return f"{self.benchmark} labels {self.version}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.pk is not None:
            raise TypeError("a label set is frozen")
        super().save(*args, **kwargs)

    @property
    def reference(self) -> int:
        """What names it among the benchmark's labels."""
        return self.version

    @property
    def title(self) -> str:
        return f"Label set {self.version}"


class Draft(LabelSummary):
    """What a label set published at that moment would hold: the labels while they come in.

    A newer draft takes its place. It has no number, and nothing that is published rests on it.
    """

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="drafts")
    text = models.BinaryField(help_text="what the label set's file would be, in gzip")
    moment = models.JSONField(help_text="of the labels, as annotation.selectors tells it")

    class Meta:
        ordering = ["benchmark", "-pk"]

    def __str__(self) -> str:
        return f"{self.title} of {self.benchmark_id}"

    @property
    def reference(self) -> str:
        return DRAFT

    @property
    def title(self) -> str:
        return f"Draft of {timezone.localtime(self.created_at):%d %b %Y, %H:%M}"


LabelSource = LabelSet | Draft


class AgreementReport(models.Model):
    """Agreement among the live judgments of a benchmark at one moment."""

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="agreement_reports")
    result = models.JSONField()
    code_version = models.CharField(max_length=50)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"agreement of {self.benchmark_id} at {self.created_at:%Y-%m-%d %H:%M}"


class CampaignReport(models.Model):
    """The figures of one campaign as they were last computed; of small ones they are not kept.

    answers: how many answers its members had given by then.
    """

    campaign = models.OneToOneField(Campaign, models.CASCADE, related_name="report")
    result = models.JSONField()
    answers = models.PositiveIntegerField()
    code_version = models.CharField(max_length=50)
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"figures of {self.campaign} at {self.created_at:%Y-%m-%d %H:%M}"


class Evaluation(models.Model):
    """The scores of one run under one label set, or under the original positives alone.

    Only means are kept: the per-query values of every measure are computed again from the
    ranked lists in less time than it would take to load them.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="evaluations")
    label_set = models.ForeignKey(LabelSet, models.PROTECT, null=True, related_name="evaluations")
    labels_only = models.BooleanField(
        default=False, help_text="the judgments alone, without the original positives"
    )
    scores = models.JSONField(help_text="measure name to value, or to {undefined: reason}")
    judged = models.JSONField(help_text="depth to the share of the top that was judged")
    unjudged = models.PositiveIntegerField(
        null=True, help_text="pairs of the top ten that were not judged"
    )
    bounds = models.JSONField(
        default=dict, help_text="measure name to the lowest and highest score that these allow"
    )
    code_version = models.CharField(max_length=50)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "label_set", "labels_only"], name="evaluation_labelled"
            ),
            models.UniqueConstraint(
                fields=["run"], condition=Q(label_set=None), name="evaluation_original"
            ),
        ]

    def __str__(self) -> str:
        return f"evaluation of run {self.run_id}"


class AnalysisResult(models.Model):
    """The stored result of one question.

    key: SHA-256 of `inputs`, which contain the analysis, its options, the hashes of the label set
    and the runs, and the code version. Each question is computed once.
    """

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="analysis_results")
    kind = models.CharField(max_length=50)
    key = models.CharField(max_length=64)
    inputs = models.JSONField()
    result = models.JSONField()
    seconds = models.FloatField(help_text="how long it took to compute")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-pk"]
        db_table = "evaluation_analysis"
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "key"], name="analysis_key"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.benchmark} at {self.created_at:%Y-%m-%d %H:%M}"
