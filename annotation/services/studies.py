"""Opening studies: campaigns whose tasks show items of their own instead of pairs of a pool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from annotation.enums import AnnotationAct, Joining, Order
from annotation.models import Campaign, JudgmentTask, StudyItem
from annotation.policies import check_can_lead
from annotation.questions.kind import about_texts
from annotation.selectors.guidelines import latest_guideline
from hearth.accounts.actors import Actor, account_of
from hearth.audit.services import record
from hearth.shared.bulk import copy_columns, lock_row, long_transaction
from hearth.shared.limits import check_length, check_seed
from pooling.models import Benchmark, Proxy


def open_study(
    *,
    benchmark: Benchmark,
    by: Actor,
    question: str,
    items: Sequence[tuple[int | None, str]],
    labels_each: int,
    labels_max: int | None = None,
    steps: Sequence[str] = (),
    seed: int = 0,
    name: str = "",
    joining: Joining = Joining.ALL,
    proxy: Proxy | None = None,
    options: dict[str, Any] | None = None,
) -> Campaign:
    """Open a study with a task for each item, in the order in which annotators get them.

    items: the primary key of a video, or None, and a text, or "". labels_each: the number of
    answers to each task, by different people. labels_max: the number at which the answers to a task
    are in conflict, if they must agree. steps: the names of the labels 0 and 1. options: the
    settings that only this kind of question has.
    """
    check_can_lead(by, benchmark)
    check_length(Campaign, "name", name)
    check_seed(seed)
    with long_transaction():
        lock_row(benchmark)
        campaign = Campaign.objects.create(
            benchmark=benchmark,
            question=question,
            options=options or {},
            # Annotators see the name. It must not reveal the proxy.
            name=name or f"{benchmark.key} {Campaign.objects.count() + 1}",
            proxy=proxy,
            seed=seed,
            labels_each=labels_each,
            labels_max=labels_max or labels_each,
            steps=list(steps),
            order=Order.SHUFFLED,
            joining=joining,
            guideline=None if question in about_texts() else latest_guideline(benchmark),
            n_tasks=len(items),
            plan=[[labels_each, len(items), len(items)]],
            created_by=account_of(by),
        )
        shown = StudyItem.objects.bulk_create(
            StudyItem(campaign=campaign, video_id=video, text=text) for video, text in items
        )
        copy_columns(
            JudgmentTask,
            {
                "campaign_id": campaign.pk,
                "item_id": np.array([item.pk for item in shown], np.int64),
                "position": np.arange(len(shown)),
                "labels_planned": labels_each,
                "labels_required": labels_each,
                "seats_open": labels_each,
            },
        )
        record(AnnotationAct.CAMPAIGN_OPENED, by=by, on=campaign, after={"tasks": campaign.n_tasks})
    return campaign
