"""The job that draws captions, and the scheduled task that lets annotators go on."""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from config.celery import app
from hearth.jobs.models import Job
from hearth.jobs.registry import Outcome, job_kind
from hearth.jobs.selectors import actor_of_job
from hearth.shared.options import build
from hearth.shared.progress import Progress
from hearth.shared.words import counted
from pooling.selectors.benchmarks import get_benchmark
from pooling.selectors.runs import get_run

DRAW_JOB = "draw_captions"


def captions_drawn(job: Job, made: dict[str, Any]) -> Outcome:
    return Outcome(
        text=f"{counted(made['captions'], 'caption')} are drawn, and the campaign is open.",
        url=reverse("run-estimate", args=[job.benchmark_key, made["run"]]),
        link="To the estimate",
        also_on=(reverse("campaign", args=[made["campaign"]]),),
    )


@job_kind(DRAW_JOB, outcome=captions_drawn)
def draw_captions_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Draw captions. params: benchmark (key), and the options of `DrawOptions`."""
    from evaluation.estimates import services

    options = build(services.DrawOptions, params)
    run = get_run(get_benchmark(params["benchmark"]), options.run)
    draw = services.draw_captions(run=run, options=options, by=actor_of_job(params))
    return {
        "draw": draw.pk,
        "run": draw.run_id,
        "captions": draw.n,
        "campaign": draw.campaign_id,
        "tasks": draw.campaign.n_tasks,
    }


@app.task
def advance_draws_task() -> None:
    from evaluation.estimates import services

    services.advance_draws()
