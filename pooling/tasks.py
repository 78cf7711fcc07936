"""The jobs of the pooling app."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html

from config.celery import app
from hearth.jobs.models import Job
from hearth.jobs.registry import Outcome, job_kind
from hearth.jobs.selectors import actor_of_job
from hearth.operations.housekeeping import (
    Done,
    housekeeping_step,
    remove_files,
    remove_rows,
)
from hearth.shared.numbers import number
from hearth.shared.options import arguments_of, build
from hearth.shared.progress import Progress
from hearth.shared.uploads import options_of_job
from hearth.shared.words import counted, short_sha, tasks_to_judge
from pooling import services
from pooling.core.direction import Direction
from pooling.core.pool_options import PoolOptions
from pooling.core.proxies.request import ProxyRequest, ProxyUpload
from pooling.core.run_options import ImportRun, ScoreRun
from pooling.models import BenchmarkImport, Pool, RunUpload
from pooling.selectors.benchmarks import get_benchmark
from pooling.selectors.runs import run_names
from pooling.services.addresses import AddressesUpload
from pooling.services.metadata import TagsUpload, TrainCaptionsUpload
from pooling.services.queueing import KIND
from pooling.services.run_uploads import KIND as SCORE_UPLOAD
from pooling.signals import tasks_requested

IMPORT_AGE = timedelta(days=7)


def import_planned(job: Job, made: dict[str, Any]) -> Outcome:
    url = reverse("import-plan", args=[made["import"]])
    return Outcome(text="The files have been read.", url=url, link="To the plan")


@job_kind("plan_import", outcome=import_planned)
def plan_import_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Plan the import of a benchmark.

    params: import (the id of a `BenchmarkImport`).
    """
    report = services.plan_import(
        found=_get_import(params), by=actor_of_job(params), progress=progress
    )
    return {**report, "import": params["import"]}


def benchmark_imported(job: Job, made: dict[str, Any]) -> Outcome:
    text = "Benchmark <strong><bdi>{}</bdi></strong> is {}: {}, {}, {}."
    counts = (
        counted(made["queries"], "caption"),
        counted(made["videos"], "video"),
        counted(made["original_positives"], "original positive"),
    )
    verb = "imported" if made["created"] else "updated"
    url = reverse("benchmark", args=[made["benchmark"]])
    return Outcome(
        text=format_html(text, made["benchmark"], verb, *counts),
        url=url,
        link="To the benchmark",
        notes=(*made["notes"], *_videos_note(made["without_media"])),
    )


def _videos_note(without_media: int) -> tuple[str, ...]:
    if not without_media:
        return ()
    have = "has" if without_media == 1 else "have"
    videos = counted(without_media, "video")
    return (
        f"{videos} {have} no file or address yet. Annotators need the videos, but scores do not: "
        "you can add runs first.",
    )


