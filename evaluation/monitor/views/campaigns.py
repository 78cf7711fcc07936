"""The page of a campaign: how far it is, how fast it goes, how far its annotators agree."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.core.cache import cache
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotation.core.consensus import OutcomeCounts
from annotation.core.pausing import MEMBER
from annotation.enums import CampaignState, TaskState
from annotation.models import Campaign, CampaignChange
from annotation.policies import can_judge, can_lead
from annotation.selectors.desk import tasks_at_desk
from annotation.selectors.progress import CampaignProgress, campaign_progress
from annotation.selectors.training import find_training_queue, training_items
from config.accounts.roles import Role, scopes_of
from config.jobs.views import start_job
from config.shared.pages import only_for
from evaluation.monitor import figures as words
from evaluation.monitor.policy_rows import policy_rows, said_changes
from evaluation.monitor.selectors import Measured, escalation_counts, is_small, measured_campaign
from evaluation.monitor.selectors.people import members_of
from evaluation.monitor.sorting import asked_sort, heads, in_order
from evaluation.release.policies import can_evaluate, can_see_scores

# Several people may watch a campaign: they share one count of its tasks.
PROGRESS_FOR_SECONDS = {
    CampaignState.OPEN: 3,
    CampaignState.PAUSED: 3,
    CampaignState.CLOSED: 60,
}
# A count that took long is kept so many times as long, or it would go on all the time.
KEPT_TIMES_AS_LONG = 20
CHANGES_SHOWN = 20


@only_for(can_see_scores)
@require_safe
def campaign(request: HttpRequest, pk: int) -> HttpResponse:
    found = _get_campaign(request, pk)
    if found.is_training:
        return redirect("training", found.benchmark.key)
    leads = can_lead(request.user, found.benchmark)
    measured, desk = measured_campaign(found), _desk(found)
    progress = _progress_context(found, measured, may_wait=False)
    context = {
        "campaign": found,
        "benchmark": found.benchmark,
        **_as_at_desk(progress, desk),
        **_figures_context(request, found, measured),
        "can_judge": can_judge(request.user, found),
        "can_lead": leads,
        "at_desk": desk["all"],
        "waiting": _waiting(progress["progress"], desk),
        "policy": policy_rows(found),
        "changes": said_changes(_last_changes(found)),
    }
    if leads:
        context |= _people_context(found, measured)
    return render(request, "evaluation/monitor/campaign.html", context)


@only_for(can_see_scores)
@require_safe
def campaign_progress_part(request: HttpRequest, pk: int) -> HttpResponse:
    """The part of the page that htmx asks for while the campaign is open."""
    found = _get_campaign(request, pk)
    progress = _progress_context(found, None, may_wait=True)
    context = {"campaign": found, **_as_at_desk(progress, _desk(found))}
    context["announce"] = request.GET.get("seen") != str(context["progress"].percent)
    response = render(request, "evaluation/monitor/_campaign_progress.html", context)
    if found.state != CampaignState.OPEN and "seen" in request.GET:
        # Paused or closed since: the buttons of the page are others now.
        response["HX-Refresh"] = "true"
    return response


@only_for(can_see_scores)
@require_safe
def campaign_csv(request: HttpRequest, pk: int) -> HttpResponse:
    """What happened when, for spreadsheets."""
    found = _get_campaign(request, pk)
    measured = measured_campaign(found)
    body = words.stretches_csv(measured.figures if measured else {"stretches": []})
    response = HttpResponse(body, content_type="text/csv; charset=utf-8")
    name = f"{found.benchmark.key}-campaign-{found.pk}-over-time.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@only_for(can_evaluate)
@require_POST
def campaign_compute(request: HttpRequest, pk: int) -> HttpResponse:
    """Renew the kept figures; those of a small campaign are never older than a minute."""
    found = _get_campaign(request, pk)
    measured = measured_campaign(found)
    if measured is not None and not measured.kept:
        messages.info(request, "The figures are of this minute.")
        return redirect("campaign", found.pk)
    return start_job(
        request,
        kind="campaign_figures",
        title=f"Figures of {found.name}",
        params={"campaign": found.pk},
        benchmark_key=found.benchmark.key,
    )


def _get_campaign(request: HttpRequest, pk: int) -> Campaign:
    """A campaign of another's benchmark is answered like one that is not there."""
    seen = scopes_of(request.user, Role.RESEARCHER)
    campaigns = Campaign.objects.select_related("benchmark", "guideline")
    return get_object_or_404(seen.limit(campaigns, "benchmark__key"), pk=pk)


def _last_changes(found: Campaign) -> list[CampaignChange]:
    """Not those of single people, whom researchers do not know; they are on the person's page."""
    changes = found.changes.exclude(changes__has_key=MEMBER)
    return list(changes.select_related("lead")[:CHANGES_SHOWN])


