"""Actions on campaigns. The page of a campaign shows agreement too, so evaluation has it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from annotation import services
from annotation.enums import CampaignState
from annotation.forms import CampaignStateForm, JudgmentsUploadForm
from annotation.models import Campaign
from annotation.policies import check_can_lead
from annotation.policy_forms import CampaignForm
from annotation.selectors import count_new_tasks
from config.accounts.roles import Role, scopes_of
from config.jobs.views import start_job, upload_page
from config.shared.errors import InvalidInput
from config.shared.pages import form_data, form_status, only_for
from pooling.policies import benchmarks_seen_by, can_see_benchmarks

FORM_METHODS = ["GET", "HEAD", "POST"]
SAID = {
    CampaignState.OPEN: "The campaign is open: annotators are handed pairs.",
    CampaignState.PAUSED: "The campaign is paused: nobody is handed a pair.",
    CampaignState.CLOSED: "The campaign is closed for good.",
}


@only_for(can_see_benchmarks)
@require_http_methods(FORM_METHODS)
def campaign_open(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    check_can_lead(request.user, benchmark)
    form = CampaignForm(**form_data(request))
    new = count_new_tasks(benchmark)
    if request.method == "POST" and form.is_valid() and new.tasks:
        given = form.cleaned_data
        return start_job(
            request,
            kind="open_campaign",
            title=f"Open campaign {given['name'] or 'over new pairs'} of {benchmark.name}",
            params={
                "benchmark": benchmark.key,
                "seed": given["seed"],
                "name": given["name"],
                "policy": form.policy_fields(),
            },
            benchmark_key=benchmark.key,
        )
    context = {"benchmark": benchmark, "form": form, "new": new}
    return render(request, "annotation/campaign_open.html", context, status=form_status(request))


@only_for(can_see_benchmarks)
@require_http_methods(FORM_METHODS)
def judgments_upload(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    check_can_lead(request.user, benchmark)
    return upload_page(
        request,
        "annotation/judgments_upload.html",
        {"benchmark": benchmark, "heading": "Import judgments"},
        form=JudgmentsUploadForm(**form_data(request)),
        kind="import_judgments",
        title=f"Import judgments of {benchmark.name}",
        benchmark_key=benchmark.key,
    )


@only_for(can_see_benchmarks)
@require_POST
def campaign_state(request: HttpRequest, pk: int) -> HttpResponse:
    campaign = get_campaign_seen(request, pk)
    check_can_lead(request.user, campaign.benchmark)
    form = CampaignStateForm(request.POST)
    if not form.is_valid():
        raise InvalidInput("A campaign is open, paused or closed.")
    state = CampaignState(form.cleaned_data["state"])
    services.set_campaign_state(campaign=campaign, state=state, by=request.user)
    messages.success(request, SAID[state])
    return redirect("campaign", campaign.pk)


def get_campaign_seen(request: HttpRequest, pk: int) -> Campaign:
    """A campaign whose figures the person may see; another is answered like none."""
    seen = scopes_of(request.user, Role.RESEARCHER)
    campaigns = seen.limit(Campaign.objects.select_related("benchmark"), "benchmark__key")
    return get_object_or_404(campaigns, pk=pk)
