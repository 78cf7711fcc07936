"""Celery's side of the annotation app."""

from __future__ import annotations

from typing import Any

import numpy as np
from celery import shared_task

from annotation import services
from annotation.enums import GoldUse, Scale
from annotation.models import Withdrawal
from config.accounts.models import User
from config.jobs.registry import job_kind
from config.shared.progress import Progress
from config.shared.uploads import uploaded_file
from pooling.selectors import get_benchmark


@shared_task
def expire_leases_task() -> None:
    services.expire_leases()
    services.settle_lately_closed()


@job_kind("import_judgments")
def import_judgments_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """params: benchmark (key), upload and source (see `uploaded_file`)."""
    with uploaded_file(params["upload"]) as path:
        done = services.import_judgments(
            benchmark=get_benchmark(params["benchmark"]),
            path=path,
            source=params["source"],
            scale=Scale(params.get("scale", Scale.BINARY)),
            pool_equal=params.get("pool_equal", False),
            progress=progress,
        )
    return {"judgments": done.judgments, "pairs": done.pairs, "campaign": done.campaign.pk}


@job_kind("import_gold")
def import_gold_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """params: benchmark (key), use, upload and source (see `uploaded_file`), by (a user's key)."""
    with uploaded_file(params["upload"]) as path:
        count = services.import_gold(
            benchmark=get_benchmark(params["benchmark"]),
            path=path,
            use=GoldUse(params["use"]),
            source=params["source"],
            by=User.objects.get(pk=params["by"]),
            progress=progress,
        )
    return {"gold": count, "use": params["use"]}


@job_kind("open_campaign")
def open_campaign_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """params: benchmark (key), seed, name, policy (fields of `Policy`)."""
    campaign = services.open_campaign(
        benchmark=get_benchmark(params["benchmark"]),
        seed=params["seed"],
        name=params["name"],
        policy=services.Policy(**params["policy"]),
    )
    return {"campaign": campaign.pk, "tasks": campaign.n_tasks}


@job_kind("open_confirmation")
def open_confirmation_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """params: benchmark (key), codes (of pairs), seed, name."""
    campaign = services.open_confirmation(
        benchmark=get_benchmark(params["benchmark"]),
        codes=np.array(params["codes"], np.int64),
        seed=params["seed"],
        name=params["name"],
    )
    return {"campaign": campaign.pk, "tasks": campaign.n_tasks}


@job_kind("reopen_judgments")
def reopen_judgments_job(params: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """params: withdrawal (a key)."""
    withdrawals = Withdrawal.objects.select_related("campaign__benchmark", "annotator")
    progress(0, None, "taking back answers")
    done = services.carry_out_withdrawal(withdrawal=withdrawals.get(pk=params["withdrawal"]))
    return {
        "campaign": done.campaign_id,
        "pseudonym": done.annotator.pseudonym,
        "judgments": done.judgments,
        "tasks": done.tasks,
        "ruled": done.ruled,
    }
