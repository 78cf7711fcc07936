"""The jobs of the pooling app."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from django.utils.html import format_html

from config.jobs.models import Job
from config.jobs.registry import Outcome, job_kind
from config.jobs.selectors import actor_of_job
from config.shared.progress import Progress
from config.shared.uploads import uploaded_file
from config.shared.words import counted, short_sha
from pooling import services
from pooling.core.pool_options import PoolOptions
from pooling.selectors.benchmarks import get_benchmark


def _url_of_run(job: Job, made: dict[str, Any]) -> str:
    # Results that older versions stored have no key of the run.
    if "pk" not in made:
        return reverse("results", args=[job.benchmark_key])
    return reverse("run", args=[job.benchmark_key, made["pk"]])


def run_imported(job: Job, made: dict[str, Any]) -> Outcome:
    text = "This file is already stored as run <strong><bdi>{}</bdi></strong>: {}, sha256 {}"
    if made["created"]:
        text = "Run <strong><bdi>{}</bdi></strong> is stored: {}, sha256 {}. It is being scored."
    size = f"{counted(made['queries'], 'caption')} with a list, depth {made['depth']}"
    return Outcome(
        text=format_html(text, made["run"], size, short_sha(made["sha256"])),
        url=_url_of_run(job, made),
        link="To the scores of the run",
        notes=tuple(made["warnings"]),
    )


@job_kind("import_run", outcome=run_imported, retry="run-upload")
def import_run_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Import an uploaded run.

    params: benchmark (key), upload and source (see `uploaded_file`), system, name, format,
    depth (or null).
    """
    done = services.import_run(
        benchmark=get_benchmark(params["benchmark"]),
        path=uploaded_file(params["upload"]),
        source=params["source"],
        system=params["system"],
        name=params["name"],
        format=params["format"],
        depth=params["depth"],
        by=actor_of_job(params),
        progress=progress,
    )
    return {**done.report(), "pk": done.run.pk}


def _metadata(job: Job, text: str, notes: list[str]) -> Outcome:
    url = reverse("benchmark-captions", args=[job.benchmark_key]) + "#metadata"
    return Outcome(text=text, url=url, link="To the train captions and tags", notes=tuple(notes))


def train_captions_imported(job: Job, made: dict[str, Any]) -> Outcome:
    text = (
        "This file is already stored as train split <strong><bdi>{}</bdi></strong>: {}, sha256 {}"
    )
    if made["created"]:
        text = "Train split <strong><bdi>{}</bdi></strong> is stored: {}, sha256 {}"
    captions, sha = counted(made["captions"], "caption"), short_sha(made["sha256"])
    return _metadata(job, format_html(text, made["split"], captions, sha), made["notes"])


@job_kind("import_train_captions", outcome=train_captions_imported, retry="train-captions-upload")
def import_train_captions_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Import uploaded train captions.

    params: benchmark (key), upload and source (see `uploaded_file`), name.
    """
    done = services.import_train_captions(
        benchmark=get_benchmark(params["benchmark"]),
        path=uploaded_file(params["upload"]),
        source=params["source"],
        name=params["name"],
        by=actor_of_job(params),
        progress=progress,
    )
    return {**done.report()}


def tags_imported(job: Job, made: dict[str, Any]) -> Outcome:
    tags, captions = counted(made["tags"], "tag"), counted(made["captions"], "caption")
    verb = "is" if made["tags"] == 1 else "are"
    return _metadata(job, f"{tags} of {captions} {verb} stored.", made["notes"])


@job_kind("import_tags", outcome=tags_imported, retry="tags-upload")
def import_tags_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Import uploaded tags.

    params: benchmark (key), upload and source (see `uploaded_file`).
    """
    done = services.import_tags(
        benchmark=get_benchmark(params["benchmark"]),
        path=uploaded_file(params["upload"]),
        source=params["source"],
        by=actor_of_job(params),
        progress=progress,
    )
    return {**done.report()}


def pool_built(job: Job, made: dict[str, Any]) -> Outcome:
    text = f"The pool has {counted(made['pairs'], 'pair')}, {made['new_pairs']:,} of them new."
    n_tasks = made.get("tasks")  # missing in results of older versions
    if n_tasks and n_tasks != made["pairs"]:
        text += (
            " Captions with equal texts are judged once, so the pool results in "
            f"{counted(n_tasks, 'task')}."
        )
    url = reverse("benchmark-campaigns", args=[job.benchmark_key]) + "#pools"
    return Outcome(text=text, url=url, link="To the pools")


@job_kind("build_pool", outcome=pool_built, retry="pool-build")
def build_pool_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Build a pool.

    params: benchmark (key), expected (of `build_pool`), and the fields of `PoolOptions`. All
    except benchmark and depth can be missing.
    """
    built = services.build_pool(
        benchmark=get_benchmark(params["benchmark"]),
        options=PoolOptions.of(params),
        expected=params.get("expected", ""),
        by=actor_of_job(params),
        progress=progress,
    )
    return {**built.report()}
