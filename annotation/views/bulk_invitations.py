"""The page that invites several people at once."""

from __future__ import annotations

import uuid
from typing import cast

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from annotation.forms.invitations import FILE_BYTES, PeopleListForm
from annotation.selectors.people import role_choices
from annotation.views.invitations import INVITED_BY
from hearth.accounts.invitation_plans import InvitationPlan, plan_invitations
from hearth.accounts.models import User
from hearth.accounts.policies import can_see_people
from hearth.accounts.roles import Role
from hearth.accounts.services.bulk_invitations import invite_people
from hearth.requests.files import receives_files
from hearth.shared.errors import Conflict, InvalidInput
from hearth.shared.pages import FORM_METHODS, form_data, form_status, only_for
from hearth.shared.tables import csv_text

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
