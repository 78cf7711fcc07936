"""The page that deletes a campaign."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from annotation.policies import check_can_lead
from annotation.views.campaigns import get_campaign_seen
from hearth.jobs.deletion_page import deletion_page
from hearth.shared.pages import FORM_METHODS, only_for
from pooling.policies import can_see_benchmarks


@only_for(can_see_benchmarks, FORM_METHODS)
def campaign_delete(request: HttpRequest, pk: int) -> HttpResponse:
    campaign = get_campaign_seen(request, pk)
    check_can_lead(request.user, campaign.benchmark)
    context = {"benchmark": campaign.benchmark, "campaign": campaign}
    return deletion_page(request, campaign, context)
