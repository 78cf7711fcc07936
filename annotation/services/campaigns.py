"""Opening, pausing and closing rounds of judging."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import numpy.typing as npt
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from annotation.core.plan import plan_labels, plan_positions
from annotation.enums import CampaignState, Scale, TaskState
from annotation.models import Annotator, Campaign, Guideline, JudgmentTask
from annotation.policies import Person, check_can_lead
from annotation.selectors import judged_pair_ids, latest_guideline
from config.accounts.models import User
from config.shared.bulk import copy_columns, lock_row, long_transaction, read_columns
from config.shared.errors import Conflict, InvalidInput
from config.shared.limits import check_length, check_seed
from pooling.enums import MediaState
from pooling.models import Benchmark, Pair
from pooling.selectors import get_latest_pool, pair_arrays


def open_campaign(
    *,
    benchmark: Benchmark,
    double_share: float = 0.10,
    seed: int = 0,
    scale: Scale = Scale.BINARY,
    labels_max: int = 3,
    name: str = "",
) -> Campaign:
    """Open a round of judging over all pairs of the benchmark that no campaign holds yet.

    So a later run's campaign brings only its own new pairs. Raises `InvalidInput` where there
    is no pool, nothing left to judge, or a share outside 0..1.
    """
    if not 0 <= double_share <= 1:
        raise InvalidInput(f"the doubled share must lie between 0 and 1, not {double_share}")
    if labels_max < 1:
        raise InvalidInput(f"a pair gets at least 1 label, not {labels_max}")
    check_seed(seed)
    check_length(Campaign, "name", name)
    pool = get_latest_pool(benchmark)
    with long_transaction():
        lock_row(benchmark)
        pairs = pair_arrays(benchmark)
        fresh = ~np.isin(pairs.ids, judged_pair_ids(benchmark))
        ids, codes = pairs.ids[fresh], pairs.codes[fresh]
        if not len(ids):
            raise InvalidInput(f"every pair of {benchmark.key} is in a campaign already")
        campaign = Campaign.objects.create(
            pool=pool,
            name=name or f"{benchmark.key} {Campaign.objects.count() + 1}",
            scale=scale,
            double_share=Decimal(str(double_share)),
            seed=seed,
            labels_max=labels_max,
            guideline=latest_guideline(benchmark),
            n_tasks=len(ids),
        )
        labels = plan_labels(codes, double_share, seed)
        broken = np.isin(ids, _pairs_that_cannot_play(benchmark))
        copy_columns(
            JudgmentTask,
            {
                "campaign_id": campaign.pk,
                "pair_id": ids,
                "position": plan_positions(codes, benchmark.n_videos, seed),
                "labels_planned": labels,
                "labels_required": labels,
                "seats_open": np.where(broken, 0, labels),
                "state": _states(broken),
            },
        )
    return campaign


def _states(broken: npt.NDArray[np.bool_]) -> list[str]:
    names = np.array([TaskState.OPEN.value, TaskState.UNPLAYABLE.value])
    states: list[str] = names[broken.astype(int)].tolist()
    return states


def _pairs_that_cannot_play(benchmark: Benchmark) -> npt.NDArray[np.int64]:
    broken = Pair.objects.filter(video__benchmark=benchmark, video__state=MediaState.BROKEN)
    (ids,) = read_columns(broken, "pk")
    return ids


@transaction.atomic
def set_campaign_state(*, campaign: Campaign, state: CampaignState, by: Person) -> Campaign:
    """Pause, reopen or close. A closed campaign stays closed; imported ones always are."""
    check_can_lead(by)
    closed_at = timezone.now() if state == CampaignState.CLOSED else None
    changed = (
        Campaign.objects.filter(pk=campaign.pk)
        .exclude(state=CampaignState.CLOSED)
        .update(state=state, closed_at=closed_at)
    )
    if not changed:
        raise Conflict("The campaign is closed.")
    campaign.refresh_from_db()
    return campaign


@transaction.atomic
def write_guideline(*, benchmark: Benchmark, text: str) -> Guideline:
    """A new version of what annotators are told; open campaigns turn to it."""
    lock_row(benchmark)
    versions = Guideline.objects.filter(benchmark=benchmark)
    version = (versions.aggregate(last=Max("version"))["last"] or 0) + 1
    guideline = Guideline.objects.create(benchmark=benchmark, version=version, text=text)
    Campaign.objects.filter(pool__benchmark=benchmark).exclude(state=CampaignState.CLOSED).update(
        guideline=guideline
    )
    return guideline


def annotator_for(user: User) -> Annotator:
    """The annotator behind a user, made at the first judgment."""
    return Annotator.objects.get_or_create(user=user)[0]
