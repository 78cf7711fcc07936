"""Opening, changing and deleting campaigns. `evaluation` shows their figures."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation import services
from annotation.enums import CampaignState
from annotation.forms.campaigns import CampaignForm, CampaignStateForm
from annotation.forms.policy import PolicyForm, StudyPolicyForm
from annotation.models import Campaign
from annotation.policies import can_lead_somewhere, check_can_lead
from annotation.questions.kind import kinds
from annotation.selectors.campaigns import get_campaign
from annotation.selectors.tasks import NewCounts, count_new_tasks
from annotation.services.policy import CampaignOptions, PolicyFault
from hearth.accounts.models import User
from hearth.accounts.roles import Role, scopes_of
from hearth.jobs.deletion_page import deletion_page
from hearth.jobs.views import start_job
from hearth.shared.errors import Conflict, InvalidInput
from hearth.shared.options import as_params
from hearth.shared.pages import FORM_METHODS, POST, form_data, form_status, only_for
from pooling.policies import benchmarks_seen_by, can_see_benchmarks

MESSAGES = {
    CampaignState.OPEN: "The campaign is open. Annotators can judge.",
    CampaignState.PAUSED: "The campaign is paused. No annotator can judge.",
    CampaignState.CLOSED: "The campaign is closed permanently.",
}


@only_for(can_see_benchmarks, FORM_METHODS)
def campaign_open(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    check_can_lead(request.user, benchmark)
    names = benchmark.proxies.values_list("name", flat=True)
    proxies = [("", "None"), *((name, name) for name in names)]
    form = CampaignForm(**form_data(request), offered={"proxy": proxies})
    new = count_new_tasks(benchmark)
    has_pools = benchmark.pools.exists()
    if request.method == "POST" and form.is_valid() and _has_pairs(form.options, new, has_pools):
        options = form.options
        policy = as_params(options.policy)
        others = {name: value for name, value in as_params(options).items() if name not in policy}
        return start_job(
            request,
            kind="open_campaign",
            title=f"Open campaign {options.name or 'over new pairs'} of {benchmark.name}",
            params={"benchmark": benchmark.key, **others, "policy": policy},
            benchmark_key=benchmark.key,
        )
    context = {
        "benchmark": benchmark,
        "form": form,
        "new": new,
        "has_pools": has_pools,
    }
    return render(request, "annotation/campaigns/open.html", context, status=form_status(request))


def _has_pairs(options: CampaignOptions, new: NewCounts, has_pools: bool) -> bool:
    """Return whether a campaign can have pairs: new ones, or pooled ones for another question."""
    return new.tasks > 0 or (has_pools and not kinds()[options.question].takes_all)


@only_for(can_see_benchmarks, POST)
def campaign_state(request: HttpRequest, pk: int) -> HttpResponse:
    campaign = get_campaign_seen(request, pk)
    check_can_lead(request.user, campaign.benchmark)
    form = CampaignStateForm(request.POST)
    if not form.is_valid():
        raise InvalidInput("The state must be open, paused or closed.")
    state = CampaignState(form.cleaned_data["state"])
    services.set_campaign_state(campaign=campaign, state=state, by=cast(User, request.user))
    messages.success(request, MESSAGES[state])
    return redirect("campaign", campaign.pk)


@only_for(can_lead_somewhere, FORM_METHODS)
def campaign_policy(request: HttpRequest, pk: int) -> HttpResponse:
    """Change the parts of the policy that can change while the campaign runs."""
    campaign = get_running_campaign(request, pk)
    shared = {**form_data(request), "initial": PolicyForm.values_of(campaign)}
    form = (
        StudyPolicyForm(**shared, words=campaign.question_kind.words)
        if campaign.is_study
        else PolicyForm(**shared)
    )
    if request.method == "POST" and form.is_valid() and _change_policy(request, campaign, form):
        return redirect("campaign", campaign.pk)
    context = {"benchmark": campaign.benchmark, "campaign": campaign, "form": form}
    return render(request, "annotation/campaigns/policy.html", context, status=form_status(request))


def _change_policy(request: HttpRequest, campaign: Campaign, form: PolicyForm) -> bool:
    """Save the form. If that fails, add the errors to the form and return False."""
    by, after = cast(User, request.user), form.cleaned_data["after"]
    try:
        changed = services.change_policy(
            campaign=campaign, changes=form.values(), by=by, after=after
        )
    except PolicyFault as fault:
        form.add_fault(fault)
        return False
    except Conflict as conflict:
        form.add_error(None, str(conflict))
        return False
    if changed:
        messages.success(request, "The changes are saved and apply from now on.")
    else:
        messages.info(request, "Nothing was changed.")
    return True


def get_running_campaign(request: HttpRequest, pk: int) -> Campaign:
    """Return a campaign that the person leads. Raises `Conflict` if its policy cannot change."""
    campaign = get_campaign(pk, scopes_of(request.user, Role.LEAD))
    check_can_lead(request.user, campaign.benchmark)
    if campaign.state == CampaignState.CLOSED or campaign.is_training:
        raise Conflict("A closed campaign and a training queue cannot be changed.")
    return campaign


def get_campaign_seen(request: HttpRequest, pk: int) -> Campaign:
    """Return a campaign whose figures the person may see. Raises `Http404` otherwise."""
    seen = scopes_of(request.user, Role.RESEARCHER)
    campaigns = seen.limit(Campaign.objects.select_related("benchmark"), "benchmark__key")
    return get_object_or_404(campaigns, pk=pk)


@only_for(can_see_benchmarks, FORM_METHODS)
def campaign_delete(request: HttpRequest, pk: int) -> HttpResponse:
    campaign = get_campaign_seen(request, pk)
    check_can_lead(request.user, campaign.benchmark)
    context = {"benchmark": campaign.benchmark, "campaign": campaign}
    return deletion_page(request, campaign, context)
