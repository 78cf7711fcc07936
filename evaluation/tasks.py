"""The jobs and scheduled tasks of the evaluation app.

Every process that starts or shows a job loads this module. The functions that need the analyses
import them, because loading all analyses takes a fifth of the time that a command needs to start.
"""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.db.models import Exists, OuterRef
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html

from annotation.selectors.campaigns import get_campaign
from config.celery import app
from evaluation.lab.enums import ANALYSIS_JOB, PAPER_JOB
from evaluation.models import Draft
from evaluation.monitor import services as monitor
from evaluation.release import services as release
from evaluation.release.selectors import LATEST, get_label_set
from evaluation.release.selectors.verification import verify_label_set
from evaluation.release.services.paragraphs import settle_paragraphs
from evaluation.scores import services as scores
from hearth.jobs.models import Job
from hearth.jobs.registry import Outcome, job_kind
from hearth.jobs.selectors import actor_of_job
from hearth.operations.housekeeping import Done, housekeeping_step, remove_rows
from hearth.shared.options import arguments_of, build
from hearth.shared.progress import Progress
from hearth.shared.words import counted, short_sha
from pooling.models import Run
from pooling.selectors.benchmarks import get_benchmark
from pooling.selectors.runs import run_names

# Replaced drafts are kept for this time, because a job that began earlier may still read them.
DRAFT_AGE = timedelta(days=1)


def agreement_computed(job: Job, made: dict[str, Any]) -> Outcome:
    url = reverse("benchmark-labels", args=[job.benchmark_key]) + "#agreement"
    return Outcome(text="The agreement has been computed.", url=url, link="To the agreement")


@job_kind("agreement", outcome=agreement_computed)
def agreement_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Compute agreement. params: benchmark (key)."""
    report = monitor.compute_agreement(
        benchmark=get_benchmark(params["benchmark"]), by=actor_of_job(params), progress=progress
    )
    return {"report": report.pk, "alpha": report.result["alpha"]}


def paragraphs_settled(job: Job, made: dict[str, Any]) -> Outcome:
    text = (
        f"{counted(made['new'], 'label')} of paragraphs stored. Relevant: {made['relevant']:,}, "
        f"not relevant: {made['not_relevant']:,}, pending: {made['pending']:,}."
    )
    if made["changed"]:
        text += f" Pairs that keep another label: {made['changed']:,}."
    return Outcome(
        text=text,
        url=reverse("benchmark-labels", args=[job.benchmark_key]),
        link="To the labels",
    )


@job_kind("settle_paragraphs", outcome=paragraphs_settled)
def settle_paragraphs_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Store the labels of paragraphs. params: benchmark (key)."""
    done = settle_paragraphs(
        benchmark=get_benchmark(params["benchmark"]), by=actor_of_job(params), progress=progress
    )
    return {**done}


@app.task
def renew_figures_task() -> None:
    monitor.renew_figures()


def figures_computed(job: Job, made: dict[str, Any]) -> Outcome:
    return Outcome(
        text=f"The figures are computed from {counted(made['answers'], 'answer')}.",
        url=reverse("campaign", args=[made["campaign"]]),
        link="To the campaign",
    )


@job_kind("campaign_figures", outcome=figures_computed)
def campaign_figures_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Compute the figures of a campaign. params: campaign (primary key)."""
    campaign = get_campaign(params["campaign"])
    report = monitor.compute_figures(campaign=campaign, by=actor_of_job(params), progress=progress)
    return {"campaign": campaign.pk, "answers": report.answers}


def labels_published(job: Job, made: dict[str, Any]) -> Outcome:
    text = format_html(
        "Label set {} is published with {} (sha256 {}). All runs are scored by it. "
        '<a href="{}?labels={}">See the results</a>',
        made["version"],
        counted(made["pairs"], "pair"),
        short_sha(made["sha256"]),
        reverse("results", args=[job.benchmark_key]),
        made["version"],
    )
    url = reverse("benchmark-labels", args=[job.benchmark_key]) + "#labels"
    return Outcome(text=text, url=url, link="To the label sets")


# The published label set stays if a later step fails.
@job_kind("publish_labels", outcome=labels_published, keeps_parts=True)
def publish_labels_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Publish the labels, score all runs by them, and compute the analysis of the overview.

    params: benchmark (key), job (id), and the options of `PublishOptions`.
    """
    from evaluation.lab import services as lab

    benchmark = get_benchmark(params["benchmark"])
    by = actor_of_job(params)
    label_set = release.publish_label_set(
        benchmark=benchmark,
        by=by,
        request=uuid.UUID(params["job"]),
        progress=progress,
        **arguments_of(build(release.PublishOptions, params)),
    )
    scores.evaluate_runs(benchmark=benchmark, by=by, progress=progress)
    lab.compute_shown_analyses(benchmark=benchmark, progress=progress)
    return {"version": label_set.version, "sha256": label_set.sha256, "pairs": label_set.n_pairs}


def labels_verified(job: Job, made: dict[str, Any]) -> Outcome:
    url = reverse("label-set", args=[job.benchmark_key, made["version"]])
    text = made["sentence"] if made["same"] else f"The label set differs. {made['sentence']}"
    return Outcome(text=text, url=url, link="To the label set")


