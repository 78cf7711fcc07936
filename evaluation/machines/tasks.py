"""The job that asks a machine judge."""

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
from pooling.selectors.benchmarks import get_benchmark

KIND = "judge_by_machine"


def judged(job: Job, made: dict[str, Any]) -> Outcome:
    already = "" if made["created"] else " The same answers were already stored."
    errors = f", {counted(made['errors'], 'error')}" if made["errors"] else ""
    text = "<strong><bdi>{}</bdi></strong>: {}{}.{}"
    return Outcome(
        text=format_html(text, made["proxy"], counted(made["pairs"], "pair"), errors, already),
        url=reverse("machine", args=[job.benchmark_key, made["pk"]]),
        link="To the machine",
        also_on=(reverse("machines", args=[job.benchmark_key]),),
    )


@job_kind(KIND, outcome=judged, retry="machines", keeps_parts=True)
def judge_by_machine_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Ask a machine judge, or read its answers.

    params: benchmark (key), and the options of `MachineRequest`.
    """
    from evaluation.machines.request import MachineRequest
    from evaluation.machines.services import judge_by_machine

    added = judge_by_machine(
        benchmark=get_benchmark(params["benchmark"]),
        request=options_of_job(MachineRequest, params),
        by=actor_of_job(params),
        progress=progress,
    )
    return {**added.report(), "pk": added.judge.pk}
