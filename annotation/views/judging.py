"""The page of the judging room. Its scripts use the API."""

from __future__ import annotations

import json
from typing import Any, cast

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from annotation.core.keys import (
    ORDERING,
    OTHERS,
    Action,
    Keys,
    bindings,
    keys_of,
    ordering_keys,
    room_keys,
)
from annotation.core.orderings import CAPTIONS
from annotation.models import Annotator, Campaign
from annotation.policies import check_can_judge, scopes_known
from annotation.selectors.campaigns import get_campaign
from annotation.selectors.guidelines import last_guideline_version
from annotation.selectors.judging import judged_by
from annotation.selectors.left import left_in
from annotation.selectors.me import training_in, unread_comments
from annotation.selectors.members import accesses_for
from annotation.selectors.training import find_training_queue
from annotation.services import annotator_for
from annotation.services.preferences import BREAK_MINUTES
from annotation.texts import action_text, key_text, ordering_text, room_texts
from hearth.accounts.models import User
from hearth.accounts.selectors import needs_consent
from hearth.shared.errors import Conflict
from hearth.shared.language import translated
from hearth.shared.pages import CONFLICT

# People who have given fewer answers in the campaign are asked to read the guidelines.
NEW_UNTIL = 10


@translated
@login_required
@never_cache
@require_GET
def judge(request: HttpRequest, pk: int) -> HttpResponse:
    campaign = get_campaign(pk, scopes_known(request.user))
    try:
        check_can_judge(request.user, campaign)
    except Conflict as refused:
        context = {"campaign": campaign, "reason": str(refused)}
        return render(request, "annotation/judging/not_open.html", context, status=CONFLICT)
    if needs_consent(request.user):
        return redirect(f"{reverse('consent')}?{urlencode({'next': request.path})}")
    annotator = annotator_for(cast(User, request.user))
    context = {
        "campaign": campaign,
        "guideline": campaign.guideline,
        "has_new_guideline": last_guideline_version(campaign, annotator)
        not in (None, campaign.guideline_version),
        "judged": judged_by(campaign, annotator),
        "left": left_in(campaign, annotator),
        "new_until": NEW_UNTIL,
        "room_texts": room_texts(),
        "csrf_cookie": settings.CSRF_COOKIE_NAME,
        "break_minutes": annotator.preferences.get("break_minutes", BREAK_MINUTES),
        **_room_keys(campaign, annotator),
        **_room_training(campaign, annotator),
    }
    return render(request, "annotation/judging/judge.html", context)


@translated
@login_required
@never_cache
@require_GET
def room_guideline(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the guidelines for a room that was opened under another version."""
    campaign = get_campaign(pk, scopes_known(request.user))
    check_can_judge(request.user, campaign)
    context = {"guideline": campaign.guideline}
    return render(request, "annotation/judging/_guideline.html", context)


def _room_keys(campaign: Campaign, annotator: Annotator) -> dict[str, Any]:
    """Return the annotator's keys for the buttons, for the list of keys, and for the script."""
    own = keys_of(annotator.preferences.get("keys"))
    characters = annotator.preferences.get("character_keys", True)
    others = [action for action in OTHERS if _is_in_room(action, campaign)]
    if campaign.is_ordering:
        keys = ordering_keys(own, characters=characters)
        shown = _shown(keys)
        answers: list[dict[str, Any]] = []
        key_list = [(shown[action.name], ordering_text(action)) for action in (*ORDERING, *others)]
    else:
        keys = room_keys(
            own,
            steps=len(campaign.labels),
            checklist=campaign.checklist,
            characters=characters,
        )
        shown = _shown(keys)
        answers = [
            {"value": value, "text": _capitalised(gettext(text)), "keys": shown[f"answer-{value}"]}
            for value, text in campaign.labels.items()
        ]
        key_list = [(answer["keys"], answer["text"]) for answer in answers]
        key_list += [(shown[action.name], action_text(action)) for action in others]
    return {
        "answers": answers,
        "keys": {name.replace("-", "_"): own for name, own in shown.items()},
        "bindings": json.dumps(bindings(keys)),
        "space_key": key_text("Space"),
        "last_place": CAPTIONS,
        "key_list": key_list,
    }


def _shown(keys: Keys) -> dict[str, list[str]]:
    return {name: [*map(key_text, own)] for name, own in keys.items()}


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def _is_in_room(action: Action, campaign: Campaign) -> bool:
    """Return whether the campaign's room has the action. Training has no undo."""
    if action.name == "sheet":
        return campaign.contact_sheet
    return not (campaign.is_training and action.name == "undo")


def _room_training(campaign: Campaign, annotator: Annotator) -> dict[str, Any]:
    """Return the number of unread comments, and what the room shows about training.

    The room of a training queue shows the annotator's progress. Another room shows the training
    queue if the annotator does not meet the entry requirement yet.
    """
    unread = {"unread": unread_comments(annotator)}
    if campaign.is_training:
        return {"training": training_in(campaign, annotator), **unread}
    if any(access.needs_training for access in accesses_for(annotator, [campaign])):
        return {"training_queue": find_training_queue(campaign.benchmark), **unread}
    return unread
