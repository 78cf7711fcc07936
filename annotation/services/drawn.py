"""Campaigns over the pairs of a drawn sample, some of which wait until others are judged."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from django.db.models import F

from annotation.core.plan import count_plan
from annotation.enums import AnnotationAct, TaskState
from annotation.models import Campaign, JudgmentTask
from annotation.policies import check_can_lead
from annotation.selectors.guidelines import latest_guideline
from annotation.selectors.tasks import pairs_per_unit
from hearth.accounts.actors import Actor, account_of
from hearth.audit.services import record
from hearth.shared.bulk import copy_columns
from hearth.shared.limits import check_length, check_seed
from pooling.core.equal_texts import text_pair_codes
from pooling.enums import EqualTexts, PoolStrategy
from pooling.models import Benchmark
from pooling.selectors.captions import first_equal_captions
from pooling.services.pools import add_judged_pairs

Int64Array = npt.NDArray[np.int64]


def open_drawn(
    *,
    benchmark: Benchmark,
    codes: Int64Array,
    positions: Int64Array,
    waits: npt.NDArray[np.bool_],
    by: Actor,
    seed: int = 0,
    name: str = "",
) -> Campaign:
    """Open a campaign over these pairs. The caller's transaction stores the draw as well.

    codes: int64 [n], ascending. positions: int64 [n], the order in which annotators get the pairs.
    waits: bool [n], the pairs that no annotator gets before `release_waiting`. Captions with equal
    texts share a task, with the lowest position of its pairs.
    """
    check_can_lead(by, benchmark)
    check_seed(seed)
    check_length(Campaign, "name", name)
    pool, pair_ids = add_judged_pairs(
        benchmark=benchmark, codes=codes, by=by, strategy=PoolStrategy.DRAWN
    )
    units = text_pair_codes(codes, first_equal_captions(benchmark), benchmark.pair_space)
    order = np.lexsort((positions, units))
    firsts = order[np.flatnonzero(np.diff(units[order], prepend=-1))]
    is_shared = benchmark.equal_texts != EqualTexts.OFF
    n_pairs = pairs_per_unit(benchmark, units[firsts]) if is_shared else np.ones_like(firsts)
    campaign = Campaign.objects.create(
        benchmark=benchmark,
        pool=pool,
        # Annotators see the name. It must not reveal the run.
        name=name or f"{benchmark.key} {Campaign.objects.count() + 1}",
        seed=seed,
        guideline=latest_guideline(benchmark),
        n_tasks=len(firsts),
        plan=count_plan([(np.ones_like(n_pairs), n_pairs)]),
        created_by=account_of(by),
    )
    copy_columns(
        JudgmentTask,
        {
            "campaign_id": campaign.pk,
            "pair_id": pair_ids[firsts],
            "unit": units[firsts] if is_shared else None,
            "n_pairs": n_pairs,
            "position": positions[firsts],
            "seats_open": np.where(waits[firsts], 0, 1),
        },
    )
    record(AnnotationAct.CAMPAIGN_OPENED, by=by, on=campaign, after={"tasks": campaign.n_tasks})
    return campaign


def release_waiting(*, campaign: Campaign, tasks: list[int]) -> int:
    """Let annotators get tasks that waited. Return their number. Others are left as they are."""
    waiting = JudgmentTask.objects.filter(
        campaign=campaign, pk__in=tasks, state=TaskState.OPEN, seats_open=0, labels_live=0
    )
    return waiting.filter(assignments=None).update(seats_open=F("labels_required"))
