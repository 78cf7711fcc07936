"""The desk, where leads rule on pairs, and the list of their rulings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict, cast

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode

from annotation import services
from annotation.core.keys import bindings, desk_keys, desk_texts, shown_key
from annotation.enums import AnnotationAct, CampaignState, TaskState
from annotation.forms.desk import (
    EXCLUDE,
    REASON_LENGTH,
    REOPEN,
    DeskForm,
    RulingsFilter,
    UndoForm,
)
from annotation.models import AT_DESK, Adjudication, Annotator, Campaign, JudgmentTask
from annotation.policies import can_lead_somewhere
from annotation.questions.rooms import own_keys
from annotation.selectors.campaigns import get_campaign
from annotation.selectors.desk import (
    DeskCase,
    DeskEntry,
    desk_counts,
    desk_entries,
    find_undoable_ruling,
    get_desk_case,
    leads_with_rulings,
    rulings_of,
)
from hearth.accounts.models import User
from hearth.accounts.roles import Role, scopes_of
from hearth.audit.downloads import download_recorded_csv
from hearth.shared.errors import Conflict, InvalidInput
from hearth.shared.filters import filters, requested_filter
from hearth.shared.pages import FORM_METHODS, POST, only_for
from hearth.shared.tables import csv_text, page_of
from pooling.policies import can_change_benchmark
from pooling.selectors.media import playable_address

# The entry of the session with the primary key of the ruling that the desk offers to undo.
LAST_RULING = "last-ruling"
CSV_COLUMNS = (
    "caption_id",
    "video_id",
    "label",
    "step",
    "reason",
    "lead",
    "ruled_at",
    "undone_by",
    "undone_at",
)


@dataclass(frozen=True, slots=True)
class AnswerButton:
    """A button for a ruling with one label of the scale, and the person's keys for the button."""

    value: int
    text: str
    keys: list[str]


class KeysContext(TypedDict):
    """The person's keys: for the buttons, for the list of keys, and for the script."""

    keys: dict[str, list[str]]
    key_list: list[tuple[list[str], str, bool]]
    bindings: str
    answers: list[AnswerButton]


