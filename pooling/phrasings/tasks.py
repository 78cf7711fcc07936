"""The jobs of phrasings."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from django.utils.html import format_html

from hearth.jobs.models import Job
from hearth.jobs.registry import Outcome, job_kind
from hearth.jobs.selectors import actor_of_job
from hearth.shared.options import arguments_of, build
from hearth.shared.progress import Progress
from hearth.shared.uploads import options_of_job
from hearth.shared.words import counted, short_sha
from pooling.phrasings import services
from pooling.phrasings.services.expanding import ExpandOptions
from pooling.phrasings.services.fusing import FuseOptions, fuse_runs
from pooling.phrasings.services.phrased_runs import PhrasedListsUpload, add_phrased_lists
from pooling.phrasings.services.phrasings import PhrasingsUpload
from pooling.phrasings.services.vectors import TextVectorsUpload, import_text_vectors
from pooling.selectors.benchmarks import get_benchmark


def phrasings_added(job: Job, made: dict[str, Any]) -> Outcome:
    phrasings, captions = (
        counted(made["phrasings"], "phrasing"),
        counted(made["captions"], "caption"),
    )
    verb = "stored" if made["created"] else "already stored"
    return Outcome(
        text=f"{phrasings} of {captions}: {verb}.",
        url=reverse("benchmark-captions", args=[job.benchmark_key]) + "#phrasings",
        link="To the phrasings",
        notes=tuple(made["notes"]),
    )


@job_kind("import_phrasings", outcome=phrasings_added, retry="phrasings-upload")
def import_phrasings_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Import uploaded phrasings. params: benchmark (key), and the options of `PhrasingsUpload`."""
    done = services.import_phrasings(
        benchmark=get_benchmark(params["benchmark"]),
        by=actor_of_job(params),
        progress=progress,
        **arguments_of(options_of_job(PhrasingsUpload, params)),
    )
    return {**done.report()}


@job_kind("expand", outcome=phrasings_added)
def expand_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Expand captions. params: benchmark (key), and the options of `ExpandOptions`."""
    done = services.expand(
        benchmark=get_benchmark(params["benchmark"]),
        options=build(ExpandOptions, params),
        by=actor_of_job(params),
        progress=progress,
    )
    return {**done.report()}


def runs_fused(job: Job, made: dict[str, Any]) -> Outcome:
    text = "Run <strong><bdi>{}</bdi></strong> is {}: {}, depth {}, sha256 {}."
    verb = "stored" if made["created"] else "already stored"
    size = counted(made["queries"], "list")
    return Outcome(
        text=format_html(text, made["run"], verb, size, made["depth"], short_sha(made["sha256"])),
        url=reverse("run", args=[job.benchmark_key, made["pk"]]),
        link="To the scores of the run",
        notes=tuple(made["warnings"]),
    )


@job_kind("fuse_runs", outcome=runs_fused)
def fuse_runs_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Fuse runs. params: benchmark (key), and the options of `FuseOptions`."""
    done = fuse_runs(
        benchmark=get_benchmark(params["benchmark"]),
        options=build(FuseOptions, params),
        by=actor_of_job(params),
        progress=progress,
    )
    return {
        **done.report(),
        "pk": done.run.pk,
        "scoring": [str(job.pk) for job in done.all_jobs],
    }


def lists_added(job: Job, made: dict[str, Any]) -> Outcome:
    text = "Run <strong><bdi>{}</bdi></strong> has {} for phrasing {}."
    lists = counted(made["lists"], "list")
    return Outcome(
        text=format_html(text, made["run"], lists, made["phrasing"]),
        url=reverse("benchmark-runs", args=[job.benchmark_key]),
        link="To the runs",
    )


@job_kind("import_phrased_lists", outcome=lists_added, retry="phrased-lists-upload")
def import_phrased_lists_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Add lists of a phrasing. params: benchmark (key), and those of `PhrasedListsUpload`."""
    done = add_phrased_lists(
        benchmark=get_benchmark(params["benchmark"]),
        by=actor_of_job(params),
        progress=progress,
        **arguments_of(options_of_job(PhrasedListsUpload, params)),
    )
    return {**done}


def vectors_stored(job: Job, made: dict[str, Any]) -> Outcome:
    numbers = f"{made['numbers']:,} numbers each"
    return Outcome(
        text=f"{counted(made['rows'], 'embedding')} stored, {numbers}.",
        url=reverse("benchmark-captions", args=[job.benchmark_key]) + "#phrasings",
        link="To the phrasings",
    )


@job_kind("import_text_vectors", outcome=vectors_stored, retry="phrasing-embeddings-upload")
def import_text_vectors_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Store embeddings of texts. params: benchmark (key), and those of `TextVectorsUpload`."""
    done = import_text_vectors(
        benchmark=get_benchmark(params["benchmark"]),
        by=actor_of_job(params),
        progress=progress,
        **arguments_of(options_of_job(TextVectorsUpload, params)),
    )
    return {**done}
