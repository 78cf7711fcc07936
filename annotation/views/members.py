"""The members of a campaign."""

from __future__ import annotations

from typing import Any, cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation import services
from annotation.enums import Joining
from annotation.forms.members import FILE_BYTES, MemberForm, MembersForm
from annotation.models import Annotator, Campaign, Membership
from annotation.policies import can_lead_somewhere
from annotation.selectors.campaigns import get_campaign
from annotation.selectors.training import trainees
from annotation.services.named_members import Added, NamedMember, add_named_members
from annotation.views.campaigns import get_running_campaign
from hearth.accounts.models import User
from hearth.accounts.policies import people_seen_by
from hearth.accounts.roles import Role, Scopes, scopes_of
from hearth.accounts.selectors import people_with
from hearth.requests.files import receives_files
from hearth.shared.errors import Conflict, InvalidInput
from hearth.shared.pages import FORM_METHODS, POST, form_data, form_status, only_for
from hearth.shared.words import counted


@receives_files(lambda person, key: can_lead_somewhere(person), bytes_max=2 * FILE_BYTES)
@only_for(can_lead_somewhere, FORM_METHODS)
def campaign_members(request: HttpRequest, pk: int) -> HttpResponse:
    """Add annotators to a campaign in which only added annotators may judge."""
    campaign = get_running_campaign(request, pk)
    if campaign.joining != Joining.ADDED:
        return _all_may_judge(request, campaign)
    others = _annotators_outside(campaign)
    form = MembersForm(
        **form_data(request), people=[(other.pk, _name_of(other)) for other in others.values()]
    )
    if request.method == "POST" and form.is_valid():
        names = [others[key].username for key in form.cleaned_data["people"]]
        names += form.cleaned_data["names"] + form.cleaned_data["file"]
        results = add_named_members(campaign=campaign, names=names, by=cast(User, request.user))
        count = sum(result.result == Added.ADDED for result in results)
        if count == len(results):
            messages.success(request, f"{counted(count, 'annotator')} added.")
            return redirect("campaign-people", campaign.pk)
        return _show_results(request, campaign, results)
    context = {
        "benchmark": campaign.benchmark,
        "campaign": campaign,
        "form": form,
        "others": len(others),
        "inside": campaign.members.count(),
    }
    return render(request, "annotation/members/members.html", context, status=form_status(request))


def _show_results(
    request: HttpRequest, campaign: Campaign, results: list[NamedMember]
) -> HttpResponse:
    """Show the result for each name, and the form to add more annotators."""
    others = _annotators_outside(campaign)
    context = {
        "benchmark": campaign.benchmark,
        "campaign": campaign,
        "form": MembersForm(people=[(other.pk, _name_of(other)) for other in others.values()]),
        "results": results,
        "others": len(others),
        "inside": campaign.members.count(),
    }
    return render(request, "annotation/members/members.html", context)


def _all_may_judge(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Return the page for a campaign in which all annotators may judge, so none need be added."""
    context = {"benchmark": campaign.benchmark, "campaign": campaign, "is_for_all": True}
    return render(request, "annotation/members/members.html", context, status=409)


@only_for(can_lead_somewhere, POST)
def member(request: HttpRequest, pk: int, annotator: int) -> HttpResponse:
    """Admit, pause or resume a member."""
    campaign = get_campaign(pk, scopes_of(request.user, Role.LEAD))
    seen = Annotator.objects.filter(user__in=people_seen_by(request.user))
    person = get_object_or_404(seen, pk=annotator)
    form = MemberForm(request.POST)
    if not form.is_valid():
        raise InvalidInput("The action must be let-in, pause with a reason, or resume.")
    try:
        messages.success(request, _change_membership(campaign, person, form.cleaned_data, request))
    except (InvalidInput, Conflict) as refused:
        messages.warning(request, f"Nothing was changed. {refused}")
    if request.POST.get("back") == "campaign":
        return redirect("campaign-person", campaign.pk, person.pseudonym)
    if trainees(campaign.benchmark, only=person.pk):
        return redirect("training-person", campaign.benchmark.key, person.pk)
    return redirect("person", person.user_id)


def _change_membership(
    campaign: Campaign, person: Annotator, data: dict[str, Any], request: HttpRequest
) -> str:
    """Carry out the action of a valid form. Return a message."""
    by = cast(User, request.user)
    if data["action"] == MemberForm.ADMIT:
        services.admit_annotator(campaign=campaign, annotator=person, by=by)
        return f"The annotator is admitted to {campaign.name}."
    memberships = Membership.objects.select_related("campaign__benchmark")
    membership = get_object_or_404(memberships, campaign=campaign, annotator=person)
    if data["action"] == MemberForm.PAUSE:
        services.pause_member(membership=membership, reason=data["reason"], by=by)
        return f"The annotator is paused in {campaign.name} and sees your reason there."
    services.resume_member(membership=membership, by=by)
    return f"The annotator may judge in {campaign.name} again. Earlier control answers are ignored."


def _annotators_outside(campaign: Campaign) -> dict[int, User]:
    """Return the annotators of the benchmark who are not members, by primary key."""
    annotators = people_with(Role.ANNOTATOR, Scopes(keys=frozenset({campaign.benchmark.key})))
    inside = campaign.members.values("annotator__user")
    outside = annotators.filter(is_active=True).exclude(pk__in=inside).distinct()
    return {
        person.pk: person for person in outside.select_related("annotator").order_by("username")
    }


def _name_of(user: User) -> str:
    name = user.get_full_name()
    return f"{name} ({user.username})" if name else user.username
