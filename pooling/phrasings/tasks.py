"""The jobs of phrasings."""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from hearth.jobs.models import Job
from hearth.jobs.registry import Outcome, job_kind
from hearth.jobs.selectors import actor_of_job
from hearth.shared.options import arguments_of
from hearth.shared.progress import Progress
from hearth.shared.uploads import options_of_job
from hearth.shared.words import counted
from pooling.phrasings import services
from pooling.phrasings.services.phrasings import PhrasingsUpload
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
