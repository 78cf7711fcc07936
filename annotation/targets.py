"""The objects of this app that a person can delete, for pages, the API and jobs."""

from __future__ import annotations

from django.urls import reverse

from annotation import services
from annotation.models import Campaign
from hearth.jobs.deleting import Target


def target_of_campaign(campaign: Campaign) -> Target:
    key = campaign.benchmark.key
    notes = ("The pool with its pairs stays.",) if campaign.pool_id else ()
    return Target(
        instance=campaign,
        noun="import of judgments" if campaign.is_imported else "campaign",
        title=campaign.name,
        delete=lambda by: services.delete_campaign(campaign=campaign, by=by),
        kind="delete_campaign",
        params={"campaign": campaign.pk},
        benchmark_key=key,
        back=reverse("campaign", args=[campaign.pk]),
        done=reverse("benchmark-campaigns", args=[key]),
        notes=notes,
    )
