"""Coming in by an invitation, and agreeing to the consent text."""

from __future__ import annotations

from typing import Any, cast

from django.contrib import messages
from django.contrib.auth import login
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe
from rest_framework.authtoken.models import Token

from config.accounts import services
from config.accounts.forms import ConsentForm, ConsentTextForm, JoinForm
from config.accounts.models import ConsentText, Invitation, User
from config.accounts.policies import can_administer
from config.accounts.selectors import (
    find_open_invitation,
    hash_of_token,
    needs_consent,
    newest_consent_text,
)
from config.shared.errors import Conflict, InvalidInput, NotFound
from config.shared.pages import form_data, form_status, only_for

FORM_METHODS = ["GET", "HEAD", "POST"]
MAKE, WITHDRAW = "make", "withdraw"
# Where a session holds the hash of the link that was opened.
INVITATION = "invitation"
SIGN_IN_BACKEND = "allauth.account.auth_backends.AuthenticationBackend"


@never_cache
@require_safe
def invitation_link(request: HttpRequest, token: str) -> HttpResponse:
    """The link itself. From here on the invitation is known by its hash, in the session: the
    token comes up in no further address, and so in no log of a form that was not right."""
    found = find_open_invitation(hash_of_token(token))
    if found is None:
        return _cannot_be_used(request)
    request.session[INVITATION] = found.token_sha256
    return redirect("invitation")


@sensitive_post_parameters("password1", "password2")
@never_cache
@require_http_methods(FORM_METHODS)
def invitation(request: HttpRequest) -> HttpResponse:
    """What the link opens: a new account, or one more role for who is signed in."""
    found = find_open_invitation(request.session.get(INVITATION, ""))
    if found is None:
        return _cannot_be_used(request)
    try:
        if request.user.is_authenticated:
            return _accept(request, found)
        return _join(request, found)
    except NotFound:
        return _cannot_be_used(request)
    except Conflict as changed:
        messages.warning(request, str(changed))
        return redirect("invitation")


def _join(request: HttpRequest, found: Invitation) -> HttpResponse:
    text = newest_consent_text()
    form = JoinForm(**form_data(request), text=text)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            person = services.join(
                invitation=found,
                username=given["username"],
                password=given["password1"],
                name=given["name"],
                email=given["email"],
                consent=form.agreed_version,
            )
        except InvalidInput:
            form.add_error("username", "This user name is taken.")
        else:
            request.session.flush()
            login(request, person, backend=SIGN_IN_BACKEND)
            messages.success(request, "Your account is made, and you are signed in.")
            return redirect("home")
    context = {"invitation": found, "text": text, "form": form}
    return render(request, "people/join.html", context, status=form_status(request))


def _accept(request: HttpRequest, found: Invitation) -> HttpResponse:
    person = cast(User, request.user)
    text = newest_consent_text() if needs_consent(person) else None
    form = ConsentForm(**form_data(request), text=text)
    if request.method == "POST" and form.is_valid():
        services.accept_invitation(invitation=found, person=person, consent=form.agreed_version)
        del request.session[INVITATION]
        messages.success(request, "The invitation is accepted.")
        return redirect("home")
    context = {"invitation": found, "text": text, "form": form}
    return render(request, "people/accept.html", context, status=form_status(request))


def _cannot_be_used(request: HttpRequest) -> HttpResponse:
    """One page for links that are used, expired, revoked or wrong: it tells them not apart."""
    return render(request, "people/invitation_over.html", status=404)


def _is_active(user: Any) -> bool:
    return bool(user.is_active)


@only_for(_is_active)
@require_http_methods(FORM_METHODS)
def consent(request: HttpRequest) -> HttpResponse:
    """The consent text, to agree to; then on to `next`, where a person was going."""
    person = cast(User, request.user)
    text = newest_consent_text()
    asked = text if text is not None and needs_consent(person) else None
    goal = _own_address(request)
    form = ConsentForm(**form_data(request), text=asked)
    if request.method == "POST" and form.is_valid():
        try:
            if asked is not None:
                services.give_consent(person=person, version=form.agreed_version or 0)
        except Conflict as changed:
            messages.warning(request, str(changed))
            return redirect(f"{reverse('consent')}?{urlencode({'next': goal})}")
        return redirect(goal)
    context = {
        "text": text,
        "asked": asked,
        "given": person.consents.filter(text=text).first(),
        "goal": goal,
        "form": form,
    }
    return render(request, "people/consent.html", context, status=form_status(request))


@only_for(can_administer)
@require_http_methods(FORM_METHODS)
def consent_write(request: HttpRequest) -> HttpResponse:
    """The versions of the consent text, and a form for the next."""
    newest = newest_consent_text()
    initial = {"text": newest.text, "after": newest.version} if newest else {"after": 0}
    form = ConsentTextForm(**form_data(request), initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            written = services.write_consent_text(**form.cleaned_data, by=cast(User, request.user))
        except (InvalidInput, Conflict) as refused:
            form.add_error("text", str(refused))
        else:
            messages.success(request, f"Version {written.version} holds from now on.")
            return redirect("consent-write")
    context = {
        "form": form,
        "newest": newest,
        "versions": ConsentText.objects.select_related("written_by").annotate(
            given=Count("consents")
        ),
    }
    return render(request, "people/consent_write.html", context, status=form_status(request))


def _own_address(request: HttpRequest) -> str:
    """Where to go on to: an address of ours, whatever was asked for."""
    goal = request.POST.get("next") or request.GET.get("next") or ""
    ours = url_has_allowed_host_and_scheme(
        goal, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return goal if ours else reverse("home")


@only_for(_is_active)
@require_http_methods(FORM_METHODS)
def token(request: HttpRequest) -> HttpResponse:
    """A person's own. It is shown in the answer that makes it, and never again."""
    person, made = cast(User, request.user), ""
    if request.method == "POST":
        what = request.POST.get("what")
        if what == MAKE:
            made = services.make_token(person=person)
        elif what == WITHDRAW:
            services.withdraw_token(person=person)
            messages.success(request, "Your token is refused from now on.")
            return redirect("token")
        else:
            raise InvalidInput(f"a token is made or withdrawn: {MAKE} or {WITHDRAW}")
    context = {"token": Token.objects.filter(user=person).first(), "made": made}
    return render(request, "people/token.html", context)
