"""Stored figures of large campaigns, which pages could not compute in time."""

from __future__ import annotations

from django.utils import timezone

from annotation.models import Campaign
from evaluation.models import CampaignReport
from evaluation.monitor.selectors import campaigns_to_measure, count_answers, measure_campaign
from evaluation.release.policies import check_can_evaluate
from hearth.accounts.actors import OPERATOR, Actor
from hearth.shared.bulk import snapshot
from hearth.shared.progress import Progress, no_progress
from hearth.shared.version import code_version


def compute_figures(
    *, campaign: Campaign, by: Actor, progress: Progress = no_progress
) -> CampaignReport:
    """Compute the figures of a campaign and replace its stored figures.

    Raises `NotPermitted` if `by` may not compute figures.
    """
    check_can_evaluate(by, campaign.benchmark)
    progress(0, 1, "reading answers")
    # The answers are counted first. Answers that arrive during the computation then make the
    # figures outdated.
    answers = count_answers(campaign)
    # In a snapshot, database queries have no time limit. The limit of requests is too short for a
    # large campaign.
    with snapshot():
        result = measure_campaign(campaign)
    report, _ = CampaignReport.objects.update_or_create(
        campaign=campaign,
        defaults={
            "result": result,
            "answers": answers,
            "code_version": code_version(),
            "created_at": timezone.now(),
        },
    )
    progress(1, 1, "reading answers")
    return report


def renew_figures() -> int:
    """Compute missing and outdated figures of large campaigns. Return the number of campaigns."""
    campaigns = campaigns_to_measure()
    for campaign in campaigns:
        compute_figures(campaign=campaign, by=OPERATOR)
    return len(campaigns)
