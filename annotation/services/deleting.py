"""Deleting campaigns without judgments, and imports of judgments that nothing depends on."""

from __future__ import annotations

from annotation.enums import AnnotationAct
from annotation.models import Campaign
from annotation.policies import check_can_lead
from hearth.accounts.actors import Actor
from hearth.audit.services import record
from hearth.shared.deleting import Plan, deletion


def delete_campaign(*, campaign: Campaign, by: Actor) -> Plan:
    """Delete a campaign with its tasks and members. Return what was deleted.

    The judgments of an imported file can be deleted with their campaign for a day after the import,
    unless a label set was published since. A campaign with other judgments cannot be deleted.
    Raises `NotPermitted` if `by` does not lead the benchmark, and `Conflict` if there is an
    obstacle to the deletion.
    """
    check_can_lead(by, campaign.benchmark)
    with deletion(campaign, lock=campaign.benchmark) as plan:
        before = {"name": campaign.name, "sha256": campaign.source_sha256}
        act = AnnotationAct.CAMPAIGN_DELETED
        record(act, by=by, on=campaign, before=before, after=plan.facts)
        plan.carry_out()
    return plan