@only_for(can_lead_somewhere, FORM_METHODS)
def desk(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the tasks at the desk, one at a time, or carry out a lead's decision about one of them.

    Parameters: `kind` filters by state, `task` is the task to show.
    """
    campaign = _get_campaign(request, pk)
    if request.method == "POST":
        return _take_decision(request, campaign)
    kind = requested_filter(request, "kind", AT_DESK)
    everything = desk_entries(campaign)
    queue = _of_kind(everything, kind)
    context: dict[str, Any] = {
        "campaign": campaign,
        "benchmark": campaign.benchmark,
        "kind": kind,
        "filters": filters(request, "kind", _kinds(everything)),
        "undoable": _find_undoable(request, campaign),
        **_keys(request, campaign),
    }
    if queue:
        place = _place_of(request.GET.get("task", ""), queue)
        case = get_desk_case(queue[place].pk)
        context |= {
            **_case_context(case),
            "entry": queue[place],
            "reason_length": REASON_LENGTH,
            "number": place + 1,
            "total": len(queue),
            "earlier": queue[place - 1] if place else None,
            "later": queue[place + 1] if place + 1 < len(queue) else None,
            "own": campaign.question_kind.case(case.task),
            "can_rule": case.task.state != TaskState.UNPLAYABLE and bool(context["answers"]),
            "can_reopen": case.task.state != TaskState.CONFLICTED
            and campaign.state != CampaignState.CLOSED,
            "can_exclude": case.task.state == TaskState.UNPLAYABLE,
        }
    return render(request, "annotation/desk/desk.html", context)


@only_for(can_lead_somewhere)
def rulings(request: HttpRequest, pk: int) -> HttpResponse:
    """List all rulings of a campaign, the newest first."""
    campaign = _get_campaign(request, pk)
    lead, found = _filtered_rulings(request, campaign)
    page = page_of(found, request.GET.get("page"))
    context = {
        "campaign": campaign,
        "benchmark": campaign.benchmark,
        "page": page,
        "rows": [
            (ruling, campaign.question_kind.words_of(campaign, ruling), _text_of(ruling))
            for ruling in page
        ],
        "leads": leads_with_rulings(campaign),
        "lead": lead,
    }
    return render(request, "annotation/desk/rulings.html", context)


@only_for(can_lead_somewhere)
def rulings_csv(request: HttpRequest, pk: int) -> HttpResponse:
    campaign = _get_campaign(request, pk)
    _, found = _filtered_rulings(request, campaign)
    body = csv_text(CSV_COLUMNS, map(_csv_row, found))
    return download_recorded_csv(
        request,
        body,
        f"{campaign.benchmark.key}-campaign-{campaign.pk}-rulings",
        act=AnnotationAct.RULINGS_DOWNLOADED,
        on=campaign,
    )


@only_for(can_lead_somewhere)
def desk_pair(request: HttpRequest, pk: int, task: int) -> HttpResponse:
    """Show one pair with all its labels, escalations and rulings."""
    campaign = _get_campaign(request, pk)
    found = get_object_or_404(JudgmentTask, pk=task, campaign=campaign)
    context = {
        "campaign": campaign,
        "benchmark": campaign.benchmark,
        **_case_context(get_desk_case(found.pk)),
        "rulings": [
            (ruling, campaign.question_kind.words_of(campaign, ruling), _text_of(ruling))
            for ruling in rulings_of(campaign).filter(task=found)
        ],
        "has_rulings": bool(campaign.question_kind.rulings(campaign)),
        "gold_address": _gold_address(found)
        if can_change_benchmark(request.user, campaign.benchmark)
        else "",
        "is_at_desk": found.state in AT_DESK and not hasattr(found, "exclusion"),
    }
    return render(request, "annotation/desk/pair.html", context)


def _gold_address(task: JudgmentTask) -> str:
    """Return the page that uses a settled pair as gold, or "" if the task is no such pair."""
    campaign = task.campaign
    if campaign.is_study or task.gold_id or task.label is None:
        return ""
    answer = int(campaign.is_relevant(task.label))
    values = {"caption": task.query.key, "video": str(task.video), "answer": str(answer)}
    return _with_query(reverse("gold-pair", args=[campaign.benchmark.key]), values)


@only_for(can_lead_somewhere, POST)
def ruling_undo(request: HttpRequest, pk: int) -> HttpResponse:
    """Undo a ruling. Then show its pair, or the list of rulings with this request's parameters."""
    campaign = _get_campaign(request, pk)
    form = UndoForm(request.POST)
    if not form.is_valid():
        raise InvalidInput("The ruling to undo is missing.")
    ruling = get_object_or_404(rulings_of(campaign), pk=form.cleaned_data["ruling"])
    is_undone = _undo(request, ruling)
    if form.cleaned_data["is_list"]:
        return redirect(
            _with_query(reverse("desk-rulings", args=[campaign.pk]), request.GET.dict())
        )
    ruling.task.refresh_from_db()
    if is_undone and ruling.task.state in AT_DESK:
        return redirect(_desk_address(campaign, task=ruling.task_id))
    return redirect("desk-pair", campaign.pk, ruling.task_id)


def _undo(request: HttpRequest, ruling: Adjudication) -> bool:
    """Undo a ruling, or show why that is impossible. Return whether it is undone."""
    try:
        services.undo_ruling(ruling=ruling, by=cast(User, request.user))
    except Conflict as conflict:
        messages.warning(request, str(conflict))
        return False
    video = ruling.task.video
    pair = f"“{_text_of(ruling)}”{f' and video {video}' if video else ''}"
    text = f"The ruling on {pair} is undone. Published label sets do not change."
    messages.success(request, text)
    return True


def _get_campaign(request: HttpRequest, pk: int) -> Campaign:
    return get_campaign(pk, scopes_of(request.user, Role.LEAD))


def _filtered_rulings(
    request: HttpRequest, campaign: Campaign
) -> tuple[int | None, QuerySet[Adjudication]]:
    """Return the `lead` parameter, and the rulings of that lead.

    The parameter is a lead's primary key. Without it, return None and the rulings of all leads.
    """
    form = RulingsFilter(request.GET)
    if not form.is_valid():
        raise InvalidInput("The parameter “lead” must be a whole number.")
    lead, found = form.cleaned_data["lead"], rulings_of(campaign)
    return lead, found if lead is None else found.filter(lead=lead)


def _csv_row(ruling: Adjudication) -> tuple[Any, ...]:
    """Return the values of `CSV_COLUMNS`."""
    kind = ruling.task.campaign.question_kind
    return (
        *kind.keys_of(ruling.task),
        ruling.label,
        kind.words_of(ruling.task.campaign, ruling),
        ruling.reason,
        ruling.lead.username,
        ruling.created_at.isoformat(),
        ruling.undone_by.username if ruling.undone_by else None,
        ruling.undone_at.isoformat() if ruling.undone_at else None,
    )


def _text_of(ruling: Adjudication) -> str:
    """Return the text that was judged, the last one that annotators see."""
    return ruling.task.campaign.question_kind.texts_of(ruling.task)[-1]


def _case_context(case: DeskCase) -> dict[str, Any]:
    return {"case": case, "video": playable_address(case.task.video)}


def _take_decision(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    form = DeskForm(request.POST, labels=campaign.question_kind.rulings(campaign))
    if not form.is_valid():
        raise InvalidInput(
            f"The decision must be a label of the scale, {REOPEN} or {EXCLUDE}, for a task at the "
            "desk. The reason must not be too long."
        )
    data = form.cleaned_data
    task = get_object_or_404(JudgmentTask, pk=data["task"], campaign=campaign)
    # The next pair is found before the ruling removes this one from the queue.
    later = _after(task.pk, _of_kind(desk_entries(campaign), data["kind"]))
    try:
        ruling, message = _decide(task, data, cast(User, request.user))
    except Conflict as conflict:
        messages.warning(request, str(conflict))
    except InvalidInput as fault:
        messages.warning(request, str(fault))
        later = None if task.state not in AT_DESK else DeskEntry(task.pk, "", campaign.created_at)
    else:
        messages.success(request, message)
        request.session[LAST_RULING] = ruling.pk if ruling else None
    address = _desk_address(campaign, kind=data["kind"], task=later.pk if later else None)
    return redirect(address)


def _desk_address(campaign: Campaign, **parameters: Any) -> str:
    """Return the address of the desk, without the parameters that are empty."""
    filled = {name: value for name, value in parameters.items() if value}
    return _with_query(reverse("desk", args=[campaign.pk]), filled)


def _with_query(address: str, parameters: Mapping[str, Any]) -> str:
    query = urlencode(parameters)
    return f"{address}?{query}" if query else address


def _decide(task: JudgmentTask, data: dict[str, Any], by: User) -> tuple[Adjudication | None, str]:
    """Carry out the decision of a form. Return its ruling, or None without one, and a message."""
    campaign = task.campaign
    noun = campaign.question_kind.words.item
    if data["ruling"] == REOPEN:
        services.reopen_task(task=task, by=by)
        return None, f"The last {noun} is back in the queue."
    if data["ruling"] == EXCLUDE:
        services.exclude_task(task=task, by=by)
        return None, f"The last {noun} is excluded."
    ruling = services.adjudicate_task(
        task=task,
        label=int(data["ruling"]),
        by=by,
        reason=data["reason"],
        answer=data["answer"],
    )
    text = campaign.question_kind.words_of(campaign, ruling)
    return ruling, f"Your ruling on the last {noun}: {text}."


def _find_undoable(request: HttpRequest, campaign: Campaign) -> Adjudication | None:
    """Return the last ruling of this session if it is in this campaign and in force."""
    pk = request.session.get(LAST_RULING)
    return pk and find_undoable_ruling(campaign, cast(User, request.user), pk)


def _keys(request: HttpRequest, campaign: Campaign) -> KeysContext:
    """Return the keys of the desk. Actions shared with the judging room have the same keys."""
    labels = campaign.question_kind.rulings(campaign)
    annotator = Annotator.objects.filter(user=cast(User, request.user)).first()
    preferences = annotator.preferences if annotator else {}
    found = desk_keys(
        own_keys(annotator),
        steps=len(labels),
        characters=preferences.get("character_keys", True),
    )
    shown = {name: [*map(shown_key, keys)] for name, keys in found.items()}
    answers = [
        AnswerButton(value, text.capitalize(), shown[f"answer-{value}"])
        for value, text in labels.items()
    ]
    return {
        "keys": {name.replace("-", "_"): own for name, own in shown.items()},
        "key_list": [(answer.keys, answer.text, False) for answer in answers]
        + [(shown[name], text, False) for name, text in desk_texts().items()],
        "bindings": json.dumps(bindings(found)),
        "answers": answers,
    }


def _kinds(queue: list[DeskEntry]) -> list[tuple[str, str, int]]:
    """Return the values of the filter, with their labels and numbers of tasks."""
    counts = desk_counts(queue)
    return [("", "All", len(queue)), *((state.value, state.label, n) for state, n in counts)]


def _of_kind(queue: list[DeskEntry], kind: str) -> list[DeskEntry]:
    return [entry for entry in queue if kind in ("", entry.state)]


def _place_of(task: str, queue: list[DeskEntry]) -> int:
    """Return the position of a task in the queue, or 0 if it is not there."""
    places = (place for place, entry in enumerate(queue) if str(entry.pk) == task)
    return next(places, 0)


def _after(task: int, queue: list[DeskEntry]) -> DeskEntry | None:
    """Return the entry after the task. After the last one, return the first other entry."""
    places = [entry.pk for entry in queue]
    place = places.index(task) if task in places else len(queue)
    return next(iter(queue[place + 1 :] + queue[:place]), None)
