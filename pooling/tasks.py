"""Celery's side of the pooling app: what its jobs do."""

from __future__ import annotations

from typing import Any

from config.jobs.models import Job
from config.jobs.registry import job_kind
from config.shared.progress import Progress
from config.shared.uploads import uploaded_file
from pooling import services
from pooling.selectors import get_benchmark


@job_kind("import_run")
def import_run_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """params: benchmark (key), upload and source (see `uploaded_file`), system, name, format,
    depth (or null)."""
    job = Job.objects.select_related("created_by").get(pk=params["job"])
    with uploaded_file(params["upload"]) as path:
        done = services.import_run(
            benchmark=get_benchmark(params["benchmark"]),
            path=path,
            source=params["source"],
            system=params["system"],
            name=params["name"],
            format=params["format"],
            depth=params["depth"],
            by=job.created_by,
            progress=progress,
        )
    return {
        "run": done.run.name,
        "pk": done.run.pk,
        "queries": done.run.n_queries,
        "depth": done.run.depth,
        "sha256": done.run.sha256,
        "created": done.created,
        "warnings": done.run.warnings,
    }


@job_kind("import_train_captions")
def import_train_captions_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """params: benchmark (key), upload and source (see `uploaded_file`), name."""
    with uploaded_file(params["upload"]) as path:
        done = services.import_train_captions(
            benchmark=get_benchmark(params["benchmark"]),
            path=path,
            source=params["source"],
            name=params["name"],
            progress=progress,
        )
    return {
        "split": done.split.name,
        "captions": done.split.n_captions,
        "sha256": done.split.sha256,
        "created": done.created,
        "notes": list(done.notes),
    }


@job_kind("import_tags")
def import_tags_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """params: benchmark (key), upload and source (see `uploaded_file`)."""
    with uploaded_file(params["upload"]) as path:
        done = services.import_tags(
            benchmark=get_benchmark(params["benchmark"]),
            path=path,
            source=params["source"],
            progress=progress,
        )
    return {"tags": done.tags, "captions": done.captions, "notes": list(done.notes)}


@job_kind("build_pool")
def build_pool_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """params: benchmark (key), depth, runs (names; empty: all), sample (or null), seed."""
    built = services.build_pool(
        benchmark=get_benchmark(params["benchmark"]),
        depth=params["depth"],
        run_names=params["runs"],
        sample=params["sample"],
        seed=params["seed"],
        progress=progress,
    )
    return {
        "pool": built.pool.pk,
        "pairs": built.pool.n_pairs,
        "new_pairs": built.pool.n_new_pairs if built.created else 0,
        "tasks": built.pool.n_tasks,
    }
