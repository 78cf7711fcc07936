"""Which sentences make up each paragraph, and the similarities of sentences and clips."""

from __future__ import annotations

from django.conf import settings
from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from hearth.shared.options import NAME_LENGTH
from pooling.models import Benchmark, Query, Run, matrix_storage


class Paragraphs(models.Model):
    """A benchmark whose captions are paragraphs, and the benchmark of their sentences.

    Each level is a benchmark, so that its runs, pools, measures and counts contain one level. Both
    have the same videos in the same order.
    """

    benchmark = models.OneToOneField(
        Benchmark, models.CASCADE, primary_key=True, related_name="paragraphs"
    )
    sentences = models.OneToOneField(Benchmark, models.PROTECT, related_name="paragraphs_of")
    share = models.DecimalField(
        max_digits=5,
        decimal_places=4,
        default=1,
        validators=[MaxValueValidator(1)],
        help_text="share of its sentences that a video must contain to be relevant",
    )

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(share__gt=0, share__lte=1), name="paragraph_share"),
            models.CheckConstraint(
                condition=~Q(benchmark=F("sentences")), name="paragraph_levels_differ"
            ),
        ]

    def __str__(self) -> str:
        return f"paragraphs of {self.sentences_id}"


class Sentence(models.Model):
    """A caption that is a part of a paragraph. place: from 0, in the order of the paragraph."""

    query = models.OneToOneField(
        Query, models.PROTECT, primary_key=True, related_name="of_paragraph"
    )
    part_of = models.ForeignKey(Query, models.CASCADE, related_name="sentences", db_index=False)
    place = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["part_of", "place"]
        constraints = [
            models.UniqueConstraint(fields=["part_of", "place"], name="sentence_place"),
            models.CheckConstraint(condition=~Q(query=F("part_of")), name="sentence_not_own_part"),
        ]

    def __str__(self) -> str:
        return f"{self.part_of_id}#{self.place}"


class Similarities(models.Model):
    """A matrix of sentences and clips for pairs of a paragraph and a video, by one system.

    `core.similarities` describes the two files. They never change.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="clip_similarities")
    sha256 = models.CharField(max_length=64, help_text="hash of the imported file's content")
    source = models.CharField(max_length=255, help_text="name of the imported file")
    n_pairs = models.PositiveIntegerField(help_text="pairs of a paragraph and a video")
    index = models.FileField(storage=matrix_storage)
    values = models.FileField(storage=matrix_storage)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["run", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["run", "sha256"], name="similarities_content")
        ]

    def __str__(self) -> str:
        return f"similarities of run {self.run_id}"


class ClipSet(models.Model):
    """Clips of videos: the proposals of a system, or the stamps of a further person.

    The stamps of the file that made the captions are `OriginalSpan`. The clips are a `.npy` array,
    float64 [n_clips, 3]: the number of the video, and start and end in seconds.
    """

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="clip_sets")
    name = models.CharField(max_length=NAME_LENGTH)
    by_person = models.BooleanField(help_text="whether they are the stamps of a person")
    sha256 = models.CharField(max_length=64, help_text="hash of the imported file's content")
    source = models.CharField(max_length=255, help_text="name of the imported file")
    n_clips = models.PositiveIntegerField()
    n_videos = models.PositiveIntegerField(help_text="number of videos with a clip")
    clips = models.FileField(storage=matrix_storage)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["by_person", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "name"], name="clip_set_name"),
            models.UniqueConstraint(fields=["benchmark", "sha256"], name="clip_set_content"),
        ]

    def __str__(self) -> str:
        return self.name
