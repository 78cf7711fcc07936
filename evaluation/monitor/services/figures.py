"""The figures of large campaigns, kept so that pages need not compute them."""

from __future__ import annotations

from django.utils import timezone

from annotation.models import Campaign
from config.shared.progress import Progress, no_progress
from config.shared.version import code_version
from evaluation.models import CampaignReport
from evaluation.monitor.selectors import answers_given, campaigns_to_measure, measure_campaign


def compute_figures(*, campaign: Campaign, progress: Progress = no_progress) -> CampaignReport:
    """Measure a campaign and keep the figures in place of earlier ones."""
    progress(0, 1, "reading answers")
    # Before, so that what comes meanwhile makes them out of date.
    answers = answers_given(campaign)
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
    """Measure each large campaign that has moved since it was measured; returns how many."""
    campaigns = campaigns_to_measure()
    for campaign in campaigns:
        compute_figures(campaign=campaign)
    return len(campaigns)
