"""The job that finds scenes."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.urls import reverse

from hearth.jobs.models import Job
from hearth.jobs.registry import Outcome, job_kind
from hearth.jobs.selectors import actor_of_job
from hearth.shared.progress import Progress
from hearth.shared.uploads import options_of_job
from hearth.shared.words import counted
from pooling.scenes.actions import FindScenes
from pooling.scenes.services import find_scenes
from pooling.selectors.benchmarks import get_benchmark

KIND = "find_scenes"
# No video is begun in the last part of a worker's time limit.
RESERVE_SECONDS = 240


def scenes_found(job: Job, made: dict[str, Any]) -> Outcome:
    notes = [f"{key}: {reason}" for key, reason in made["errors"].items()]
    if made["left"]:
        left = counted(made["left"], "video")
        notes.insert(0, f"The time was too short for {left}. Find scenes again to go on.")
    failed = f" {counted(made['failed'], 'video')} cannot be divided." if made["failed"] else ""
    scenes, videos = counted(made["scenes"], "scene"), counted(made["videos"], "video")
    return Outcome(
        text=f"{scenes} in {videos}.{failed}",
        url=reverse("benchmark-videos", args=[job.benchmark_key]),
        link="To the videos",
        notes=tuple(notes),
    )


@job_kind(KIND, outcome=scenes_found, retry="scenes-find", keeps_parts=True)
def find_scenes_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Find scenes. params: benchmark (key), and the options of `FindScenes`."""
    report = find_scenes(
        benchmark=get_benchmark(params["benchmark"]),
        options=options_of_job(FindScenes, params),
        by=actor_of_job(params),
        progress=progress,
        seconds=settings.CELERY_TASK_SOFT_TIME_LIMIT - RESERVE_SECONDS,
    )
    return {**report}
