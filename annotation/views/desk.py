"""The lead's desk: pairs on which a lead decides."""

from __future__ import annotations

from typing import Any, cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods

from annotation import services
from annotation.enums import CampaignState, TaskState
from annotation.forms.desk import LEAVE_OUT, REOPEN, DeskForm
from annotation.models import AT_DESK, Campaign, JudgmentTask
from annotation.policies import can_lead_somewhere
from annotation.selectors.campaigns import get_campaign
from annotation.selectors.desk import Waiting, desk_counts, desk_queue, get_desk_case
from config.accounts.models import User
from config.accounts.roles import Role, scopes_of
from config.shared.errors import Conflict, InvalidInput
from config.shared.pages import only_for
from pooling.selectors import playable_address

# The desk's keys for a scale of two steps; longer scales are answered by digits.
TWO_KEYS = ["J", "K"]


@only_for(can_lead_somewhere)
@require_http_methods(["GET", "HEAD", "POST"])
def desk(request: HttpRequest, pk: int) -> HttpResponse:
    """What waits for a lead, one pair at a time; `kind` filters, `task` keeps the place."""
    campaign = get_campaign(pk, scopes_of(request.user, Role.LEAD))
    if request.method == "POST":
        return _take_ruling(request, campaign)
    kind = request.GET.get("kind", "")
    if kind and kind not in AT_DESK:
        raise InvalidInput(f"what waits is {', '.join(AT_DESK)}, not {kind[:50]!r}")
    everything = desk_queue(campaign)
    queue = _of_kind(everything, kind)
    context: dict[str, Any] = {
        "campaign": campaign,
        "benchmark": campaign.benchmark,
        "kind": kind,
        "kinds": [("", "All", len(everything))]
        + [(state.value, state.label, count) for state, count in desk_counts(everything)],
    }
    if queue:
        place = _place_of(request.GET.get("task", ""), queue)
        case = get_desk_case(queue[place].pk)
        context |= {
            "case": case,
            "waiting": queue[place],
            "number": place + 1,
            "total": len(queue),
            "earlier": queue[place - 1] if place else None,
            "later": queue[place + 1] if place + 1 < len(queue) else None,
            "video": playable_address(case.task.video),
            "answers": [] if case.task.state == TaskState.UNPLAYABLE else _answers(campaign),
            "can_reopen": case.task.state != TaskState.CONFLICTED
            and campaign.state != CampaignState.CLOSED,
            "can_leave_out": case.task.state == TaskState.UNPLAYABLE,
        }
    return render(request, "annotation/desk/desk.html", context)


def _take_ruling(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    form = DeskForm(request.POST, labels=campaign.labels)
    if not form.is_valid():
        raise InvalidInput("A ruling names a waiting pair, and a label or what else becomes of it.")
    given = form.cleaned_data
    task = get_object_or_404(JudgmentTask, pk=given["task"], campaign=campaign)
    # Found before the ruling takes the pair out of the queue.
    later = _after(task.pk, _of_kind(desk_queue(campaign), given["kind"]))
    try:
        said = _rule(task, given, cast(User, request.user))
    except Conflict as conflict:
        messages.warning(request, str(conflict))
    else:
        messages.success(request, said)
    place = {"kind": given["kind"], "task": later.pk if later else ""}
    query = urlencode({name: value for name, value in place.items() if value})
    return redirect(reverse("desk", args=[campaign.pk]) + (f"?{query}" if query else ""))


def _rule(task: JudgmentTask, given: dict[str, Any], by: User) -> str:
    """Do what the form says; returns what to tell the lead."""
    if given["ruling"] == REOPEN:
        services.reopen_task(task=task, by=by)
        return "The last pair is back in the queue."
    if given["ruling"] == LEAVE_OUT:
        services.exclude_task(task=task, by=by)
        return "The last pair is left out."
    ruling = services.adjudicate_task(
        task=task, label=int(given["ruling"]), by=by, reason=given["reason"]
    )
    return f"You ruled the last pair {task.campaign.labels[ruling.label]}."


def _answers(campaign: Campaign) -> list[dict[str, Any]]:
    """The labels of the campaign's scale with the keys that give them."""
    labels = campaign.labels
    keys = TWO_KEYS if len(labels) == len(TWO_KEYS) else [str(value + 1) for value in labels]
    return [
        {"value": value, "text": text.capitalize(), "key": key}
        for (value, text), key in zip(labels.items(), keys, strict=True)
    ]


def _of_kind(queue: list[Waiting], kind: str) -> list[Waiting]:
    return [waiting for waiting in queue if kind in ("", waiting.state)]


def _place_of(task: str, queue: list[Waiting]) -> int:
    """Where in the queue the task is; the first place if it waits no more."""
    places = (place for place, waiting in enumerate(queue) if str(waiting.pk) == task)
    return next(places, 0)


def _after(task: int, queue: list[Waiting]) -> Waiting | None:
    """What comes after the task in the queue; at its end, the first that was passed over."""
    places = [waiting.pk for waiting in queue]
    place = places.index(task) if task in places else len(queue)
    return next(iter(queue[place + 1 :] + queue[:place]), None)
