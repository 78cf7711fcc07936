"""Campaigns by benchmark, by state and by primary key."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from django.db.models import QuerySet

from annotation.enums import CampaignState
from annotation.models import Campaign, JudgmentTask, of_labels
from hearth.accounts.roles import ALL, Scopes
from hearth.shared.bulk import read_columns
from hearth.shared.errors import NotFound
from hearth.shared.paging import PK_MAX
from hearth.shared.prepared import Given, Prepared
from pooling.models import Benchmark
from pooling.selectors.arrays import codes_of

Int64Array = npt.NDArray[np.int64]


def campaigns_of(benchmark: Benchmark) -> QuerySet[Campaign]:
    """Return the judging campaigns of a benchmark, imported ones included."""
    found = Campaign.objects.filter(of_labels(), benchmark=benchmark)
    return found.select_related("pool", "benchmark")


def confirming_campaigns(benchmark: Benchmark) -> list[int]:
    """Return the primary keys of the campaigns that request second labels of positives."""
    found = Campaign.objects.filter(benchmark=benchmark, confirms=True)
    return list(found.values_list("pk", flat=True))


def confirmed_pairs(benchmark: Benchmark) -> Int64Array:
    """Return the codes of the pairs for which a second label was requested, int64 [n]."""
    campaigns = Campaign.objects.filter(benchmark=benchmark, confirms=True)
    tasks = JudgmentTask.objects.filter(campaign__in=campaigns)
    if not campaigns.exists():
        return np.empty(0, np.int64)
    return codes_of(benchmark, *read_columns(tasks, "pair__query_id", "pair__video_id"))


def open_campaigns(scopes: Scopes = ALL) -> QuerySet[Campaign]:
    found = Campaign.objects.filter(state=CampaignState.OPEN).select_related("benchmark")
    return scopes.limit(found, "benchmark__key")


_campaign = Prepared(
    lambda: Campaign.objects.filter(pk=Given("pk")).select_related("benchmark", "guideline")
)


def get_campaign(pk: int, scopes: Scopes = ALL) -> Campaign:
    """Return a campaign. Raises `NotFound`, also for a campaign outside the scopes."""
    campaign: Campaign | None = _campaign.first(pk=pk) if pk <= PK_MAX else None
    if campaign is None or campaign.benchmark.key not in scopes:
        raise NotFound("There is no such campaign.")
    return campaign