def _desk(found: Campaign) -> dict[str, int]:
    """How many tasks wait for a lead: all, and the pairs of two states."""
    states = (TaskState.ESCALATED, TaskState.UNPLAYABLE)
    pairs = {state.value: Count("pk", filter=Q(state=state, gold=None)) for state in states}
    counts: dict[str, int] = tasks_at_desk(found).aggregate(all=Count("pk"), **pairs)
    return counts


def _as_at_desk(context: dict[str, Any], desk: dict[str, int]) -> dict[str, Any]:
    """What a lead has left out waits for nobody, though it stays unplayable."""
    progress = context["progress"]
    shown = progress and replace(progress, unplayable=desk[TaskState.UNPLAYABLE])
    return context | {"progress": shown}


def _waiting(progress: CampaignProgress | None, desk: dict[str, int]) -> list[words.Figure]:
    """What no count of labels shows: pairs that only a lead can move, or has left out."""
    escalated = desk[TaskState.ESCALATED]
    left_out = progress.unplayable - desk[TaskState.UNPLAYABLE] if progress else 0
    rows = [
        (escalated, words.Figure("Handed on, undecided", f"{escalated:,}", "wait at the desk")),
        (left_out, words.Figure("Left out", f"{left_out:,}", "the video cannot play")),
    ]
    return [figure for count, figure in rows if count > 0]


def _progress_context(
    found: Campaign, measured: Measured | None, *, may_wait: bool
) -> dict[str, Any]:
    """The progress of this moment; for a page that may not wait, of a large campaign that nobody
    watches, as it was when it was measured: the moment's is fetched later."""
    key = f"campaign-progress-{found.pk}-{found.state}"
    progress: CampaignProgress | None = cache.get(key)
    if progress is not None:
        return {"progress": progress, "is_live": True}
    if not may_wait and not is_small(found, 0):
        return {"progress": measured and _progress_then(measured), "is_live": False}
    begin = time.monotonic()
    progress = campaign_progress(found)
    took = KEPT_TIMES_AS_LONG * (time.monotonic() - begin)
    cache.set(key, progress, max(took, PROGRESS_FOR_SECONDS[CampaignState(found.state)]))
    return {"progress": progress, "is_live": True}


def _progress_then(measured: Measured) -> CampaignProgress:
    names = ("tasks", "pairs", "unplayable", "relevant", "labels", "labels_required", "surplus")
    counts = {name: measured.figures[name] for name in names}
    return CampaignProgress(outcomes=OutcomeCounts(**measured.figures["outcomes"]), **counts)


def _figures_context(
    request: HttpRequest, found: Campaign, measured: Measured | None
) -> dict[str, Any]:
    """All figures but those of single people."""
    if measured is None:
        return {"measured": None}
    figures = measured.figures
    sort = asked_sort(request.GET.get("sort", ""), words.STRETCH_COLUMNS, "start")
    happened = [one for one in figures["stretches"] if one["answers"]]
    ordered = in_order(happened, sort, words.stretch_value)
    width = figures["span"]["width"] if figures["span"] else 0
    return {
        "measured": measured,
        "pace": words.pace_figures(figures, CampaignState(found.state)),
        "labels": words.label_figures(figures, escalation_counts(found, "kind")),
        "turns": words.turn_rows(figures),
        "agreement_rows": words.agreement_rows(figures["agreement"]),
        "agreement_note": words.agreement_note(figures["agreement"]),
        "by_count": words.count_rows(figures["agreement"]),
        "is_graded": figures["agreement"]["first_labels"]["alpha_level"] == "ordinal",
        "gold": words.share_text(figures["right"], figures["gold"]) if figures["gold"] else "",
        "gold_right": figures["right"],
        "gold_answered": figures["gold"],
        "answers_chart": words.answers_chart(figures),
        "gold_chart": words.gold_chart(figures),
        "columns": heads(words.STRETCH_COLUMNS, sort, texts={"start"}),
        "stretches": words.stretch_rows(ordered, width),
        "is_sorted": "sort" in request.GET,
    }


def _people_context(found: Campaign, measured: Measured | None) -> dict[str, Any]:
    people = measured.figures["people"] if measured else []
    return {
        "people": max(members_of(found).count(), len(people)),
        "flagged": sum(bool(one["flags"]) for one in people),
        "gate_items": _items_short_of_gate(found),
    }


def _items_short_of_gate(found: Campaign) -> int | None:
    """How many training items are open, where the gate asks for more right answers than that."""
    if not found.has_entry_requirement or found.state == CampaignState.CLOSED:
        return None
    queue = find_training_queue(found.benchmark)
    items = training_items(queue) if queue else 0
    return items if items < found.entry_requirement.needed else None
