"""Pages for invitations, consent and the API token."""

from __future__ import annotations

from typing import Any, cast

from allauth.account.views import password_reset as allauth_password_reset
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.utils.translation import gettext as _
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
from config.shared.language import translated
from config.shared.pages import FORM_METHODS, form_data, form_status, only_for, redirect_to_sign_in

MAKE, WITHDRAW = "make", "withdraw"
# The session's key for the hash of the link that was opened.
INVITATION = "invitation"
SIGN_IN_BACKEND = "config.accounts.backends.SignInBackend"


@translated
@never_cache
@require_safe
def invitation_link(request: HttpRequest, token: str) -> HttpResponse:
    """Open an invitation, and redirect to a page whose address does not contain the token.

    The session stores the hash of the token, so that later requests do not log the token.
    """
    found = find_open_invitation(hash_of_token(token))
    if found is None:
        return _cannot_be_used(request)
    request.session[INVITATION] = found.token_sha256
    return redirect("invitation")


@translated
@sensitive_post_parameters("password1", "password2")
@never_cache
@require_http_methods(FORM_METHODS)
def invitation(request: HttpRequest) -> HttpResponse:
    """Show the form for a new account, or add the role to the account that is signed in."""
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
        data = form.cleaned_data
        try:
            person = services.join(
                invitation=found,
                username=data["username"],
                password=data["password1"],
                name=data["name"],
                email=data["email"],
                consent=form.agreed_version,
            )
        except InvalidInput:
            form.add_error("username", _("This user name is taken."))
        else:
            request.session.flush()
            login(request, person, backend=SIGN_IN_BACKEND)
            messages.success(request, _("Your account is ready, and you are signed in."))
            return redirect("home")
    context = {"invitation": found, "text": text, "form": form}
    return render(request, "people/join.html", context, status=form_status(request))


def _accept(request: HttpRequest, found: Invitation) -> HttpResponse:
    person = cast(User, request.user)
    text = newest_consent_text() if needs_consent(person) else None
    form = ConsentForm(**form_data(request), text=text)
    if request.method == "POST" and form.is_valid():
        services.accept_invitation(invitation=found, by=person, consent=form.agreed_version)
        del request.session[INVITATION]
        messages.success(request, _("You have accepted the invitation."))
        return redirect("home")
    context = {"invitation": found, "text": text, "form": form}
    return render(request, "people/accept.html", context, status=form_status(request))


def _cannot_be_used(request: HttpRequest) -> HttpResponse:
    """Show the same page for links that are used, expired, revoked or wrong."""
    return render(request, "people/invitation_over.html", status=404)


def _is_active(user: Any) -> bool:
    return bool(user.is_active)


@translated
@only_for(_is_active)
@require_http_methods(FORM_METHODS)
def consent(request: HttpRequest) -> HttpResponse:
    """Show the consent text with a form to agree to it, and then redirect to `next`."""
    person = cast(User, request.user)
    text = newest_consent_text()
    unaccepted = text if text is not None and needs_consent(person) else None
    goal = _own_address(request)
    form = ConsentForm(**form_data(request), text=unaccepted)
    if request.method == "POST" and form.is_valid():
        try:
            if unaccepted is not None:
                services.give_consent(by=person, version=form.agreed_version or 0)
        except Conflict as changed:
            messages.warning(request, str(changed))
            return redirect(f"{reverse('consent')}?{urlencode({'next': goal})}")
        return redirect(goal)
    context = {
        "text": text,
        "unaccepted": unaccepted,
        "consent": person.consents.filter(text=text).first(),
        "goal": goal,
        "form": form,
    }
    return render(request, "people/consent.html", context, status=form_status(request))


@only_for(can_administer)
@require_http_methods(FORM_METHODS)
def consent_write(request: HttpRequest) -> HttpResponse:
    """Show the versions of the consent text, and a form for the next version."""
    newest = newest_consent_text()
    initial = {"text": newest.text, "after": newest.version} if newest else {"after": 0}
    form = ConsentTextForm(**form_data(request), initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            written = services.write_consent_text(**form.cleaned_data, by=cast(User, request.user))
        except (InvalidInput, Conflict) as refused:
            form.add_error("text", str(refused))
        else:
            messages.success(
                request, f"Version {written.version} of the consent text is now in force."
            )
            return redirect("consent-write")
    context = {
        "form": form,
        "newest": newest,
        "versions": ConsentText.objects.select_related("written_by").annotate(
            n_consents=Count("consents")
        ),
    }
    return render(request, "people/consent_write.html", context, status=form_status(request))


def _own_address(request: HttpRequest) -> str:
    """Return the address to continue to, which is always one of this site."""
    goal = request.POST.get("next") or request.GET.get("next") or ""
    ours = url_has_allowed_host_and_scheme(
        goal, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return goal if ours else reverse("home")


@require_safe
def api_docs(request: HttpRequest) -> HttpResponseBase:
    """Show the documents of the API, made from its schema by Swagger UI."""
    if not (settings.PUBLIC_SITE or request.user.is_authenticated):
        return redirect_to_sign_in(request)
    return render(request, "api_docs.html")


@translated
@require_http_methods(FORM_METHODS)
def password_reset(request: HttpRequest) -> HttpResponseBase:
    """Let people choose a new password by e-mail, or explain that the site sends no e-mail."""
    if not settings.CAN_SEND_EMAIL:
        return render(request, "account/password_reset_unavailable.html")
    answer: HttpResponseBase = allauth_password_reset(request)
    return answer


@only_for(_is_active)
@require_http_methods(FORM_METHODS)
def token(request: HttpRequest) -> HttpResponse:
    """Show, make and delete a person's API token. A new token is shown once."""
    person, made = cast(User, request.user), ""
    if request.method == "POST":
        what = request.POST.get("what")
        if what == MAKE:
            made = services.make_token(by=person)
        elif what == WITHDRAW:
            services.withdraw_token(by=person)
            messages.success(request, "Your token is deleted and no longer works.")
            return redirect("token")
        else:
            raise InvalidInput(f"The action must be {MAKE} or {WITHDRAW}.")
    context = {"token": Token.objects.filter(user=person).first(), "made": made}
    return render(request, "people/token.html", context)
