"""Pages for invitations."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from hearth.accounts import selectors, services
from hearth.accounts.forms import ConsentForm, JoinForm
from hearth.accounts.models import Invitation, User
from hearth.shared.errors import Conflict, InvalidInput, NotFound
from hearth.shared.language import translated
from hearth.shared.pages import FORM_METHODS, form_data, form_status

# The session stores the hash of the token of the opened link under this key.
INVITATION = "invitation"
SIGN_IN_BACKEND = "hearth.accounts.backends.SignInBackend"


@translated
@never_cache
@require_safe
def invitation_link(request: HttpRequest, token: str) -> HttpResponse:
    """Open an invitation, and redirect to a page whose address does not contain the token.

    The session stores the hash of the token, so that no later request puts the token into a log.
    """
    found = selectors.find_open_invitation(selectors.hash_of_token(token))
    if found is None:
        return _cannot_be_used(request)
    request.session[INVITATION] = found.token_sha256
    return redirect("invitation")


@translated
@sensitive_post_parameters("password1", "password2")
@never_cache
@require_http_methods(FORM_METHODS)
def invitation(request: HttpRequest) -> HttpResponse:
    """Let a visitor make an account with the role, or let a signed-in person accept the role."""
    found = selectors.find_open_invitation(request.session.get(INVITATION, ""))
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
    text = selectors.newest_consent_text()
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
        except InvalidInput as error:
            form.add_error("username", str(error))
        else:
            request.session.flush()
            login(request, person, backend=SIGN_IN_BACKEND)
            messages.success(request, _("Your account is ready, and you are signed in."))
            return redirect("home")
    context = {"invitation": found, "text": text, "form": form}
    return render(request, "people/join.html", context, status=form_status(request))


def _accept(request: HttpRequest, found: Invitation) -> HttpResponse:
    person = cast(User, request.user)
    text = selectors.newest_consent_text() if selectors.needs_consent(person) else None
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
