"""The tables of phrasings."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from pooling.models import Benchmark, Query, Run
from pooling.phrasings.enums import Origin

MODEL_LENGTH = 150


class PhrasingSet(models.Model):
    """Phrasings that were added together: those of a file, or those that an expansion made."""

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="phrasing_sets")
    name = models.CharField(max_length=255, help_text="the name of the file or of the expansion")
    sha256 = models.CharField(max_length=64, help_text="hash of the content of the file")
    n_phrasings = models.PositiveIntegerField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = "set of phrasings"
        verbose_name_plural = "sets of phrasings"
        ordering = ["benchmark", "created_at", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "sha256"], name="phrasing_set_content")
        ]

    def __str__(self) -> str:
        return self.name


class Phrasing(models.Model):
    """A further text of a caption. It never changes. Phrasing 0, the caption, is not stored here.

    A run names the phrasing 2 of a caption `c1` as `c1#2`.
    """

    set = models.ForeignKey(PhrasingSet, models.CASCADE, related_name="phrasings")
    query = models.ForeignKey(Query, models.CASCADE, related_name="phrasings", db_index=False)
    number = models.PositiveIntegerField(help_text="from 1, unique within the caption")
    text = models.TextField()
    origin = models.CharField(max_length=7, choices=Origin)
    model = models.CharField(
        max_length=MODEL_LENGTH, blank=True, help_text="name of the language model"
    )
    prompt_sha256 = models.CharField(
        max_length=64, blank=True, help_text="hash of the prompt of the language model"
    )

    class Meta:
        ordering = ["query", "number"]
        constraints = [
            models.UniqueConstraint(fields=["query", "number"], name="phrasing_number"),
            models.CheckConstraint(condition=models.Q(number__gte=1), name="phrasing_from_1"),
            models.CheckConstraint(
                condition=models.Q(origin__in=Origin.values), name="phrasing_origin"
            ),
            models.CheckConstraint(
                condition=models.Q(origin=Origin.MODEL.value)
                | models.Q(model="", prompt_sha256=""),
                name="phrasing_model",
            ),
        ]

    def __str__(self) -> str:
        return self.text


class PhrasedLists(models.Model):
    """The ranked lists of a run for one phrasing of the captions. They never change.

    The lists of phrasing 0 are those of the run itself.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="phrased", db_index=False)
    phrasing = models.PositiveIntegerField(help_text="number of the phrasing, from 1")
    sha256 = models.CharField(max_length=64, help_text="hash of the lists")
    n_lists = models.PositiveIntegerField()
    depth = models.PositiveIntegerField(help_text="length of the longest list")

    class Meta:
        verbose_name_plural = "phrased lists"
        ordering = ["run", "phrasing"]
        constraints = [
            models.UniqueConstraint(fields=["run", "phrasing"], name="phrased_lists"),
            models.CheckConstraint(
                condition=models.Q(phrasing__gte=1), name="phrased_lists_from_1"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.run_id}#{self.phrasing}"


class PhrasedList(models.Model):
    """One ranked list of `PhrasedLists`, packed as in `RankedList`. row: number of the caption."""

    of = models.ForeignKey(PhrasedLists, models.CASCADE, related_name="lists", db_index=False)
    row = models.PositiveIntegerField(help_text="number of the caption")
    items = models.BinaryField(help_text="numbers of the videos, int32 little-endian")
    scores = models.BinaryField(help_text="float32 little-endian")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["of", "row"], name="phrased_list")]

    def __str__(self) -> str:
        return f"{self.of_id}-{self.row}"


class FusedParent(models.Model):
    """A run from which another one was fused. It cannot be deleted before the fused run."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="fused_parents", db_index=False)
    parent = models.ForeignKey(Run, models.PROTECT, related_name="fused_runs")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "parent"], name="fused_parent")]

    def __str__(self) -> str:
        return f"{self.run_id} of {self.parent_id}"


class TextVectors(models.Model):
    """Uploaded embeddings of the captions and of their phrasings. A benchmark has one set.

    They belong to the texts at the time of the upload, see `selectors.texts_hash`.
    """

    benchmark = models.OneToOneField(Benchmark, models.CASCADE, related_name="text_vectors")
    name = models.CharField(max_length=255, help_text="the name of the file")
    sha256 = models.CharField(max_length=64, help_text="hash of the file")
    texts_sha256 = models.CharField(max_length=64, help_text="hash of the texts that have vectors")
    n_rows = models.PositiveIntegerField()
    n_numbers = models.PositiveIntegerField(help_text="numbers per vector")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = "text vectors"

    def __str__(self) -> str:
        return self.name


class TextVectorsPart(models.Model):
    """Some rows of `TextVectors`, from the row `first`."""

    of = models.ForeignKey(TextVectors, models.CASCADE, related_name="parts", db_index=False)
    first = models.PositiveIntegerField()
    rows = models.BinaryField(help_text="float32 little-endian")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["of", "first"], name="text_vectors_part")]

    def __str__(self) -> str:
        return f"{self.of_id}-{self.first}"


class ModelAnswer(models.Model):
    """The answer of a language model about a caption, until its phrasings are stored as a set.

    An expansion that ends early leaves its answers, and the next one continues with them.
    """

    query = models.ForeignKey(Query, models.CASCADE, related_name="+", db_index=False)
    model = models.CharField(max_length=MODEL_LENGTH)
    prompt_sha256 = models.CharField(max_length=64)
    texts = models.JSONField()
    error = models.TextField(blank=True, help_text="why there are no texts")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["query", "model", "prompt_sha256"], name="model_answer_once"
            )
        ]

    def __str__(self) -> str:
        return f"answer about {self.query_id}"
