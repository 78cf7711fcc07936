"""The jobs of paragraphs."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from django.utils.html import format_html

from hearth.jobs.models import Job
from hearth.jobs.registry import Outcome, job_kind
from hearth.jobs.selectors import actor_of_job
from hearth.shared.progress import Progress
from hearth.shared.uploads import options_of_job
from hearth.shared.words import counted, short_sha
from pooling.paragraphs.actions import AddParagraphs, FocusRun, ImportClips, ImportSimilarities
from pooling.paragraphs.services.clip_sets import import_clips
from pooling.paragraphs.services.focusing import focus_run, import_similarities
from pooling.paragraphs.services.joining import add_paragraphs
from pooling.selectors.benchmarks import get_benchmark


def paragraphs_added(job: Job, made: dict[str, Any]) -> Outcome:
    text = "Benchmark <strong><bdi>{}</bdi></strong> has {} of {}."
    paragraphs = counted(made["paragraphs"], "paragraph")
    return Outcome(
        text=format_html(
            text, made["benchmark"], paragraphs, counted(made["sentences"], "sentence")
        ),
        url=reverse("paragraphs", args=[made["benchmark"]]),
        link="To the paragraphs",
    )


@job_kind("add_paragraphs", outcome=paragraphs_added, retry="paragraphs")
def add_paragraphs_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Add paragraphs. params: benchmark (key), and the options of `AddParagraphs`."""
    done = add_paragraphs(
        benchmark=get_benchmark(params["benchmark"]),
        options=options_of_job(AddParagraphs, params),
        by=actor_of_job(params),
        progress=progress,
    )
    return done.report()


def similarities_imported(job: Job, made: dict[str, Any]) -> Outcome:
    already = "" if made["created"] else " They were already stored."
    pairs = counted(made["pairs"], "pair")
    text = "The run <strong><bdi>{}</bdi></strong> has similarities of {}, sha256 {}.{}"
    return Outcome(
        text=format_html(text, made["run"], pairs, short_sha(made["sha256"]), already),
        url=reverse("paragraphs", args=[job.benchmark_key]),
        link="To the paragraphs",
    )


@job_kind("import_similarities", outcome=similarities_imported, retry="similarities-upload")
def import_similarities_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Import similarities. params: benchmark (key), and the options of `ImportSimilarities`."""
    done = import_similarities(
        benchmark=get_benchmark(params["benchmark"]),
        options=options_of_job(ImportSimilarities, params),
        by=actor_of_job(params),
        progress=progress,
    )
    return done.report()


def clips_imported(job: Job, made: dict[str, Any]) -> Outcome:
    text = "<strong><bdi>{}</bdi></strong> has {} of {}.{}{}"
    left_out = counted(made["unknown_videos"], "video")
    unknown = f" Left out: {left_out} that the benchmark does not have."
    return Outcome(
        text=format_html(
            text,
            made["name"],
            counted(made["clips"], "clip"),
            counted(made["videos"], "video"),
            unknown if made["unknown_videos"] else "",
            "" if made["created"] else " They were already stored.",
        ),
        url=reverse("paragraphs", args=[job.benchmark_key]),
        link="To the paragraphs",
    )


@job_kind("import_clips", outcome=clips_imported, retry="clips-upload")
def import_clips_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Import proposals or stamps. params: benchmark (key), and the options of `ImportClips`."""
    done = import_clips(
        benchmark=get_benchmark(params["benchmark"]),
        options=options_of_job(ImportClips, params),
        by=actor_of_job(params),
        progress=progress,
    )
    return done.report()


def run_focused(job: Job, made: dict[str, Any]) -> Outcome:
    text = "Run <strong><bdi>{}</bdi></strong> {}: {}, sha256 {}."
    verb = "is stored" if made["created"] else "is already stored"
    lists = counted(made["queries"], "list")
    return Outcome(
        text=format_html(text, made["run"], verb, lists, short_sha(made["sha256"])),
        url=reverse("run", args=[job.benchmark_key, made["pk"]]),
        link="To the scores of the run",
        notes=tuple(made["warnings"]),
    )


@job_kind("focus_run", outcome=run_focused, retry="run-focus")
def focus_run_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Focus a run. params: benchmark (key), and the options of `FocusRun`."""
    done = focus_run(
        benchmark=get_benchmark(params["benchmark"]),
        options=options_of_job(FocusRun, params),
        by=actor_of_job(params),
        progress=progress,
    )
    return {**done.report(), "pk": done.run.pk, "scoring": [str(job.pk) for job in done.all_jobs]}
