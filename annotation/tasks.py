"""Celery's side of the annotation app."""

from __future__ import annotations

from typing import Any

from celery import shared_task

from annotation import services
from annotation.enums import Scale
from config.jobs.registry import job_kind
from config.shared.progress import Progress
from config.shared.uploads import uploaded_file
from pooling.selectors import get_benchmark


@shared_task
def expire_leases_task() -> None:
    services.expire_leases()


@job_kind("import_judgments")
def import_judgments_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """params: benchmark (key), upload and source (see `uploaded_file`)."""
    with uploaded_file(params["upload"]) as path:
        done = services.import_judgments(
            benchmark=get_benchmark(params["benchmark"]),
            path=path,
            source=params["source"],
            scale=Scale(params.get("scale", Scale.BINARY)),
            progress=progress,
        )
    return {"judgments": done.judgments, "pairs": done.pairs, "campaign": done.campaign.pk}


@job_kind("open_campaign")
def open_campaign_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """params: benchmark (key), double_share, seed, scale, name."""
    campaign = services.open_campaign(
        benchmark=get_benchmark(params["benchmark"]),
        double_share=params["double_share"],
        seed=params["seed"],
        scale=Scale(params["scale"]),
        name=params["name"],
        labels_max=params.get("labels_max", 3),
    )
    return {"campaign": campaign.pk, "tasks": campaign.n_tasks}
