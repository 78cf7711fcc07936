"""The page of the judging room. Its scripts use the API."""

from __future__ import annotations

import json
from itertools import groupby
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

from annotation.core.keys import OF_VIDEO, OTHERS, bindings, without_characters
from annotation.models import Annotator, Campaign
from annotation.policies import check_can_judge, scopes_known
from annotation.questions.room import Room
from annotation.questions.rooms import own_keys
from annotation.selectors.campaigns import get_campaign
from annotation.selectors.guidelines import last_guideline_version
from annotation.selectors.judging import judged_by
from annotation.selectors.left import left_in
from annotation.selectors.me import training_in, unread_comments
from annotation.selectors.members import accesses_for
from annotation.selectors.training import find_training_queue
from annotation.services import annotator_for
from annotation.services.preferences import BREAK_MINUTES
from annotation.texts import action_text, key_text, room_texts
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
    room = campaign.question_kind.room
    context = {
        "campaign": campaign,
        "question": campaign.question,
        "room": room,
        "has_video": campaign.question_kind.has_video,
        "guideline": campaign.guideline,
        "has_new_guideline": last_guideline_version(campaign, annotator)
        not in (None, campaign.guideline_version),
        "judged": judged_by(campaign, annotator),
        "left": left_in(campaign, annotator),
        "new_until": NEW_UNTIL,
        "room_texts": room_texts(room.script_texts),
        "csrf_cookie": settings.CSRF_COOKIE_NAME,
        "break_minutes": annotator.preferences.get("break_minutes", BREAK_MINUTES),
        **_room_keys(campaign, room, annotator),
        **_room_training(campaign, annotator),
        **room.of_person(annotator),
    }
    return render(request, f"annotation/questions/{campaign.question}/room.html", context)


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


def _room_keys(campaign: Campaign, room: Room, annotator: Annotator) -> dict[str, Any]:
    """Return the annotator's keys for the buttons, for the list of keys, and for the script."""
    keys = room.keys(campaign, own_keys(annotator))
    if not annotator.preferences.get("character_keys", True):
        keys = without_characters(keys)
    if not campaign.question_kind.has_video:
        keys = {name: own for name, own in keys.items() if name not in OF_VIDEO}
    shown = {name: [*map(key_text, own)] for name, own in keys.items()}
    return {
        "keys": {name.replace("-", "_"): own for name, own in shown.items()},
        "bindings": json.dumps(bindings(keys)),
        "space_key": key_text("Space"),
        "key_list": _key_list(shown, _key_texts(campaign, room)),
        **room.context(campaign, shown),
    }


def _key_texts(campaign: Campaign, room: Room) -> dict[str, str]:
    """Return the text of each action in the list of keys. Training has no undo."""
    others = {action.name: action_text(action) for action in OTHERS}
    others["undo"] = gettext(room.texts.undo)
    if campaign.is_training:
        del others["undo"]
    if not campaign.contact_sheet:
        del others["sheet"]
    return room.key_texts(campaign) | others


def _key_list(
    shown: dict[str, list[str]], texts: dict[str, str]
) -> list[tuple[list[str], str, bool]]:
    """Return the rows of the list of keys: keys, text, and whether they are the ends of a range.

    Actions with the same text, such as those of the digits, are one row.
    """
    rows = []
    for text, names in groupby(texts, texts.__getitem__):
        of_names = [shown[name] for name in names if shown.get(name)]
        if len(of_names) > 1:
            rows.append(([of_names[0][0], of_names[-1][0]], text, True))
        elif of_names:
            rows.append((of_names[0], text, False))
    return rows


def _room_training(campaign: Campaign, annotator: Annotator) -> dict[str, Any]:
    """Return the number of unread comments, and what the room shows about training.

    The room of a training queue shows the annotator's progress. Another room shows the training
    queue if the annotator does not meet the entry requirement yet.
    """
    unread = {"unread": unread_comments(annotator)}
    if campaign.is_training:
        return {"training": training_in(campaign, annotator), **unread}
    if any(access.needs_training for access in accesses_for(annotator, [campaign])):
        return {
            "training_queue": find_training_queue(campaign.benchmark, campaign.question),
            **unread,
        }
    return unread
