"""The job that finds potentially relevant pairs."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from django.utils.html import format_html

from hearth.jobs.models import Job
from hearth.jobs.registry import Outcome, job_kind
from hearth.jobs.selectors import actor_of_job
from hearth.shared.progress import Progress
from hearth.shared.uploads import options_of_job
from hearth.shared.words import counted
from pooling.relevant_pairs.core.request import RelevantPairsRequest
from pooling.relevant_pairs.services import find_relevant_pairs
from pooling.selectors.benchmarks import get_benchmark

KIND = "find_relevant_pairs"


def pairs_found(job: Job, made: dict[str, Any]) -> Outcome:
    already = "" if made["created"] else " They were already stored."
    text = "<strong><bdi>{}</bdi></strong>: {} of captions, {}.{}"
    counts = counted(made["pairs"], "pair"), counted(made["candidates"], "candidate")
    return Outcome(
        text=format_html(text, made["proxy"], *counts, already),
        url=reverse("relevant-pairs", args=[job.benchmark_key, made["pk"]]),
        link="To the candidates",
    )


@job_kind(KIND, outcome=pairs_found, retry="relevant-pairs-find")
def find_relevant_pairs_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Find potentially relevant pairs.

    params: benchmark (key), and the options of `RelevantPairsRequest`.
    """
    done = find_relevant_pairs(
        benchmark=get_benchmark(params["benchmark"]),
        request=options_of_job(RelevantPairsRequest, params),
        by=actor_of_job(params),
        progress=progress,
    )
    return {**done.report(), "pk": done.pairs.pk}
