"""The tables of moments."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from pooling.models import Benchmark, OriginalPositive, Run

FORMS = (
    ("tvr", "TVR"),
    ("qvhighlights", "QVHighlights"),
    ("charades", "Charades-STA"),
    ("didemo", "DiDeMo"),
    ("activitynet", "ActivityNet Captions"),
)


class MomentSource(models.Model):
    """The data set that the spans of a benchmark come from, which decides how runs are scored."""

    benchmark = models.OneToOneField(Benchmark, models.CASCADE, related_name="moments")
    form = models.CharField(max_length=20, choices=FORMS)
    # What official files contain beside spans, by caption key: lines to be written again.
    extras = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"{self.benchmark_id} {self.form}"


class OriginalSpan(models.Model):
    """A span of an original positive, as it came with the data set. It is never clipped.

    person: 0 is the truth of the file; a stamp or a grade of one of several people has 1, 2, 3 …
    A span with a grade is no moment of the truth, but a clip that a person graded.
    """

    positive = models.ForeignKey(OriginalPositive, models.CASCADE, related_name="spans")
    person = models.PositiveSmallIntegerField(default=0)
    start = models.FloatField(help_text="seconds")
    end = models.FloatField(help_text="seconds")
    grade = models.FloatField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(start__gte=0) & Q(end__gt=F("start")), name="original_span_bounds"
            )
        ]

    def __str__(self) -> str:
        return f"{self.positive_id}: {self.start}-{self.end}"


class MomentRun(models.Model):
    """A run whose lists rank moments.

    The lists of `RankedList` have the videos of the moments, each at its first place.
    """

    run = models.OneToOneField(Run, models.CASCADE, primary_key=True, related_name="moments")
    task = models.CharField(
        max_length=4, help_text="VCMR: moments of all videos; SVMR: of the right one"
    )
    depth = models.PositiveIntegerField(help_text="length of the longest list of moments")

    def __str__(self) -> str:
        return f"{self.run_id} {self.task}"


class MomentList(models.Model):
    """The moments of one caption of a run, best first, packed into columns of equal length."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="moment_lists", db_index=False)
    row = models.PositiveIntegerField(help_text="number of the caption")
    items = models.BinaryField(help_text="numbers of the videos, int32 little-endian")
    starts = models.BinaryField(help_text="seconds, float32 little-endian")
    ends = models.BinaryField(help_text="seconds, float32 little-endian")
    scores = models.BinaryField(help_text="float32 little-endian")
    saliency = models.BinaryField(
        null=True, help_text="a score of each clip of the video, float32 little-endian"
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "row"], name="moment_list")]

    def __str__(self) -> str:
        return f"{self.run_id}-{self.row}"
