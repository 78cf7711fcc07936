"""Second labels for pairs that have a single label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from django.db.models import F, Q, Value
from django.db.models.functions import Coalesce

from annotation.core.plan import count_plan, plan_positions
from annotation.enums import AnnotationAct, CampaignState, TaskState
from annotation.models import Campaign, JudgmentTask, of_labels
from annotation.policies import check_can_lead
from annotation.selectors.guidelines import latest_guideline
from annotation.selectors.tasks import OWN_CAPTION
from hearth.accounts.actors import Actor, account_of
from hearth.audit.services import record
from hearth.shared.bulk import Among, copy_columns, lock_row, long_transaction, read_columns
from hearth.shared.errors import InvalidInput
from hearth.shared.limits import check_length, check_seed
from pooling.core.equal_texts import text_pair_codes
from pooling.enums import MediaState
from pooling.models import Benchmark
from pooling.selectors.arrays import codes_of
from pooling.selectors.captions import first_equal_captions
from pooling.selectors.pools import get_latest_pool

Int64Array = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class _Single:
    """Columns, int64 [n] each, of the tasks that have one label and contain a pair to confirm.

    keys: the text pair of each task, or its pair if the label applies to one caption.
    """

    keys: Int64Array
    pair_ids: Int64Array
    units: Int64Array
    n_pairs: Int64Array
    labels: Int64Array
    campaigns: Int64Array


def open_confirmation(
    *, benchmark: Benchmark, codes: Int64Array, by: Actor, seed: int = 0, name: str = ""
) -> Campaign:
    """Open a campaign that requests a second label for positives that have one label.

    codes: int64 [n], the pairs to confirm, such as sole positives. Pairs with more than one label,
    without a relevant label, or in another confirmation are left out. The existing label of a pair
    counts together with the new one. If the two differ, a third annotator judges the pair. No
    annotator gets a pair that they have judged before.

    Raises `InvalidInput` if no pair is left, or if the pairs were judged on different scales.
    """
    check_can_lead(by, benchmark)
    check_seed(seed)
    check_length(Campaign, "name", name)
    pool = get_latest_pool(benchmark)
    with long_transaction():
        lock_row(benchmark)
        found = _single_labels(benchmark, codes)
        if not len(found.keys):
            raise InvalidInput(
                "None of these pairs can be confirmed. A pair must have exactly one label, which "
                "must be relevant, and must not be in another confirmation."
            )
        campaign = Campaign.objects.create(
            benchmark=benchmark,
            pool=pool,
            # Annotators see the name. It must not reveal that these pairs are labelled relevant.
            name=name or f"{benchmark.key} {Campaign.objects.count() + 1}",
            seed=seed,
            guideline=latest_guideline(benchmark),
            n_tasks=len(found.keys),
            plan=count_plan([(np.ones_like(found.n_pairs), found.n_pairs)]),
            confirms=True,
            created_by=account_of(by),
            **_scale_of(benchmark, found.campaigns),
        )
        copy_columns(
            JudgmentTask,
            {
                "campaign_id": campaign.pk,
                "pair_id": found.pair_ids,
                "unit": np.ma.masked_equal(found.units, OWN_CAPTION),
                "n_pairs": found.n_pairs,
                "carried": found.labels,
                "position": plan_positions(found.keys, benchmark.pair_space, seed),
            },
        )
        record(AnnotationAct.CAMPAIGN_OPENED, by=by, on=campaign, after={"tasks": campaign.n_tasks})
    return campaign


def _single_labels(benchmark: Benchmark, codes: Int64Array) -> _Single:
    """Return the tasks that contain one of the pairs and whose only label is relevant.

    Tasks whose video cannot be played or whose pair has further labels are left out. The others are
    in ascending order of `_Single.keys`.
    """
    tasks = JudgmentTask.objects.filter(
        of_labels("campaign__"),
        campaign__benchmark=benchmark,
        campaign__confirms=False,
        state=TaskState.RESOLVED,
        labels_live=1,
        label__gte=F("campaign__threshold"),
    ).exclude(pair__video__state=MediaState.BROKEN)
    queries, videos, *columns = read_columns(
        tasks.annotate(shared=Coalesce("unit", Value(OWN_CAPTION))),
        "pair__query_id",
        "pair__video_id",
        "pair_id",
        "shared",
        "n_pairs",
        "label",
        "campaign_id",
    )
    pair_ids, units = columns[:2]
    own = codes_of(benchmark, queries, videos)
    wanted_units = text_pair_codes(codes, first_equal_captions(benchmark), benchmark.pair_space)
    is_shared = units != OWN_CAPTION
    is_wanted = np.where(is_shared, np.isin(units, wanted_units), np.isin(own, codes))
    is_wanted[is_wanted] = ~np.isin(pair_ids[is_wanted], _with_further_labels(pair_ids[is_wanted]))
    keys = np.where(is_shared, units, own)
    order = np.flatnonzero(is_wanted)[np.argsort(keys[is_wanted], kind="stable")]
    return _Single(keys[order], *(column[order] for column in columns))


def _with_further_labels(pair_ids: Int64Array) -> Int64Array:
    """Return the pairs that have labels in several campaigns or are in a confirmation.

    A confirmation does not count if its campaign was closed without a label of the pair.
    """
    is_in_use = ~Q(campaign__state=CampaignState.CLOSED) | Q(labels_live__gt=0)
    tasks = JudgmentTask.objects.filter(Among("pair_id", pair_ids))
    (labelled,) = read_columns(tasks.filter(labels_live__gt=0), "pair_id")
    (confirmed,) = read_columns(tasks.filter(is_in_use, campaign__confirms=True), "pair_id")
    ordered = np.sort(labelled)
    return np.concatenate([ordered[1:][ordered[1:] == ordered[:-1]], confirmed])


def _scale_of(benchmark: Benchmark, campaigns: Int64Array) -> dict[str, object]:
    """Return the common scale of these campaigns, as fields of a campaign."""
    fields = ("scale", "steps", "threshold")
    found = Campaign.objects.filter(benchmark=benchmark, pk__in=np.unique(campaigns).tolist())
    scales = list(found.values(*fields))
    if any(scale != scales[0] for scale in scales):
        raise InvalidInput(
            "These pairs were judged on different scales, so one campaign cannot contain them."
        )
    return dict(scales[0])
