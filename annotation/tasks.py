"""The jobs and scheduled tasks of the annotation app."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from django.urls import reverse
from django.utils.html import format_html

from annotation import services
from annotation.enums import GoldUse
from annotation.models import Campaign, Withdrawal
from annotation.selectors.effort import preview_pool
from annotation.selectors.tasks import count_tasks_of_large_runs, new_counts
from config.celery import app
from hearth.jobs.models import Job
from hearth.jobs.registry import Outcome, job_kind
from hearth.jobs.selectors import actor_of_job
from hearth.shared.errors import InvalidInput
from hearth.shared.options import arguments_of, build
from hearth.shared.progress import Progress
from hearth.shared.uploads import keep_upload, options_of_job
from hearth.shared.words import counted, tasks_to_judge
from pooling.core.pool_options import PoolRequest
from pooling.models import Benchmark
from pooling.policies import check_can_pool
from pooling.selectors.benchmarks import get_benchmark


@app.task
def expire_leases_task() -> None:
    """Free the slots of expired leases, and update tasks of recently closed campaigns."""
    services.expire_leases()
    services.update_recently_closed()


@app.task
def count_new_tasks_task() -> None:
    """Count the tasks that no campaign contains, so that pages find the counts in the cache."""
    benchmarks = list(Benchmark.objects.filter(archived_at=None))
    new_counts(benchmarks)
    for benchmark in benchmarks:
        count_tasks_of_large_runs(benchmark)


def _to_campaign(made: dict[str, Any], text: str) -> Outcome:
    url = reverse("campaign", args=[made["campaign"]])
    return Outcome(text=text, url=url, link="To the campaign")


def judgments_imported(job: Job, made: dict[str, Any]) -> Outcome:
    judgments, pairs = counted(made["judgments"], "judgment"), counted(made["pairs"], "pair")
    verb = "is" if made["judgments"] == 1 else "are"
    return _to_campaign(made, f"{judgments} of {pairs} {verb} stored.")


def judgments_planned(job: Job, made: dict[str, Any]) -> Outcome:
    if "refused" in made:
        return Outcome(
            text="The columns of this table must be selected. Nothing is stored yet.",
            url=reverse("judgments-plan", args=[job.benchmark_key, job.pk]),
            link="Select the columns",
        )
    judgments, pairs = counted(made["judgments"], "judgment"), counted(made["pairs"], "pair")
    return Outcome(
        text=f"The file has {judgments} of {pairs}. Nothing is stored yet.",
        url=reverse("judgments-plan", args=[job.benchmark_key, job.pk]),
        link="To the plan",
    )


def pool_previewed(job: Job, made: dict[str, Any]) -> Outcome:
    pairs = made.get("task_pairs", made["new_pairs"])  # missing in results of older versions
    return Outcome(
        text=f"The pool would add {tasks_to_judge(made['new_tasks'], pairs)}.",
        url=reverse("pool-preview", args=[job.benchmark_key, job.pk]),
        link="To the preview",
    )


@job_kind("preview_pool", outcome=pool_previewed, retry="pool-build")
def preview_pool_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Compute a pool without storing it.

    params: benchmark (key), and the options of `PoolRequest`. The result is a `PoolPlanReport`.
    """
    benchmark, wanted = get_benchmark(params["benchmark"]), build(PoolRequest, params)
    check_can_pool(actor_of_job(params), benchmark, wanted.pool)
    planned = preview_pool(benchmark, wanted.pool, wanted.rate, wanted.seconds, progress)
    return {**planned.report()}


@job_kind("plan_judgments", outcome=judgments_planned, retry="judgments-upload")
def plan_judgments_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Check a file of judgments and keep it for the import.

    params: as in `import_judgments_job`, and `asks`: whether a person can select the columns of a
    table that cannot be read. The result has the fields of `ImportPlan`, or `refused`, the reason;
    and `kept`, the name of the kept upload.
    """
    sent = options_of_job(services.ImportJudgments, params)
    try:
        plan = services.plan_judgments(
            benchmark=get_benchmark(params["benchmark"]),
            by=actor_of_job(params),
            progress=progress,
            **sent.of_plan(),
        )
    except InvalidInput as error:
        if not params.get("asks") or not services.is_table_of_judgments(sent.file):
            raise
        return {"refused": str(error), "kept": keep_upload(params["upload"])}
    return {**asdict(plan), "kept": keep_upload(params["upload"])}


@job_kind("import_judgments", outcome=judgments_imported, retry="judgments-upload")
def import_judgments_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Import judgments. params: benchmark (key), and the options of `ImportJudgments`."""
    sent = options_of_job(services.ImportJudgments, params)
    done = services.import_judgments(
        benchmark=get_benchmark(params["benchmark"]),
        by=actor_of_job(params),
        progress=progress,
        licence=sent.licence,
        **sent.of_plan(),
    )
    return {
        "judgments": done.judgments,
        "pairs": done.pairs,
        "campaign": done.campaign.pk,
        "notes": list(done.notes),
    }