@job_kind("verify_labels", outcome=labels_verified)
def verify_labels_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Rebuild a label set and compare its bytes. params: benchmark (key), version."""
    progress(0, None, "rebuilding the files")
    label_set = get_label_set(get_benchmark(params["benchmark"]), params["version"])
    return verify_label_set(label_set).as_json


def paper_computed(job: Job, made: dict[str, Any]) -> Outcome:
    url = reverse("paper", args=[job.benchmark_key, made["version"]])
    return Outcome(text="The figures of the paper are computed.", url=url, link="To the paper")


@job_kind(PAPER_JOB, outcome=paper_computed)
def paper_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Compute the analyses of a paper. params: benchmark (key), version (of the labels)."""
    from evaluation.lab import services as lab

    label_set = get_label_set(get_benchmark(params["benchmark"]), params["version"])
    lab.compute_paper(label_set=label_set, by=actor_of_job(params), progress=progress)
    return {"version": params["version"]}


def runs_evaluated(job: Job, made: dict[str, Any]) -> Outcome:
    runs = counted(len(made["runs"]), "run")
    query = {"labels": made["labels"]}
    if job.params.get("labels_only"):
        query["only"] = "on"
    return Outcome(
        text=f"{runs} {'is' if len(made['runs']) == 1 else 'are'} scored.",
        url=f"{reverse('results', args=[job.benchmark_key])}?{urlencode(query)}",
        link="To the results",
    )


@job_kind("evaluate", outcome=runs_evaluated)
def evaluate_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Score runs.

    params: benchmark (key), labels (latest, original or a version), labels_only, runs (ids; all if
    empty).
    """
    benchmark = get_benchmark(params["benchmark"])
    evaluated = scores.evaluate_runs(
        benchmark=benchmark,
        by=actor_of_job(params),
        labels=params.get("labels", LATEST),
        run_names=run_names(benchmark, params.get("runs", ())),
        labels_only=params.get("labels_only", False),
        progress=progress,
    )
    return {
        "labels": evaluated.label_set.version if evaluated.label_set else "original",
        "runs": [result.run.name for result in evaluated.runs],
    }


@app.task
def renew_drafts_task() -> None:
    release.renew_drafts()


@housekeeping_step("drafts", "Drafts that newer labels have replaced")
def remove_drafts(dry_run: bool) -> Done:
    """Remove old drafts, except the newest of each benchmark. No job reads the removed drafts."""
    newer = Draft.objects.filter(benchmark=OuterRef("benchmark"), pk__gt=OuterRef("pk"))
    old = timezone.now() - DRAFT_AGE
    return remove_rows(Draft.objects.filter(Exists(newer), created_at__lt=old), dry_run)


@housekeeping_step("label_arrays", "Missing arrays of label sets")
def store_label_arrays(dry_run: bool) -> Done:
    """Store the arrays of label sets that were published before arrays existed."""
    return Done(*release.store_missing_arrays(dry_run=dry_run))


def labels_drafted(job: Job, made: dict[str, Any]) -> Outcome:
    return Outcome(
        text=f"The draft has {counted(made['pairs'], 'pair')}.",
        url=f"{reverse('benchmark-labels', args=[job.benchmark_key])}#draft",
        link="To the draft",
        also_on=(reverse("analyses", args=[job.benchmark_key]),),
    )


@job_kind(release.DRAFT_JOB, outcome=labels_drafted)
def draft_labels_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Draft the labels and recompute the results of the previous draft. params: benchmark (key)."""
    from evaluation.lab import services as lab

    benchmark = get_benchmark(params["benchmark"])
    draft = release.make_draft(benchmark=benchmark, by=actor_of_job(params), progress=progress)
    lab.compute_shown_analyses(benchmark=benchmark, progress=progress)
    return {
        "sha256": draft.sha256,
        "pairs": draft.n_pairs,
        "analyses": lab.renew_draft_analyses(benchmark=benchmark),
    }


@app.task
def renew_analyses_task() -> None:
    from evaluation.lab import services as lab

    lab.renew_analyses()


def _form_data(params: dict[str, Any]) -> dict[str, Any]:
    """Return the form data of an analysis, with the current names of its runs."""
    given: dict[str, Any] = params["given"]
    if not given.get("runs"):
        return given
    return {**given, "runs": run_names(get_benchmark(params["benchmark"]), given["runs"])}


def analysis_computed(job: Job, made: dict[str, Any]) -> Outcome:
    from evaluation.lab.analyses import get_analysis

    name, given = job.params["analysis"], dict(job.params["given"])
    if given.get("runs"):
        # Some of the runs may have been deleted since the job was done.
        names = dict(Run.objects.filter(benchmark__key=job.benchmark_key).values_list("pk", "name"))
        given["runs"] = [names[pk] for pk in given["runs"] if pk in names]
    # The keys are sorted, because PostgreSQL does not keep the order of the keys of JSON.
    query = urlencode(sorted(given.items()), doseq=True)
    page = reverse("analysis", args=[job.benchmark_key, name])
    return Outcome(
        text=f"The analysis “{get_analysis(name).title}” has been computed.",
        url=f"{page}?{query}" if query else page,
        link="To the analysis",
    )


@job_kind(ANALYSIS_JOB, outcome=analysis_computed)
def analyse_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Compute one analysis.

    params: benchmark (key), analysis (name), given (form data with ids of runs), chosen (options
    with filled defaults), key, question, code_version (of the request).
    """
    from evaluation.lab import services as lab
    from evaluation.lab.analyses import get_analysis
    from evaluation.lab.analyses.question import build_question

    lab.check_same_code(params["code_version"])
    benchmark = get_benchmark(params["benchmark"])
    question = build_question(get_analysis(params["analysis"]), benchmark, _form_data(params))
    # Defaults that are measured on the benchmark may have changed since the request.
    question = replace(question, options=params["chosen"])
    analysis = lab.analyse(question=question, progress=progress)
    return {"analysis": analysis.kind, "key": analysis.key}
