"""Celery's side of the pooling app: what its jobs do."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from django.urls import reverse
from django.utils.html import format_html

from config.jobs.models import Job
from config.jobs.registry import Outcome, job_kind
from config.shared.progress import Progress
from config.shared.uploads import uploaded_file
from config.shared.words import counted, short_sha
from pooling import services
from pooling.selectors import get_benchmark


def _url_of_run(job: Job) -> str:
    # Results that older versions stored have no key of the run.
    if "pk" not in job.result:
        return reverse("results", args=[job.benchmark_key])
    return reverse("run", args=[job.benchmark_key, job.result["pk"]])


def run_imported(job: Job) -> Outcome:
    made = job.result
    text = "This file is already stored as run <strong><bdi>{}</bdi></strong>: {}, sha256 {}"
    if made["created"]:
        text = "Run <strong><bdi>{}</bdi></strong> is stored: {}, sha256 {}. It is being scored."
    size = f"{counted(made['queries'], 'caption')} with a list, depth {made['depth']}"
    return Outcome(
        text=format_html(text, made["run"], size, short_sha(made["sha256"])),
        url=_url_of_run(job),
        link="To the scores of the run",
        notes=tuple(made["warnings"]),
    )


@job_kind("import_run", outcome=run_imported, retry="run-upload")
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


def train_captions_imported(job: Job) -> Outcome:
    made = job.result
    text = (
        "This file is already stored as train split <strong><bdi>{}</bdi></strong>: {}, sha256 {}"
    )
    if made["created"]:
        text = "Train split <strong><bdi>{}</bdi></strong> is stored: {}, sha256 {}"
    captions, sha = counted(made["captions"], "caption"), short_sha(made["sha256"])
    overlap = reverse("analysis", args=[job.benchmark_key, "train-overlap"])
    return Outcome(
        text=format_html(text, made["split"], captions, sha),
        url=f"{overlap}?split={quote(made['split'], safe='')}",
        link="To the overlap with it",
        notes=tuple(made["notes"]),
    )


@job_kind("import_train_captions", outcome=train_captions_imported, retry="train-captions-upload")
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


def tags_imported(job: Job) -> Outcome:
    made = job.result
    tags, captions = counted(made["tags"], "tag"), counted(made["captions"], "caption")
    return Outcome(
        text=f"{tags} of {captions} {'is' if made['tags'] == 1 else 'are'} stored.",
        url=reverse("analysis", args=[job.benchmark_key, "slices"]) + "?by=tags",
        link="To the scores by tag",
        notes=tuple(made["notes"]),
    )


@job_kind("import_tags", outcome=tags_imported, retry="tags-upload")
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


def pool_built(job: Job) -> Outcome:
    made = job.result
    text = f"The pool has {counted(made['pairs'], 'pair')}, {made['new_pairs']:,} of them new."
    if made.get("tasks") and made["tasks"] != made["pairs"]:
        text += (
            " Captions with equal texts are judged once, so the pool makes "
            f"{counted(made['tasks'], 'task')}."
        )
    url = reverse("benchmark-campaigns", args=[job.benchmark_key]) + "#pools"
    return Outcome(text=text, url=url, link="To the pools")


@job_kind("build_pool", outcome=pool_built, retry="pool-build")
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
