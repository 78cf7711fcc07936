"""Pausing, reopening, closing and deleting campaigns."""

from __future__ import annotations

import datetime

from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from annotation.enums import AnnotationAct, CampaignState, TaskState
from annotation.models import HAS_BEGUN, Campaign, CampaignChange, JudgmentTask
from annotation.policies import check_can_lead
from annotation.services.slots import lock_and_read_tasks, update_task_states
from hearth.accounts.models import User
from hearth.audit.services import record
from hearth.jobs.deleting import Target, deletable
from hearth.shared.bulk import lock_row, long_transaction
from hearth.shared.errors import Conflict
from hearth.webhooks.models import Event
from hearth.webhooks.services import announce

# For this time after closing, `expire_leases_task` looks for answers that were being stored when
# the campaign was closed. The time is longer than a lease.
RECENTLY = datetime.timedelta(hours=2)


def set_campaign_state(*, campaign: Campaign, state: CampaignState, by: User) -> Campaign:
    """Pause, reopen or close a campaign. A closed campaign stays closed.

    After closing, the outcome of each pending pair with a label is computed from the labels that it
    has, because no further label will arrive. Raises `Conflict` if the campaign is closed.
    """
    check_can_lead(by, campaign.benchmark)
    with transaction.atomic():
        lock_row(campaign)
        campaign.refresh_from_db()
        if campaign.state == CampaignState.CLOSED:
            raise Conflict("The campaign is closed.")
        if campaign.state != state:
            changes = {"state": [campaign.state, state]}
            CampaignChange.objects.create(campaign=campaign, lead=by, changes=changes)
            before, after = {"state": campaign.state}, {"state": state}
            record(AnnotationAct.CAMPAIGN_STATE_SET, by=by, on=campaign, before=before, after=after)
        campaign.state = state
        campaign.closed_at = timezone.now() if state == CampaignState.CLOSED else None
        campaign.save(update_fields=["state", "closed_at"])
        if state == CampaignState.CLOSED:
            facts = {"campaign": campaign.pk, "name": campaign.name}
            announce(Event.CAMPAIGN_CLOSED, campaign.benchmark.key, facts)
    # The update runs after the commit. It waits for answers that are being stored, because these
    # lock their tasks.
    if state == CampaignState.CLOSED:
        update_closed_campaign(campaign)
    return campaign


def update_closed_campaign(campaign: Campaign) -> int:
    """Compute the outcomes of the open tasks of a closed campaign from the labels that they have.

    Return the number of these tasks. A second call changes nothing.
    """
    with long_transaction():
        # The label of an open task is always None. The condition makes the index `task_begun`
        # usable.
        unsettled = JudgmentTask.objects.filter(
            HAS_BEGUN, campaign=campaign, label=None, state=TaskState.OPEN, labels_live__gt=0
        )
        tasks = lock_and_read_tasks(unsettled)
        update_task_states(campaign, tasks)
    return len(tasks.ids)


def update_recently_closed() -> int:
    """Compute the outcomes of tasks that were answered while their campaign was being closed.

    The outcome of each open task with a label is computed in all recently closed campaigns.
    """
    since = timezone.now() - RECENTLY
    closed = Campaign.objects.filter(
        state=CampaignState.CLOSED, closed_at__gte=since, source_sha256=""
    )
    return sum(update_closed_campaign(campaign) for campaign in closed)


@deletable(
    Campaign,
    AnnotationAct.CAMPAIGN_DELETED,
    lambda by, campaign: check_can_lead(by, campaign.benchmark),
    in_job=True,
)
def campaign_to_delete(campaign: Campaign) -> Target:
    """Describe a campaign without judgments, or an import of judgments.

    The judgments of an imported file can be deleted with their campaign for a day after the import,
    unless a label set was published since.
    """
    return Target(
        noun="import of judgments" if campaign.is_imported else "campaign",
        title=campaign.name,
        before={"name": campaign.name, "sha256": campaign.source_sha256},
        back=reverse("campaign", args=[campaign.pk]),
        done=reverse("benchmark-campaigns", args=[campaign.benchmark.key]),
        notes=("The pool with its pairs stays.",) if campaign.pool_id else (),
    )
