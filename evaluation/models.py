"""Label sets, drafts, agreement, figures of campaigns, scores and analyses."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.files.storage import Storage, storages
from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotation.models import Campaign
from evaluation.core.files.versions import Version
from pooling.models import Benchmark, Run

DRAFT = "draft"
NEWEST_FIRST = ("-major", "-minor", "-patch")


def label_set_storage() -> Storage:
    return storages["label_sets"]


class LabelSummary(models.Model):
    """Figures that label sets and drafts have in common.

    `sha256` is the hash of the label file before compression.
    """

    sha256 = models.CharField(max_length=64)
    n_pairs = models.PositiveIntegerField()
    n_relevant = models.PositiveIntegerField()
    n_conflicted = models.PositiveIntegerField()
    n_pending = models.PositiveIntegerField(default=0)
    n_judgments = models.PositiveIntegerField()
    original_grade = models.PositiveSmallIntegerField(
        default=1,
        help_text="Grade that original positives get when they are combined with these labels.",
    )
    agreement = models.JSONField(
        null=True,
        editable=False,
        help_text="Agreement of planned labels and of all labels; empty in older label sets.",
    )
    code_version = models.CharField(max_length=50)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        abstract = True


class LabelSet(LabelSummary):
    """A numbered release of the benchmark's labels. Frozen: rows and files never change.

    A new PATCH has different labels of the same pairs. A new MINOR has additional pairs. A new
    MAJOR lacks pairs of the previous label set, or follows different guidelines or rules. The
    module `evaluation.release.selectors.proposals` computes which part increases.

    `file` contains one line per judged pair with its label, source and counts. `sha256` depends
    only on these lines. `judgments_file` contains the single judgments with pseudonyms. Each label
    set has its own pseudonyms, so that the annotators of two releases cannot be linked.
    """

    benchmark = models.ForeignKey(Benchmark, models.PROTECT, related_name="label_sets")
    major = models.PositiveIntegerField()
    minor = models.PositiveIntegerField(default=0)
    patch = models.PositiveIntegerField(default=0)
    notes = models.TextField(blank=True, help_text="Text by the person who published it.")
    judgments_sha256 = models.CharField(max_length=64)
    file = models.FileField(storage=label_set_storage)
    judgments_file = models.FileField(storage=label_set_storage)
    details_file = models.FileField(
        storage=label_set_storage,
        blank=True,
        help_text="Times, guidelines and missing elements. The file has one line for each line of "
        "the judgments file, in the same order. Empty in older label sets, and if all campaigns "
        "are imported.",
    )
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    # The id of the job that publishes the label set. A job that runs again after its worker died
    # finds the label set by this id, and does not publish a second one.
    request = models.UUIDField(null=True, unique=True, editable=False)

    class Meta:
        ordering = ["benchmark", *NEWEST_FIRST]
        constraints = [
            models.UniqueConstraint(
                fields=["benchmark", "major", "minor", "patch"], name="label_set_version"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.benchmark} labels {self.version}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.pk is not None:
            raise TypeError("a label set is frozen")
        super().save(*args, **kwargs)

    @property
    def number(self) -> Version:
        return Version(self.major, self.minor, self.patch)

    @property
    def version(self) -> str:
        """The name of this label set in addresses and options, such as 1.0.0."""
        return str(self.number)

    @property
    def reference(self) -> str:
        return self.version

    @property
    def title(self) -> str:
        return f"Label set {self.version}"


class LabelSetBasis(models.Model):
    """The rows and rules from which a label set was made, to rebuild its files from the log.

    Label sets that older versions of Hearth published have no basis. The binary fields are arrays
    that `evaluation.core.files.packed` packs.

    judgments: primary keys of the counted judgments. waiting: primary keys of those counted
    judgments whose task needed another label or a lead. rulings: primary keys of the rulings in
    force. positives: pair codes of the original positives. first_equal: see
    `pooling.selectors.captions.first_equal_captions`. rules: see
    `evaluation.release.selectors.basis.Rules`.
    """

    label_set = models.OneToOneField(LabelSet, models.CASCADE, related_name="basis")
    judgments = models.BinaryField()
    waiting = models.BinaryField()
    rulings = models.BinaryField()
    positives = models.BinaryField()
    first_equal = models.BinaryField()
    rules = models.JSONField()

    def __str__(self) -> str:
        return f"basis of {self.label_set}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.pk is not None:
            raise TypeError("the basis of a label set is frozen")
        super().save(*args, **kwargs)


class Draft(LabelSummary):
    """The label set that publishing would have created at that time.

    It is replaced by the next draft. It has no number, and nothing published depends on it.
    """

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="drafts")
    text = models.BinaryField(
        help_text="The labels as in the file of a label set, compressed with gzip."
    )
    moment = models.JSONField(help_text="Fingerprint of the labels, see annotation.selectors.")

    class Meta:
        ordering = ["benchmark", "-pk"]

    def __str__(self) -> str:
        return f"{self.title} of {self.benchmark}"

    @property
    def reference(self) -> str:
        return DRAFT

    @property
    def title(self) -> str:
        return f"Draft of {timezone.localtime(self.created_at):%d %b %Y, %H:%M %Z}"


LabelSource = LabelSet | Draft


class LabelArrays(models.Model):
    """The labels of a label set or draft as arrays, which are read faster than its text.

    `sha256` is the hash of the text. If there are no arrays for a text, the text itself is read.
    The binary fields are those of `evaluation.core.files.label_file.Labels`, and
    `evaluation.core.files.packed` packs them.
    """

    benchmark = models.ForeignKey(
        Benchmark, models.CASCADE, related_name="label_arrays", db_index=False
    )
    sha256 = models.CharField(max_length=64)
    codes = models.BinaryField()
    labels = models.BinaryField()
    states = models.BinaryField()
    judgments = models.BinaryField()
    relevant = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "sha256"], name="label_arrays"),
        ]

    def __str__(self) -> str:
        return f"labels {self.sha256[:12]} of {self.benchmark_id}"


class AgreementReport(models.Model):
    """Agreement of the counted judgments of a benchmark at one time."""

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="agreement_reports")
    result = models.JSONField()
    code_version = models.CharField(max_length=50)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"agreement in {self.benchmark} at {self.created_at:%Y-%m-%d %H:%M}"


class CampaignReport(models.Model):
    """Stored figures of one large campaign. Figures of small campaigns are computed on request.

    answers: number of answers of its members when the figures were computed.
    """

    campaign = models.OneToOneField(Campaign, models.CASCADE, related_name="report")
    result = models.JSONField()
    answers = models.PositiveIntegerField()
    code_version = models.CharField(max_length=50)
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"figures of {self.campaign} at {self.created_at:%Y-%m-%d %H:%M}"


class Evaluation(models.Model):
    """The scores of one run under one label set, or under the original positives only.

    Only means are stored. Recomputing the values of all captions from the ranked lists takes less
    time than loading them would.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="evaluations")
    label_set = models.ForeignKey(LabelSet, models.PROTECT, null=True, related_name="evaluations")
    labels_only = models.BooleanField(
        default=False, help_text="Only the judgments, without the original positives."
    )
    scores = models.JSONField(
        help_text="Values by measure; an undefined value is {undefined: reason}."
    )
    judged = models.JSONField(help_text="Judged share of the top k, for each k.")
    unjudged = models.PositiveIntegerField(
        null=True, help_text="Number of unjudged pairs in the top ten."
    )
    bounds = models.JSONField(
        default=dict,
        help_text="For each measure, the lowest and the highest score that the unjudged pairs "
        "allow.",
    )
    intervals = models.JSONField(
        null=True, help_text="For each measure of moments, its 95 % interval by video."
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
        return f"evaluation of {self.run}"


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
    seconds = models.FloatField(help_text="Duration of the computation.")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-pk"]
        db_table = "evaluation_analysis"
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "key"], name="analysis_key"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.benchmark} at {self.created_at:%Y-%m-%d %H:%M}"
