"""What leads change in a campaign that runs: its policy, who judges, what somebody judged."""

from __future__ import annotations

from contextlib import suppress
from typing import cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from annotation import services
from annotation.enums import CampaignState, Joining, JudgmentState, MembershipState, TaskState
from annotation.forms import ASKED_ABOUT, MembersForm, ReopenForm
from annotation.models import Annotator, Campaign, Judgment, Membership
from annotation.policies import can_lead_somewhere
from annotation.policy_forms import PolicyForm
from annotation.selectors import get_campaign
from annotation.services.campaigns import PolicyFault
from config.accounts.models import User
from config.accounts.roles import Role, Scopes, scopes_of
from config.accounts.selectors import people_with
from config.jobs.views import start_job
from config.shared.errors import Conflict
from config.shared.pages import form_data, form_status, only_for

FORM_METHODS = ["GET", "HEAD", "POST"]


@only_for(can_lead_somewhere)
@require_http_methods(FORM_METHODS)
def campaign_policy(request: HttpRequest, pk: int) -> HttpResponse:
    """The parts of the policy that may change; the plan is told, and stays."""
    campaign = _get_running(request, pk)
    form = PolicyForm(**form_data(request), initial=PolicyForm.values_of(campaign))
    if request.method == "POST" and form.is_valid() and _change_policy(request, campaign, form):
        return redirect("campaign", campaign.pk)
    context = {"benchmark": campaign.benchmark, "campaign": campaign, "form": form}
    return render(request, "annotation/campaign_policy.html", context, status=form_status(request))


def _change_policy(request: HttpRequest, campaign: Campaign, form: PolicyForm) -> bool:
    """Whether it could be done; otherwise the form says why not, and keeps what was given."""
    given, by = form.cleaned_data, cast(User, request.user)
    changes = form.policy_fields() | {"name": given["name"]}
    try:
        changed = services.change_policy(
            campaign=campaign, changes=changes, by=by, after=given["after"]
        )
    except PolicyFault as fault:
        form.add_fault(fault)
        return False
    except Conflict as conflict:
        form.add_error(None, str(conflict))
        return False
    if changed:
        messages.success(request, "The changes hold from now on.")
    else:
        messages.info(request, "Nothing was different.")
    return True


@only_for(can_lead_somewhere)
@require_http_methods(FORM_METHODS)
def campaign_members(request: HttpRequest, pk: int) -> HttpResponse:
    """Whom a lead lets in, where not everybody may judge."""
    campaign = _get_running(request, pk)
    if campaign.joining != Joining.CHOSEN:
        return _everybody_may_judge(request, campaign)
    others = _annotators_outside(campaign)
    form = MembersForm(
        **form_data(request), people=[(one.pk, _name_of(one)) for one in others.values()]
    )
    if request.method == "POST" and form.is_valid():
        chosen = [services.annotator_for(others[key]) for key in form.cleaned_data["people"]]
        count = services.choose_members(
            campaign=campaign, annotators=chosen, by=cast(User, request.user)
        )
        messages.success(request, f"{count} more may judge here.")
        return redirect("campaign-people", campaign.pk)
    context = {
        "benchmark": campaign.benchmark,
        "campaign": campaign,
        "form": form,
        "others": len(others),
        "inside": campaign.members.count(),
    }
    return render(request, "annotation/campaign_members.html", context, status=form_status(request))


def _everybody_may_judge(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """The page for who comes by an old link: there is nobody to choose."""
    messages.info(request, "Every annotator of the benchmark may judge in this campaign.")
    context = {
        "benchmark": campaign.benchmark,
        "campaign": campaign,
        "others": 0,
        "inside": campaign.members.count(),
    }
    return render(request, "annotation/campaign_members.html", context, status=409)


@only_for(can_lead_somewhere)
@require_http_methods(FORM_METHODS)
def judgments_reopen(request: HttpRequest, pk: int, pseudonym: str) -> HttpResponse:
    """Take back what a person judged: what that means, and then the job that does it."""
    campaign = get_campaign(pk, scopes_of(request.user, Role.LEAD))
    person = get_object_or_404(Annotator.objects.select_related("user"), pseudonym=pseudonym)
    counted = Judgment.objects.filter(
        annotator=person, task__campaign=campaign, state=JudgmentState.LIVE
    )
    membership = Membership.objects.filter(campaign=campaign, annotator=person).first()
    form = ReopenForm(**form_data(request))
    if request.method == "POST" and form.is_valid():
        try:
            return _reopen(request, campaign, person, membership, form)
        except Conflict:
            if form.cleaned_data["since"] is None:
                raise
            form.add_error("since", "Nothing that they judged from this moment on counts here.")
    context = {
        "benchmark": campaign.benchmark,
        "campaign": campaign,
        "person": person,
        "form": form,
        "judgments": counted.count(),
        "ruled": counted.filter(task__state=TaskState.ADJUDICATED).count(),
        "may_pause": _judges(membership),
    }
    return render(request, "annotation/judgments_reopen.html", context, status=form_status(request))


def _reopen(
    request: HttpRequest,
    campaign: Campaign,
    person: Annotator,
    membership: Membership | None,
    form: ReopenForm,
) -> HttpResponse:
    by, given = cast(User, request.user), form.cleaned_data
    withdrawal = services.ask_withdrawal(
        campaign=campaign, annotator=person, by=by, since=given["since"], reason=given["reason"]
    )
    # Before the answers go, so that no more of them come meanwhile.
    if given["pause"] and membership is not None and _judges(membership):
        # Another lead may have paused them at this moment.
        with suppress(Conflict):
            services.pause_member(membership=membership, reason=ASKED_ABOUT, by=by)
    return start_job(
        request,
        kind="reopen_judgments",
        # Researchers see the jobs, too, and know nobody by name.
        title=f"Take back answers of {person.pseudonym} in {campaign.name}",
        params={"withdrawal": withdrawal.pk},
        benchmark_key=campaign.benchmark.key,
    )


def _judges(membership: Membership | None) -> bool:
    return membership is not None and membership.state == MembershipState.ACTIVE


def _get_running(request: HttpRequest, pk: int) -> Campaign:
    campaign = get_campaign(pk, scopes_of(request.user, Role.LEAD))
    if campaign.state == CampaignState.CLOSED or campaign.is_training:
        raise Conflict("Only a round of judging that is not closed can be changed.")
    return campaign


def _annotators_outside(campaign: Campaign) -> dict[int, User]:
    """Who holds the role of annotator for the benchmark and is not in the campaign, by key."""
    annotators = people_with(Role.ANNOTATOR, Scopes(keys=frozenset({campaign.benchmark.key})))
    inside = campaign.members.values("annotator__user")
    found = annotators.filter(is_active=True).exclude(pk__in=inside).distinct()
    return {one.pk: one for one in found.select_related("annotator").order_by("username")}


def _name_of(user: User) -> str:
    name = user.get_full_name()
    return f"{name} ({user.username})" if name else user.username