@job_kind("import_benchmark", outcome=benchmark_imported)
def import_benchmark_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Import what an accepted plan describes.

    params: import (the id of a `BenchmarkImport`), plan (the hash of the plan).
    """
    return {
        **services.write_import(
            found=_get_import(params),
            plan=params["plan"],
            by=actor_of_job(params),
            progress=progress,
        )
    }


def _get_import(params: dict[str, Any]) -> BenchmarkImport:
    return BenchmarkImport.objects.get(pk=params["import"])


@housekeeping_step("imports", "Records of imports of benchmarks that began more than a week ago")
def remove_imports(dry_run: bool) -> Done:
    """Remove old imports. Their files are then unused."""
    old = timezone.now() - IMPORT_AGE
    return remove_rows(BenchmarkImport.objects.filter(created_at__lt=old), dry_run)


def _url_of_run(job: Job, made: dict[str, Any]) -> str:
    # Results that older versions stored have no primary key of the run.
    if "pk" not in made:
        return reverse("results", args=[job.benchmark_key])
    return reverse("run", args=[job.benchmark_key, made["pk"]])


def run_imported(job: Job, made: dict[str, Any]) -> Outcome:
    text = "This file is already stored as run <strong><bdi>{}</bdi></strong>: {}, sha256 {}"
    if made["created"]:
        text = "Run <strong><bdi>{}</bdi></strong> is stored: {}, sha256 {}. Another job scores it."
    # Results that older versions stored have no direction.
    direction = Direction(made.get("direction", Direction.TEXT_TO_VIDEO))
    size = f"{counted(made['queries'], direction.row)} with a list, depth {made['depth']}"
    also: list[str] = []
    other = made
    while "also" in other:
        other = other["also"]
        also.append(f"The run {other['run']} is stored, too.")
    return Outcome(
        text=format_html(text, made["run"], size, short_sha(made["sha256"])),
        url=_url_of_run(job, made),
        link="To the scores of the run",
        notes=(*also, *made["warnings"]),
    )


@job_kind("import_run", outcome=run_imported, retry="run-upload")
def import_run_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Import an uploaded run. params: benchmark (key), and the options of `ImportRun`."""
    done = services.import_run(
        benchmark=get_benchmark(params["benchmark"]),
        by=actor_of_job(params),
        progress=progress,
        **arguments_of(options_of_job(ImportRun, params)),
    )
    # The jobs that score the run, so that scripts can wait for them.
    scoring = [str(job.pk) for job in done.all_jobs]
    return {**done.report(), "pk": done.run.pk, "scoring": scoring}


def _metadata(job: Job, text: str, notes: list[str]) -> Outcome:
    url = reverse("benchmark-captions", args=[job.benchmark_key]) + "#metadata"
    return Outcome(text=text, url=url, link="To the train captions and tags", notes=tuple(notes))


def upload_scored(job: Job, made: dict[str, Any]) -> Outcome:
    """Return an outcome without details, because researchers see the job but not the upload."""
    url = reverse("public-benchmark", args=[job.benchmark_key])
    return Outcome(text="The upload has been checked.", url=url, link="To the public page")


@job_kind(SCORE_UPLOAD, outcome=upload_scored)
def score_upload_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Score an uploaded run. An error of the file is stored with the upload, not with the job.

    params: run_upload (the id of a `RunUpload`), and the options of `ScoreRun`.
    """
    upload = RunUpload.objects.select_related("benchmark", "created_by", "run")
    sent = options_of_job(ScoreRun, params)
    services.score_upload(
        upload=upload.get(pk=params["run_upload"]),
        path=sent.file.path,
        source=sent.file.source,
        system=sent.system,
        format=sent.format,
        depth=sent.depth,
        direction=Direction(sent.direction),
        keys=sent.keys,
        progress=progress,
    )
    return {}


@app.task
def settle_run_uploads_task() -> None:
    services.settle_run_uploads()


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

    params: benchmark (key), and the options of `TrainCaptionsUpload`.
    """
    done = services.import_train_captions(
        benchmark=get_benchmark(params["benchmark"]),
        by=actor_of_job(params),
        progress=progress,
        **arguments_of(options_of_job(TrainCaptionsUpload, params)),
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
        by=actor_of_job(params),
        progress=progress,
        **arguments_of(options_of_job(TagsUpload, params)),
    )
    return {**done.report()}


def proxy_added(job: Job, made: dict[str, Any]) -> Outcome:
    text = "Proxy <strong><bdi>{}</bdi></strong> is already stored: {}, mean {}, sha256 {}"
    if made["created"]:
        text = "Proxy <strong><bdi>{}</bdi></strong> is stored: {}, mean {}, sha256 {}"
    size = f"{counted(made['captions'], 'caption')} × {counted(made['videos'], 'video')}"
    mean = number(made["mean"])
    return Outcome(
        text=format_html(text, made["proxy"], size, mean, short_sha(made["sha256"])),
        url=reverse("proxy", args=[job.benchmark_key, made["pk"]]),
        link="To the proxy",
    )


def _added(done: services.AddedProxy) -> dict[str, Any]:
    return {**done.report(), "pk": done.proxy.pk}


