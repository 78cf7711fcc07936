"""The page of a campaign: its progress, speed, agreement and policy."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, TypedDict

from django.contrib import messages
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.core.consensus import OutcomeCounts
from annotation.enums import AnnotationAct, CampaignState, TaskState
from annotation.models import Campaign, CampaignChange
from annotation.policies import can_judge, can_lead
from annotation.selectors.desk import tasks_at_desk
from annotation.selectors.progress import CampaignProgress, campaign_progress
from annotation.selectors.training import find_training_queue, training_items
from evaluation.monitor.figures import (
    NamedFigure,
    agreement_note,
    agreement_rows,
    label_count_rows,
    label_figures,
    label_round_rows,
    speed_figures,
)
from evaluation.monitor.periods import (
    PERIOD_COLUMNS,
    answers_chart,
    gold_chart,
    period_rows,
    period_value,
    periods_csv,
)
from evaluation.monitor.policy_rows import describe_changes, policy_rows
from evaluation.monitor.selectors import (
    CampaignFigures,
    StoredFigures,
    escalation_counts,
    get_figures,
    is_small,
)
from evaluation.monitor.selectors.people import members_of
from evaluation.monitor.selectors.studies import answers_csv
from evaluation.monitor.views.studies import study_page
from evaluation.release.policies import can_evaluate, can_see_scores
from hearth.accounts.roles import Role, scopes_of
from hearth.audit.downloads import download_recorded_csv
from hearth.jobs.views import start_job
from hearth.shared.caches import process_cache as cache
from hearth.shared.downloads import download_csv
from hearth.shared.numbers import Figure, ratio
from hearth.shared.pages import POST, only_for
from hearth.shared.tables import Order
from pooling.policies import benchmarks_seen_by

# In each web process, all viewers of a campaign share one count of its tasks.
PROGRESS_CACHE_SECONDS = {
    CampaignState.OPEN: 3,
    CampaignState.PAUSED: 3,
    CampaignState.CLOSED: 60,
}
# A count is cached for this multiple of the time it took, so counting takes at most 5 % of the
# time.
CACHE_COST_FACTOR = 20
CHANGES_MAX = 20


@only_for(can_see_scores)
def campaign(request: HttpRequest, pk: int) -> HttpResponse:
    found = _get_campaign(request, pk)
    if found.is_training:
        return redirect("training", found.benchmark.key)
    if found.is_study:
        return study_page(request, found)
    leads = can_lead(request.user, found.benchmark)
    stored, desk = get_figures(found), _count_at_desk(found)
    progress = _progress_context(found, stored, may_wait=False)
    context = {
        "campaign": found,
        "benchmark": found.benchmark,
        **_without_excluded(progress, desk),
        **_figures_context(request, found, stored),
        "can_judge": can_judge(request.user, found),
        "can_lead": leads,
        "at_desk": desk["all"],
        "lead_figures": _lead_figures(progress["progress"], desk),
        "policy": policy_rows(found),
        "changes": describe_changes(_last_changes(found)),
        "own": found.question_kind.summary(found),
    }
    if leads:
        context |= _people_context(found, stored)
    return render(request, "evaluation/monitor/campaign.html", context)


@only_for(can_see_scores)
def campaign_progress_part(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the progress, which htmx requests repeatedly while the campaign is open."""
    found = _get_campaign_with_labels(request, pk)
    current = _progress_context(found, None, may_wait=True)
    shown = _without_excluded(current, _count_at_desk(found))
    percent = shown["progress"].percent if shown["progress"] else None
    context = {"campaign": found, **shown, "announce": request.GET.get("seen") != str(percent)}
    response = render(request, "evaluation/monitor/_campaign_progress.html", context)
    if found.state != CampaignState.OPEN and "seen" in request.GET:
        # The campaign has been paused or closed, so the page needs other buttons.
        response["HX-Refresh"] = "true"
    return response


