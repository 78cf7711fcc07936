"""Pages that invite people, one by one or by a list."""

from __future__ import annotations

import uuid
from typing import cast

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from annotation.forms.invitations import FILE_BYTES, PeopleListForm
from annotation.selectors.people import role_choices
from hearth.accounts import services
from hearth.accounts.forms import InvitationForm
from hearth.accounts.invitation_plans import InvitationPlan, plan_invitations
from hearth.accounts.models import User
from hearth.accounts.policies import can_give, can_see_people, invitations_seen_by
from hearth.accounts.roles import Role
from hearth.accounts.services.bulk_invitations import invite_people
from hearth.requests.files import receives_files
from hearth.shared.errors import Conflict, InvalidInput
from hearth.shared.pages import FORM_METHODS, POST, form_data, form_status, only_for
from hearth.shared.tables import csv_text

INVITATIONS_PER_PAGE = 50
# The name of a value in the session. The value identifies the form that created the last links.
INVITED_BY = "invited-by"


@only_for(can_see_people)
def invitations(request: HttpRequest) -> HttpResponse:
    found = invitations_seen_by(request.user).select_related("made_by", "accepted_by")
    page = Paginator(found, INVITATIONS_PER_PAGE).get_page(request.GET.get("page"))
    rows = [
        (invitation, can_give(request.user, invitation.role, invitation.scope))
        for invitation in page
    ]
    return render(request, "people/invitations.html", {"page": page, "rows": rows})


@only_for(can_see_people, FORM_METHODS)
def invite(request: HttpRequest) -> HttpResponse:
    """Show a form, and then the link, which is never shown again.

    If the same form is sent twice, for example by a reload, only one link is created.
    """
    form = InvitationForm(
        **form_data(request),
        **role_choices(request.user),
        initial={"scope": request.GET.get("scope")},
    )
    once = request.POST.get("once") or uuid.uuid4().hex
    if request.method == "POST" and form.is_valid():
        if request.session.get(INVITED_BY) == once:
            messages.warning(
                request,
                "The link was created and is not shown again. If it is lost, revoke the invitation "
                "and create another one.",
            )
            return redirect("invitations")
        data = form.cleaned_data
        invited = services.invite(
            role=Role(data["role"]),
            scope=data["scope"],
            note=data["note"],
            days=data["days"],
            by=cast(User, request.user),
        )
        request.session[INVITED_BY] = once
        path = reverse("invitation-link", args=[invited.token])
        context = {"invitation": invited.invitation, "link": request.build_absolute_uri(path)}
        return render(request, "people/invited.html", context)
    context = {"form": form, "once": once}
    return render(request, "people/invite.html", context, status=form_status(request))


@only_for(can_see_people, POST)
def invitation_revoke(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(invitations_seen_by(request.user), pk=pk)
    try:
        services.revoke_invitation(invitation=found, by=cast(User, request.user))
        messages.success(request, "The invitation is revoked. Its link no longer works.")
    except Conflict as conflict:
        messages.warning(request, str(conflict))
    return redirect("invitations")


PAGE = "people/invite_list.html"


@receives_files(lambda person, key: can_see_people(person), bytes_max=2 * FILE_BYTES)
@only_for(can_see_people, FORM_METHODS)
def invite_list(request: HttpRequest) -> HttpResponse:
    """Show a form, then the plan of the list, and then the links, which are never shown again."""
    choices = role_choices(request.user)
    initial = {"scope": request.GET.get("scope")}
    form = PeopleListForm(**form_data(request), **choices, initial=initial)
    once = request.POST.get("once") or uuid.uuid4().hex
    context = {"form": form, "once": once, "can_mail": settings.CAN_SEND_EMAIL}
    if request.method != "POST" or not form.is_valid():
        return render(request, PAGE, context, status=form_status(request))
    data = form.cleaned_data
    plan = plan_invitations(
        form.listed,
        by=cast(User, request.user),
        role=Role(data["role"]),
        scope=data["scope"],
        scopes={scope for scope, _ in choices["scopes"]},
    )
    context["plan"] = plan
    if request.POST.get("step") != "invite":
        return render(request, PAGE, context)
    if request.session.get(INVITED_BY) == once:
        messages.warning(request, "These people are invited. The links are not shown again.")
        return redirect("invitations")
    try:
        return _invite(request, plan, data["days"], once)
    except (Conflict, InvalidInput) as error:
        form.add_error("people", str(error))
        return render(request, PAGE, context, status=form_status(request))


def _invite(request: HttpRequest, plan: InvitationPlan, days: int, once: str) -> HttpResponse:
    def link_of(token: str) -> str:
        return request.build_absolute_uri(reverse("invitation-link", args=[token]))

    people = invite_people(plan=plan, by=cast(User, request.user), link_of=link_of, days=days)
    request.session[INVITED_BY] = once
    unsent = [person for person in people if not person.is_mailed]
    rows = [(found.person.email, found.person.name, found.link) for found in unsent]
    context = {
        "people": people,
        "unsent": unsent,
        "links": csv_text(["email", "name", "link"], rows),
        "can_mail": settings.CAN_SEND_EMAIL,
    }
    return render(request, "people/invited_list.html", context)