@job_kind("compute_proxy", outcome=proxy_added, retry="proxy-compute")
def compute_proxy_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Compute a proxy.

    params: benchmark (key), and the options of `ProxyRequest`.
    """
    done = services.compute_requested(
        benchmark=get_benchmark(params["benchmark"]),
        request=options_of_job(ProxyRequest, params),
        by=actor_of_job(params),
        progress=progress,
    )
    return _added(done)


@job_kind("import_proxy", outcome=proxy_added, retry="proxy-upload")
@job_kind("import_embeddings", outcome=proxy_added, retry="embeddings-upload")
def import_proxy_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Import a proxy. params: benchmark (key), and the options of `ProxyUpload`."""
    done = services.add_proxy(
        benchmark=get_benchmark(params["benchmark"]),
        sent=options_of_job(ProxyUpload, params),
        by=actor_of_job(params),
        progress=progress,
    )
    return _added(done)


def pool_built(job: Job, made: dict[str, Any]) -> Outcome:
    pairs, new = counted(made["pairs"], "pair"), made["new_pairs"]
    text = (
        f"The pool has {pairs}, {new:,} of them in no earlier pool. Pairs that have a label are "
        "not judged again."
    )
    if "to_judge" in made:  # missing in results of older versions
        text = f"The next campaign would have {tasks_to_judge(**made['to_judge'])}. {text}"
    url = reverse("benchmark-campaigns", args=[job.benchmark_key]) + "#pools"
    return Outcome(text=text, url=url, link="To the pools")


@job_kind("build_pool", outcome=pool_built, retry="pool-build")
def build_pool_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Build a pool.

    params: benchmark (key), expected (see `build_pool`), and the fields of `PoolOptions`. `runs`
    contains primary keys instead of names. All except benchmark and depth can be missing.
    """
    benchmark = get_benchmark(params["benchmark"])
    names = run_names(benchmark, params.get("runs", ()))
    built = services.build_pool(
        benchmark=benchmark,
        options=build(PoolOptions, {**params, "runs": names}),
        expected=params.get("expected", ""),
        by=actor_of_job(params),
        progress=progress,
    )
    answers: list[tuple[Any, Any]] = tasks_requested.send(Pool, benchmark=benchmark)
    ((_, to_judge),) = answers  # `annotation` counts the tasks
    return {**built.report(), "to_judge": to_judge}


def videos_prepared(job: Job, made: dict[str, Any]) -> Outcome:
    text = f"{counted(made['playable'], 'video')} can be played. Refused: {made['refused']:,}."
    url = reverse("videos-add", args=[job.benchmark_key])
    return Outcome(text=text, url=url, link="To the files of the videos")


@job_kind(KIND, outcome=videos_prepared, retry="videos-add", keeps_parts=True)
def prepare_videos_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Prepare the files that were added to a benchmark. params: benchmark (key)."""
    done = services.prepare_uploads(
        benchmark=get_benchmark(params["benchmark"]),
        job=uuid.UUID(params["job"]),
        progress=progress,
    )
    return {**done}


def addresses_set(job: Job, made: dict[str, Any]) -> Outcome:
    text = f"{counted(made['videos'], 'video')} got an address."
    if made["with_file"]:
        text += f" Videos that keep their file: {made['with_file']:,}."
    url = reverse("benchmark-captions", args=[job.benchmark_key])
    return Outcome(text=text, url=url, link="To the captions and videos")


@job_kind("set_addresses", outcome=addresses_set, retry="video-addresses-upload")
def set_addresses_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Store the addresses of videos that an uploaded file contains.

    params: benchmark (key), upload and source (see `uploaded_file`).
    """
    done = services.set_addresses(
        benchmark=get_benchmark(params["benchmark"]),
        by=actor_of_job(params),
        progress=progress,
        **arguments_of(options_of_job(AddressesUpload, params)),
    )
    return {**done}


@app.task
def queue_uploads_task() -> None:
    services.queue_uploads()


@housekeeping_step("video-uploads", "Uploaded files of videos that expired or are unused")
def remove_video_uploads(dry_run: bool) -> Done:
    removed = remove_files(services.expired_files(), dry_run)
    if not dry_run:
        services.delete_expired_uploads()
    return removed
