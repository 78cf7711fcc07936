"""My work: an annotator's own answers, campaigns and preferences."""

from __future__ import annotations

import datetime
from typing import Any, cast

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext

from annotation import services
from annotation.forms.me import KeysForm, PreferencesForm
from annotation.models import Annotator, Judgment
from annotation.questions.rooms import own_keys
from annotation.selectors.me import (
    COMMENTS_MAX,
    comments_for,
    midnight_now,
    open_trainings,
    own_campaigns,
    own_work,
    pairs_per_day,
)
from annotation.services.preferences import BREAK_MINUTES
from hearth.accounts.models import User
from hearth.accounts.roles import Role, annotates_somewhere, scopes_of
from hearth.shared.errors import InvalidInput
from hearth.shared.language import translated
from hearth.shared.numbers import duration
from hearth.shared.pages import FORM_METHODS, POST, UNPROCESSABLE, only_for

RESET = "reset"


@translated
@only_for(annotates_somewhere)
def me(request: HttpRequest) -> HttpResponse:
    return _page(request, _annotator(request))


@translated
@only_for(annotates_somewhere, FORM_METHODS)
def keys(request: HttpRequest) -> HttpResponse:
    annotator = _annotator(request)
    if request.method != "POST":
        form = KeysForm(keys=own_keys(annotator))
        return render(request, "annotation/me/keys.html", {"keys_form": form})
    if RESET in request.POST:
        services.reset_keys(annotator=annotator)
        messages.success(request, gettext("The default keys are restored."))
        return redirect("me-keys")
    form = KeysForm(request.POST, keys=own_keys(None))
    if not form.is_valid():
        context = {"keys_form": form}
        return render(request, "annotation/me/keys.html", context, status=UNPROCESSABLE)
    services.set_keys(annotator=annotator, keys=form.cleaned_data["keys"])
    messages.success(request, gettext("Your keys are saved."))
    return redirect("me-keys")


@translated
@only_for(annotates_somewhere, POST)
def preferences(request: HttpRequest) -> HttpResponse:
    annotator = _annotator(request)
    form = PreferencesForm(request.POST)
    if not form.is_valid():
        return _page(request, annotator, preferences_form=form)
    services.set_preferences(annotator=annotator, **form.cleaned_data)
    messages.success(request, gettext("Your preferences are saved."))
    return redirect("me")


@translated
@only_for(annotates_somewhere, POST)
def language(request: HttpRequest) -> HttpResponse:
    """Store the language of the annotator's pages in a cookie."""
    code = request.POST.get("language", "")
    if code not in dict(settings.LANGUAGES):
        raise InvalidInput(gettext("This language is not available."))
    response = redirect("me")
    response.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        code,
        max_age=settings.LANGUAGE_COOKIE_AGE,
        secure=settings.LANGUAGE_COOKIE_SECURE,
        httponly=settings.LANGUAGE_COOKIE_HTTPONLY,
        samesite="Lax",
    )
    return response


@only_for(annotates_somewhere, POST)
def mark_comments_read(request: HttpRequest) -> HttpResponse:
    services.mark_comments_read(annotator=_annotator(request))
    return redirect(reverse("me") + "#training")


def _page(
    request: HttpRequest,
    annotator: Annotator,
    *,
    preferences_form: PreferencesForm | None = None,
) -> HttpResponse:
    scopes, midnight = scopes_of(request.user, Role.ANNOTATOR), midnight_now()
    work = own_work(annotator, midnight)
    trainings = open_trainings(annotator, scopes)
    comments = list(comments_for(annotator)[:COMMENTS_MAX])
    context = {
        "work": work,
        "time_today": duration(work.seconds_today),
        "days": _bars(pairs_per_day(annotator, midnight)),
        "campaigns": own_campaigns(annotator, scopes, trainings),
        "trainings": trainings,
        "comments": [(comment, _label_of(comment.judgment)) for comment in comments],
        "unread": any(comment.read_at is None for comment in comments),
        "preferences_form": preferences_form or PreferencesForm(initial=_preferences(annotator)),
    }
    status = UNPROCESSABLE if preferences_form else 200
    return render(request, "annotation/me/me.html", context, status=status)


def _label_of(judgment: Judgment) -> str:
    campaign = judgment.task.campaign
    return gettext(campaign.question_kind.words_of(campaign, judgment))


def _bars(days: list[tuple[datetime.date, int]]) -> list[dict[str, Any]]:
    """Return the days as bars, with heights in % of the highest one; no bars if all are 0."""
    most = max(count for _, count in days)
    if not most:
        return []
    return [
        {
            "date": date,
            "count": count,
            "percent": round(100 * count / most, 1),
            "top": round(100 - 100 * count / most, 1),
        }
        for date, count in days
    ]


def _preferences(annotator: Annotator) -> dict[str, Any]:
    return {
        "break_minutes": annotator.preferences.get("break_minutes", BREAK_MINUTES),
        "character_keys": annotator.preferences.get("character_keys", True),
    }


def _annotator(request: HttpRequest) -> Annotator:
    return services.annotator_for(cast(User, request.user))
