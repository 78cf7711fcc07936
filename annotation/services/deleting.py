"""Deleting campaigns without judgments, and imports of judgments that nothing depends on.

The judgments of an imported file can be deleted with their campaign for a day after the import,
unless a label set was published since. A campaign with other judgments cannot be deleted.
"""

from __future__ import annotations

from django.urls import reverse

from annotation.enums import AnnotationAct
from annotation.models import Campaign
from annotation.policies import check_can_lead
from hearth.jobs.deleting import Target, deletable


@deletable(
    Campaign,
    AnnotationAct.CAMPAIGN_DELETED,
    lambda by, campaign: check_can_lead(by, campaign.benchmark),
    in_job=True,
)
def campaign_to_delete(campaign: Campaign) -> Target:
    return Target(
        noun="import of judgments" if campaign.is_imported else "campaign",
        title=campaign.name,
        before={"name": campaign.name, "sha256": campaign.source_sha256},
        back=reverse("campaign", args=[campaign.pk]),
        done=reverse("benchmark-campaigns", args=[campaign.benchmark.key]),
        notes=("The pool with its pairs stays.",) if campaign.pool_id else (),
    )
