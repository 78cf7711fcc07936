"""Pages for API tokens, and the documentation of the API."""

from __future__ import annotations

from typing import cast

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from hearth.accounts import services
from hearth.accounts.forms import TokenForm
from hearth.accounts.models import TOKENS, ApiToken, User
from hearth.accounts.policies import is_active
from hearth.shared import pages
from hearth.shared.errors import Conflict
from hearth.shared.language import translated_for_annotators


@translated_for_annotators
@pages.only_for(is_active, pages.FORM_METHODS)
def tokens(request: HttpRequest) -> HttpResponse:
    """List a person's API tokens, and create new ones. A new token is shown only once."""
    person = cast(User, request.user)
    form, made = TokenForm(**pages.form_data(request)), None
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            made = services.create_token(
                by=person, name=data["name"], rights=data["rights"], days=data["days"]
            )
        except Conflict as refused:
            form.add_error("name", str(refused))
        else:
            form = TokenForm()
    context = {"tokens": ApiToken.objects.filter(user=person), "made": made, "form": form}
    status = 200 if made else pages.form_status(request)
    return render(request, "people/tokens.html", context, status=status)


@translated_for_annotators
@pages.only_for(is_active, pages.POST)
def token_revoke(request: HttpRequest, public_id: int) -> HttpResponse:
    services.revoke_token(token_id=TOKENS.key_of(public_id), by=cast(User, request.user))
    messages.success(request, _("The token is revoked and no longer works."))
    return redirect("token")


@require_safe
def api_docs(request: HttpRequest) -> HttpResponseBase:
    """Show the documentation of the API. Swagger UI generates it from the schema."""
    if not (settings.PUBLIC_SITE or request.user.is_authenticated):
        return pages.redirect_to_sign_in(request)
    return render(request, "api_docs.html")