@only_for(can_see_scores)
def campaign_csv(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the answers over time as a CSV file."""
    found = _get_campaign_with_labels(request, pk)
    stored = get_figures(found)
    body = periods_csv(stored.figures if stored else None)
    return download_csv(body, f"{found.benchmark.key}-campaign-{found.pk}-over-time")


@only_for(can_see_scores)
def campaign_answers(request: HttpRequest, pk: int, answers: str) -> HttpResponse:
    """Return the answers of a study as a CSV file. The address has the noun of its question."""
    found = _get_campaign(request, pk)
    if not found.is_study or answers != found.question_kind.words.answers:
        raise Http404
    return download_recorded_csv(
        request,
        answers_csv(found),
        f"{found.benchmark.key}-campaign-{found.pk}-{answers}",
        act=AnnotationAct.ANSWERS_DOWNLOADED,
        on=found,
    )


@only_for(can_evaluate, POST)
def campaign_compute(request: HttpRequest, pk: int) -> HttpResponse:
    """Start the job that recomputes the figures of a large campaign.

    Pages compute the figures of a small campaign, so these figures are at most one minute old.
    """
    found = _get_campaign_with_labels(request, pk)
    stored = get_figures(found)
    if stored is not None and not stored.is_report:
        messages.info(request, "The figures are less than one minute old.")
        return redirect("campaign", found.pk)
    return start_job(
        request,
        kind="campaign_figures",
        title=f"Compute the figures of {found.name}",
        params={"campaign": found.pk},
        benchmark_key=found.benchmark.key,
    )


def _get_campaign(request: HttpRequest, pk: int) -> Campaign:
    """Return a campaign. Raise `Http404` if the person cannot see its benchmark."""
    seen = scopes_of(request.user, Role.RESEARCHER)
    campaigns = Campaign.objects.select_related("benchmark", "guideline")
    return get_object_or_404(seen.limit(campaigns, "benchmark__key"), pk=pk)


def _get_campaign_with_labels(request: HttpRequest, pk: int) -> Campaign:
    """Return a campaign. Raise `Http404` if it is a study, which has other figures."""
    found = _get_campaign(request, pk)
    if found.is_study:
        raise Http404
    return found


def _last_changes(found: Campaign) -> list[CampaignChange]:
    return list(found.changes.select_related("lead")[:CHANGES_MAX])


def _count_at_desk(found: Campaign) -> dict[str, int]:
    """Return the number of tasks at the desk as `all`.

    The result also contains the numbers of escalated and of unplayable tasks, by state. These two
    numbers do not count tasks of gold items.
    """
    states = (TaskState.ESCALATED, TaskState.UNPLAYABLE)
    by_state = {state.value: Count("pk", filter=Q(state=state, gold=None)) for state in states}
    counts: dict[str, int] = tasks_at_desk(found).aggregate(all=Count("pk"), **by_state)
    return counts


class ProgressContext(TypedDict):
    """The progress of a campaign for its page.

    `is_live`: whether the progress is current. If it is not, the page requests the current progress
    when it has loaded.
    """

    progress: CampaignProgress | None
    is_live: bool


def _without_excluded(context: ProgressContext, desk: dict[str, int]) -> ProgressContext:
    """Return the progress without the unplayable tasks that a lead has excluded."""
    progress = context["progress"]
    if progress is None:
        return context
    playable = replace(progress, unplayable=desk[TaskState.UNPLAYABLE])
    return {"progress": playable, "is_live": context["is_live"]}


def _lead_figures(progress: CampaignProgress | None, desk: dict[str, int]) -> list[NamedFigure]:
    """Return the number of escalated tasks, and of tasks that a lead has excluded, if not 0."""
    excluded = progress.unplayable - desk[TaskState.UNPLAYABLE] if progress else 0
    rows = [
        ("Escalated", desk[TaskState.ESCALATED], "a lead rules on them at the desk"),
        ("Excluded", excluded, "the video cannot play"),
    ]
    return [(name, Figure(number, "count", note)) for name, number, note in rows if number > 0]


def _progress_context(
    found: Campaign, stored: StoredFigures | None, *, may_wait: bool
) -> ProgressContext:
    """Return the progress.

    may_wait: whether the request may wait for a count. If it may not, the progress of a large
    campaign without a cached count comes from its stored figures.
    """
    key = f"campaign-progress-{found.pk}-{found.state}"
    progress: CampaignProgress | None = cache.get(key)
    if progress is not None:
        return {"progress": progress, "is_live": True}
    if not may_wait and not is_small(found, 0):
        return {"progress": _stored_progress(stored) if stored else None, "is_live": False}
    begin = time.monotonic()
    progress = campaign_progress(found)
    seconds = CACHE_COST_FACTOR * (time.monotonic() - begin)
    cache.set(key, progress, max(seconds, PROGRESS_CACHE_SECONDS[CampaignState(found.state)]))
    return {"progress": progress, "is_live": True}


def _stored_progress(stored: StoredFigures) -> CampaignProgress:
    figures = stored.figures
    return CampaignProgress(
        tasks=figures["tasks"],
        pairs=figures["pairs"],
        outcomes=OutcomeCounts(**figures["outcomes"]),
        unplayable=figures["unplayable"],
        relevant=figures["relevant"],
        labels=figures["labels"],
        labels_required=figures["labels_required"],
        surplus=figures["surplus"],
    )


def _figures_context(
    request: HttpRequest, found: Campaign, stored: StoredFigures | None
) -> dict[str, Any]:
    """Return all figures except those of single annotators."""
    if stored is None:
        return {"stored": None}
    figures = stored.figures
    agreement = figures["agreement"]
    state = CampaignState(found.state)
    return {
        "stored": stored,
        "speed": speed_figures(figures["forecast"], figures["times"], state),
        "labels": label_figures(figures, escalation_counts(found, "kind")),
        "label_rounds": label_round_rows(figures["turns"]),
        "agreement_rows": agreement_rows(agreement),
        "agreement_note": agreement_note(agreement),
        "by_count": label_count_rows(agreement["by_label_count"]),
        "is_graded": agreement["first_labels"]["alpha_level"] == "ordinal",
        "gold": ratio(figures["right"], figures["gold"]),
        "gold_right": figures["right"],
        "gold_answered": figures["gold"],
        "answers_chart": answers_chart(figures),
        "gold_chart": gold_chart(figures),
        **_periods_context(request, figures),
    }


def _periods_context(request: HttpRequest, figures: CampaignFigures) -> dict[str, Any]:
    """Return the table of answers over time, without periods that have no answers."""
    order = Order.requested(request.GET.get("sort", ""), PERIOD_COLUMNS, "start")
    periods = [period for period in figures["stretches"] if period["answers"]]
    width = figures["span"]["width"] if figures["span"] else 0
    return {
        "heads": order.heads,
        "periods": period_rows(order.sort(periods, period_value), width),
        "n_empty_periods": len(figures["stretches"]) - len(periods),
        "is_sorted": "sort" in request.GET,
    }


def _people_context(found: Campaign, stored: StoredFigures | None) -> dict[str, Any]:
    people = stored.figures["people"] if stored else []
    return {
        "people": max(members_of(found).count(), len(people)),
        "flagged": sum(bool(person["flags"]) for person in people),
        "training_items": _too_few_training_items(found),
    }


def _too_few_training_items(found: Campaign) -> int | None:
    """Return the number of training items if they are too few for the entry requirement."""
    if not found.has_entry_requirement or found.state == CampaignState.CLOSED:
        return None
    queue = find_training_queue(found.benchmark)
    items = training_items(queue) if queue else 0
    return items if items < found.entry_requirement.needed else None


@only_for(can_evaluate, POST)
def agreement_compute(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    return start_job(
        request,
        kind="agreement",
        title=f"Compute the agreement of {benchmark.name}",
        params={"benchmark": benchmark.key},
        benchmark_key=benchmark.key,
    )
