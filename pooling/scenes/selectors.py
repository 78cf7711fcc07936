"""Reading the scenes of videos."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Count, Q, QuerySet

from pooling.core.sheets import COLUMNS, GAP
from pooling.models import Benchmark, Video
from pooling.scenes.models import Scene, VideoScenes


class SceneCounts(NamedTuple):
    """divided: the number of videos with scenes. failed: that of videos with an error."""

    videos: int
    divided: int
    failed: int
    scenes: int


@dataclass(frozen=True, slots=True)
class ShownScene:
    """A scene, and the box of its middle frame in the picture of the video, in pixels.

    duration: that of the video, for the place of the scene on the timeline in %.
    """

    scene: Scene
    duration: float
    left: int
    top: int
    width: int
    height: int

    @property
    def box(self) -> str:
        return f"{self.left} {self.top} {self.width} {self.height}"

    @property
    def left_share(self) -> str:
        return self._share(self.scene.start)

    @property
    def middle_share(self) -> str:
        return self._share(self.scene.middle)

    @property
    def share(self) -> str:
        return self._share(self.scene.end - self.scene.start)

    def _share(self, seconds: float) -> str:
        return f"{100 * seconds / self.duration:.2f}%"


@dataclass(frozen=True, slots=True)
class ShownScenes:
    """The scenes of a video for its page. width, height: those of the picture."""

    found: VideoScenes
    rows: list[ShownScene]
    width: int
    height: int


def scene_counts(benchmark: Benchmark) -> SceneCounts:
    fails = ~Q(segmentation__error="")
    return SceneCounts(
        **benchmark.videos.exclude(file="").aggregate(
            videos=Count("pk", distinct=True),
            divided=Count("segmentation", filter=~fails, distinct=True),
            failed=Count("segmentation", filter=fails, distinct=True),
            scenes=Count("segmentation__scenes"),
        )
    )


def scenes_of_benchmark(benchmark: Benchmark) -> QuerySet[VideoScenes]:
    """Return what was found in each video, in the order of the videos."""
    found = VideoScenes.objects.filter(video__benchmark=benchmark).select_related("video")
    return found.prefetch_related("scenes").order_by("video__number")


def scenes_of_video(video: Video) -> ShownScenes | None:
    """Return the scenes of a video for its page, or None if they were never looked for."""
    found = VideoScenes.objects.filter(video=video).prefetch_related("scenes").first()
    if found is None:
        return None
    rows = list(_shown(found))
    columns, lines = min(len(rows), COLUMNS), -(-len(rows) // COLUMNS)
    return ShownScenes(
        found=found,
        rows=rows,
        width=columns * (found.tile_width + GAP) - GAP,
        height=lines * (found.tile_height + GAP) - GAP,
    )


def _shown(found: VideoScenes) -> Iterator[ShownScene]:
    width, height = found.tile_width, found.tile_height
    scenes = list(found.scenes.all())
    for place, scene in enumerate(scenes):
        line, column = divmod(place, COLUMNS)
        left, top = column * (width + GAP), line * (height + GAP)
        yield ShownScene(scene, scenes[-1].end, left, top, width, height)


def cuts_of(video: Video) -> list[float]:
    """Return the times of the scene cuts of a video in seconds, or [] if they are not known.

    Without a further query if `segmentation__scenes` is prefetched.
    """
    found = getattr(video, "segmentation", None)
    return [scene.start for scene in found.scenes.all()][1:] if found else []
