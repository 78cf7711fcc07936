"""The tables of scenes."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from pooling.models import Video
from pooling.scenes.enums import Features

ERROR_LENGTH = 300


def picture_path(found: VideoScenes, filename: str) -> str:
    """Return a generated path, which reveals neither the key of the video nor a file name."""
    return f"{found.video.benchmark.key}/{found.video.public_id}-scenes.jpg"


class VideoScenes(models.Model):
    """The scenes of one video, or the reason why they could not be found.

    n_frames: the number of frames that were compared. picture: the middle frames in one image, in
    rows of four, each of them `tile_width` x `tile_height` pixels.
    """

    video = models.OneToOneField(Video, models.CASCADE, related_name="segmentation")
    features = models.CharField(max_length=8, choices=Features)
    error = models.CharField(max_length=ERROR_LENGTH, blank=True)
    n_frames = models.PositiveIntegerField(default=0)
    picture = models.FileField(upload_to=picture_path, max_length=255, blank=True)
    tile_width = models.PositiveSmallIntegerField(default=0)
    tile_height = models.PositiveSmallIntegerField(default=0)
    made_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = "scenes of videos"
        constraints = [
            models.CheckConstraint(
                condition=Q(features__in=Features.values), name="video_scenes_features"
            ),
            models.CheckConstraint(
                condition=Q(error="", n_frames__gte=1) | (~Q(error="") & Q(n_frames=0)),
                name="video_scenes_or_error",
            ),
        ]

    def __str__(self) -> str:
        return f"scenes of video {self.video_id}"


class Scene(models.Model):
    """A part of a video in which it changes little. A scene starts where the one before ends.

    start, middle, end: seconds. middle: the time of the frame that is shown for the scene.
    """

    of = models.ForeignKey(VideoScenes, models.CASCADE, related_name="scenes", db_index=False)
    number = models.PositiveSmallIntegerField(help_text="from 0")
    start = models.FloatField(help_text="seconds")
    middle = models.FloatField(help_text="seconds")
    end = models.FloatField(help_text="seconds")

    class Meta:
        ordering = ["of", "number"]
        constraints = [
            models.UniqueConstraint(fields=["of", "number"], name="scene_number"),
            models.UniqueConstraint(fields=["of", "start"], name="scene_start"),
            models.CheckConstraint(
                condition=Q(
                    start__gte=0, end__gt=F("start"), middle__gte=F("start"), middle__lte=F("end")
                ),
                name="scene_bounds",
            ),
            models.CheckConstraint(
                condition=Q(number=0, start=0) | Q(number__gt=0, start__gt=0),
                name="scene_first_starts_at_0",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.start:.1f}–{self.end:.1f} s"