def gold_imported(job: Job, made: dict[str, Any]) -> Outcome:
    use = "training" if made["use"] == GoldUse.TRAINING else "control"
    verb = "is" if made["gold"] == 1 else "are"
    return Outcome(
        text=f"{counted(made['gold'], 'gold item')} for {use} {verb} stored.",
        url=reverse("gold", args=[job.benchmark_key]),
        link="To the gold items",
    )


@job_kind("import_gold", outcome=gold_imported, retry="gold-upload")
def import_gold_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Import gold items. params: benchmark (key), and the options of `ImportGold`."""
    count = services.import_gold(
        benchmark=get_benchmark(params["benchmark"]),
        by=actor_of_job(params),
        progress=progress,
        **arguments_of(options_of_job(services.ImportGold, params)),
    )
    return {"gold": count, "use": params["use"]}


def campaign_opened(job: Job, made: dict[str, Any]) -> Outcome:
    # Results of older versions lack the number of pairs.
    tasks = counted(made["tasks"], "task") + " to judge"
    if "pairs" in made:
        tasks = tasks_to_judge(made["tasks"], made["pairs"])
    return _to_campaign(made, f"The campaign has {tasks}. Captions with equal texts share a task.")


def _opened(campaign: Campaign) -> dict[str, int]:
    pairs = sum(n_pairs for _, _, n_pairs in campaign.plan)
    return {"campaign": campaign.pk, "tasks": campaign.n_tasks, "pairs": pairs}


@job_kind("open_campaign", outcome=campaign_opened, retry="campaign-open")
def open_campaign_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Open a campaign. params: benchmark (key), policy (options of `Policy`), the other options."""
    campaign = services.open_campaign(
        benchmark=get_benchmark(params["benchmark"]),
        by=actor_of_job(params),
        **arguments_of(build(services.CampaignOptions, {**params, **params["policy"]})),
    )
    return _opened(campaign)


@job_kind("open_confirmation", outcome=campaign_opened)
def open_confirmation_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Open a confirmation. params: benchmark (key), codes (of pairs), seed, name."""
    campaign = services.open_confirmation(
        benchmark=get_benchmark(params["benchmark"]),
        codes=np.array(params["codes"], np.int64),
        seed=params["seed"],
        name=params["name"],
        by=actor_of_job(params),
    )
    return _opened(campaign)


def answers_withdrawn(job: Job, made: dict[str, Any]) -> Outcome:
    item = made.get("item", "pair")
    judgments, tasks = counted(made["judgments"], "answer"), counted(made["tasks"], item)
    text = "{} of <code>{}</code> {} withdrawn. The {} of {} {} recomputed.{}"
    kept = ""
    if made.get("ruled"):
        ruled = counted(made["ruled"], item)
        kept = f" The state of {ruled} does not change, because a lead decides it."
    verbs = ["is" if n == 1 else "are" for n in (made["judgments"], made["tasks"])]
    noun = "state" if made["tasks"] == 1 else "states"
    return _to_campaign(
        made,
        format_html(text, judgments, made["pseudonym"], verbs[0], noun, tasks, verbs[1], kept),
    )


@job_kind("reopen_judgments", outcome=answers_withdrawn)
def reopen_judgments_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Withdraw judgments. params: withdrawal (its primary key)."""
    withdrawals = Withdrawal.objects.select_related("campaign__benchmark", "annotator")
    progress(0, None, "withdrawing judgments")
    done = services.carry_out_withdrawal(
        withdrawal=withdrawals.get(pk=params["withdrawal"]), by=actor_of_job(params)
    )
    return {
        "campaign": done.campaign_id,
        "item": done.campaign.question_kind.words.item,
        "pseudonym": done.annotator.pseudonym,
        "judgments": done.judgments,
        "tasks": done.tasks,
        "ruled": done.ruled,
    }
