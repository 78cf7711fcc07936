"""The jobs of the pooling app."""

from __future__ import annotations

from typing import Any

from config.accounts.actors import Actor, actor_of
from config.jobs.models import Job
from config.jobs.registry import job_kind
from config.shared.progress import Progress
from config.shared.uploads import uploaded_file
from pooling import services
from pooling.selectors import get_benchmark


@job_kind("import_run")
def import_run_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Import an uploaded run.

    params: benchmark (key), upload and source (see `uploaded_file`), system, name, format,
    depth (or null).
    """
    with uploaded_file(params["upload"]) as path:
        done = services.import_run(
            benchmark=get_benchmark(params["benchmark"]),
            path=path,
            source=params["source"],
            system=params["system"],
            name=params["name"],
            format=params["format"],
            depth=params["depth"],
            by=_actor_of_job(params),
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
    """Import uploaded train captions.

    params: benchmark (key), upload and source (see `uploaded_file`), name.
    """
    with uploaded_file(params["upload"]) as path:
        done = services.import_train_captions(
            benchmark=get_benchmark(params["benchmark"]),
            path=path,
            source=params["source"],
            name=params["name"],
            by=_actor_of_job(params),
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
    """Import uploaded tags.

    params: benchmark (key), upload and source (see `uploaded_file`).
    """
    with uploaded_file(params["upload"]) as path:
        done = services.import_tags(
            benchmark=get_benchmark(params["benchmark"]),
            path=path,
            source=params["source"],
            by=_actor_of_job(params),
            progress=progress,
        )
    return {"tags": done.tags, "captions": done.captions, "notes": list(done.notes)}


@job_kind("build_pool")
def build_pool_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Build a pool.

    params: benchmark (key), depth, runs (names; empty: all), sample (or null), seed.
    """
    built = services.build_pool(
        benchmark=get_benchmark(params["benchmark"]),
        depth=params["depth"],
        run_names=params["runs"],
        sample=params["sample"],
        seed=params["seed"],
        by=_actor_of_job(params),
        progress=progress,
    )
    return {
        "pool": built.pool.pk,
        "pairs": built.pool.n_pairs,
        "new_pairs": built.pool.n_new_pairs if built.created else 0,
        "tasks": built.pool.n_tasks,
    }


def _actor_of_job(params: dict[str, Any]) -> Actor:
    """Return who started the job. The services check the right again when the job runs."""
    return actor_of(Job.objects.select_related("created_by").get(pk=params["job"]).created_by)
