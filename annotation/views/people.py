"""Pages about people and their roles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from django.contrib import messages
from django.db.models import Count, Q
from django.db.models.expressions import Combinable
from django.db.models.functions import Lower
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.models import Membership, of_labels
from annotation.selectors.people import judged_pairs, role_choices, search_people
from hearth.accounts import services
from hearth.accounts.forms import EraseForm, PersonStateForm, RoleForm
from hearth.accounts.models import Invitation, PersonState, User
from hearth.accounts.policies import (
    can_administer,
    can_deactivate,
    can_give,
    can_see_people,
    lacks_second_factor,
    people_seen_by,
)
from hearth.accounts.roles import Role, Scopes, scopes_of
from hearth.accounts.selectors import has_second_factor, roles_shown
from hearth.shared.errors import Conflict, InvalidInput
from hearth.shared.filters import filters, requested_filter
from hearth.shared.pages import FORM_METHODS, POST, form_data, form_status, only_for
from hearth.shared.tables import Column, Order, page_of

SEARCH_LENGTH = 100
IS_IN = {
    PersonState.ACTIVE: Q(is_active=True),
    PersonState.DEACTIVATED: Q(is_active=False, erased_at=None),
    PersonState.ERASED: Q(erased_at__isnull=False),
}
COLUMNS = [
    Column("user", "User name"),
    Column("name", "Name"),
    Column("pseudonym", "Pseudonym"),
    Column("roles", "Roles", is_sortable=False),
    Column("state", "State", is_sortable=False),
    Column("login", "Last signed in", "time"),
    Column("judged", "Pairs judged", "count"),
]
ORDERED_BY: dict[str, str | Combinable] = {
    "user": "username_folded",
    "name": Lower("first_name"),
    "pseudonym": "annotator__pseudonym",
    "login": "last_login",
    "judged": "judged",
}


@dataclass(frozen=True, slots=True)
class HeldRole:
    role: Role
    scope: str
    can_withdraw: bool


@only_for(can_see_people)
def people(request: HttpRequest) -> HttpResponse:
    state = requested_filter(request, "state", PersonState.values)
    order = Order.requested(request.GET.get("sort", ""), COLUMNS, "user")
    search = request.GET.get("q", "").strip()[:SEARCH_LENGTH]
    scopes = _scopes_led(request)
    found = search_people(people_seen_by(request.user), search)
    counts = found.aggregate(**{value: Count("pk", filter=is_in) for value, is_in in IS_IN.items()})
    if state:
        found = found.filter(IS_IN[PersonState(state)])
    rows = found.annotate(judged=judged_pairs(scopes)).select_related("annotator")
    rows = order.sort_query(rows, ORDERED_BY, ties="username_folded")
    page = page_of(rows.prefetch_related("groups", "grants"), request.GET.get("page"))
    context = {
        "page": page,
        "rows": [(person, roles_shown(person, scopes)) for person in page],
        "heads": order.heads,
        "state": state,
        "search": search,
        "filters": filters(request, "state", _states(counts)),
    }
    return render(request, "people/people.html", context)


def _states(counts: dict[str, int]) -> list[tuple[str, str, int]]:
    """Return a value, label and number of people per choice: all, and the states that occur."""
    states = [(value, label, counts[value]) for value, label in PersonState.choices]
    return [("", "All", sum(counts.values())), *(state for state in states if state[2])]


@only_for(can_see_people)
def person(request: HttpRequest, pk: int) -> HttpResponse:
    return _person_page(request, _get_person(request, pk), _role_form(request, bound=False))


@only_for(can_see_people, POST)
def role_grant(request: HttpRequest, pk: int) -> HttpResponse:
    found = _get_person(request, pk)
    form = _role_form(request)
    if not form.is_valid():
        return _person_page(request, found, form)
    role, scope = Role(form.cleaned_data["role"]), form.cleaned_data["scope"]
    held = (role, scope) in roles_shown(found, _scopes_led(request))
    services.grant_role(person=found, role=role, scope=scope, by=cast(User, request.user))
    if held:
        messages.info(request, "This person already has this role.")
    else:
        messages.success(request, f"The role of {role.label.lower()} is granted.")
    return redirect("person", found.pk)


@only_for(can_see_people, POST)
def role_withdraw(request: HttpRequest, pk: int) -> HttpResponse:
    found = _get_person(request, pk)
    form = _role_form(request)
    if not form.is_valid():
        raise InvalidInput("You cannot withdraw this role.")
    role, scope = Role(form.cleaned_data["role"]), form.cleaned_data["scope"]
    services.withdraw_role(person=found, role=role, scope=scope, by=cast(User, request.user))
    messages.success(request, f"The role of {role.label.lower()} is withdrawn.")
    # Leads see only people with a role in their benchmarks.
    if not people_seen_by(request.user).filter(pk=found.pk).exists():
        return redirect("people")
    return redirect("person", found.pk)


@only_for(can_see_people, POST)
def person_state(request: HttpRequest, pk: int) -> HttpResponse:
    found, by = _get_person(request, pk), cast(User, request.user)
    form = PersonStateForm(request.POST)
    if not form.is_valid():
        raise InvalidInput("The state must be active or deactivated.")
    try:
        if form.cleaned_data["state"] == PersonState.ACTIVE:
            services.reactivate_person(person=found, by=by)
            messages.success(request, "The account is active again.")
        else:
            services.deactivate_person(person=found, by=by)
            messages.success(request, "The account is deactivated and signed out everywhere.")
    except Conflict as conflict:
        messages.warning(request, str(conflict))
    return redirect("person", found.pk)


@only_for(can_administer, POST)
def person_factors(request: HttpRequest, pk: int) -> HttpResponse:
    """Remove the second factors of a person who has lost them."""
    found = _get_person(request, pk)
    try:
        services.remove_second_factors(person=found, by=cast(User, request.user))
    except Conflict as conflict:
        messages.warning(request, str(conflict))
    else:
        messages.success(request, "The second factors are removed. The password is now enough.")
    return redirect("person", found.pk)


@only_for(can_administer, FORM_METHODS)
def person_erase(request: HttpRequest, pk: int) -> HttpResponse:
    found = _get_person(request, pk)
    form = EraseForm(**form_data(request), person=found)
    if request.method == "POST" and form.is_valid():
        erased = services.erase_person(person=found, by=cast(User, request.user))
        messages.success(
            request, f"The person is erased. The account is now named {erased.username}."
        )
        return redirect("person", erased.pk)
    context = {"person": found, "form": form}
    return render(request, "people/erase.html", context, status=form_status(request))


def _get_person(request: HttpRequest, pk: int) -> User:
    """Return a person whom the user may see. Raises `Http404` otherwise."""
    seen = people_seen_by(request.user).select_related("annotator")
    return get_object_or_404(seen.prefetch_related("groups", "grants"), pk=pk)


def _person_page(request: HttpRequest, found: User, form: RoleForm) -> HttpResponse:
    scopes = _scopes_led(request)
    memberships = Membership.objects.filter(of_labels("campaign__"), annotator__user=found)
    memberships = scopes.limit(memberships, "campaign__benchmark__key")
    campaigns = list(memberships.select_related("campaign").order_by("-campaign"))
    administers = can_administer(request.user) and found.pk != request.user.pk
    context = {
        "person": found,
        "roles": [
            HeldRole(role, scope, can_give(request.user, role, scope))
            for role, scope in roles_shown(found, scopes)
        ],
        "form": form,
        "campaigns": campaigns,
        "judged": sum(campaign.judged for campaign in campaigns),
        "consents": found.consents.select_related("text"),
        "accepted_invitations": Invitation.objects.filter(accepted_by=found).select_related(
            "made_by"
        ),
        "can_deactivate": can_deactivate(request.user, found),
        "administers": administers,
        "has_second_factor": administers and has_second_factor(found),
        "must_set_up": administers and lacks_second_factor(found),
    }
    return render(request, "people/person.html", context, status=form_status(request))


def _scopes_led(request: HttpRequest) -> Scopes:
    return scopes_of(request.user, Role.LEAD)


def _role_form(request: HttpRequest, *, bound: bool = True) -> RoleForm:
    return RoleForm(request.POST if bound else None, **role_choices(request.user))
