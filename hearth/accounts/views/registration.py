"""The page on which people create an account without an invitation, if the site allows it."""

from __future__ import annotations

from typing import cast

from allauth.core.ratelimit import consume_or_429
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from hearth.accounts import services
from hearth.accounts.forms import RegisterForm
from hearth.accounts.models import User
from hearth.accounts.views.invitations import SIGN_IN_BACKEND
from hearth.accounts.views.sign_in import send_confirmation
from hearth.shared.errors import InvalidInput, NotFound
from hearth.shared.pages import FORM_METHODS, form_data, form_status, next_address


@sensitive_post_parameters("password1", "password2")
@never_cache
@require_http_methods(FORM_METHODS)
def register(request: HttpRequest) -> HttpResponse:
    """Show the form for an account without a role, create it, and redirect to `next`."""
    if not settings.OPEN_REGISTRATION:
        raise NotFound("This site creates accounts by invitation only.")
    goal = next_address(request)
    if request.user.is_authenticated:
        return redirect(goal)
    form = RegisterForm(**form_data(request), text=None)
    if request.method == "POST":
        if too_many := consume_or_429(request, action="signup"):
            return too_many
        if form.is_valid() and _is_registered(request, form):
            messages.success(request, "Your account is ready, and you are signed in.")
            send_confirmation(request, cast(User, request.user))
            return redirect(goal)
    context = {"form": form, "goal": goal}
    return render(request, "people/register.html", context, status=form_status(request))


def _is_registered(request: HttpRequest, form: RegisterForm) -> bool:
    data = form.cleaned_data
    try:
        person = services.register(
            username=data["username"],
            password=data["password1"],
            name=data["name"],
            email=data["email"],
        )
    except InvalidInput as error:
        form.add_error("username", str(error))
        return False
    request.session.flush()
    login(request, person, backend=SIGN_IN_BACKEND)
    return True
