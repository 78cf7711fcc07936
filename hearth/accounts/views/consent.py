"""Pages for the consent text."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode

from hearth.accounts import services
from hearth.accounts.forms import ConsentForm, ConsentTextForm
from hearth.accounts.models import ConsentText, User
from hearth.accounts.policies import can_administer, is_active
from hearth.accounts.selectors import needs_consent, newest_consent_text
from hearth.shared.errors import Conflict, InvalidInput
from hearth.shared.language import translated
from hearth.shared.pages import FORM_METHODS, form_data, form_status, next_address, only_for


@translated
@only_for(is_active, FORM_METHODS)
def consent(request: HttpRequest) -> HttpResponse:
    """Show the consent text with a form to agree to it, and then redirect to `next`."""
    person = cast(User, request.user)
    text = newest_consent_text()
    unaccepted = text if text is not None and needs_consent(person) else None
    goal = next_address(request)
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


@only_for(can_administer, FORM_METHODS)
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
