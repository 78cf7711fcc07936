"""The page of a campaign: how far it is and how far its annotators agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.enums import CampaignState
from annotation.models import Campaign
from annotation.policies import can_judge, can_lead
from annotation.selectors import annotator_names, campaign_progress, tasks_at_desk
from config.shared.pages import only_for
from evaluation.models import AgreementReport
from evaluation.policies import can_see_annotators, can_see_scores
from evaluation.selectors import latest_agreement
from evaluation.views.tables import MINUS

# Several people may watch a campaign: they share one count of its tasks.
PROGRESS_FOR_SECONDS = {
    CampaignState.OPEN: 3,
    CampaignState.PAUSED: 3,
    CampaignState.CLOSED: 60,
}
# What a report may hold in place of a figure.
NO_FIGURE = "–"


@only_for(can_see_scores)
@require_safe
def campaign(request: HttpRequest, pk: int) -> HttpResponse:
    found = _get_campaign(pk)
    report = latest_agreement(found.pool.benchmark)
    context = {
        **_progress_context(found),
        "benchmark": found.pool.benchmark,
        "double_percent": f"{100 * found.double_share:.4f}".rstrip("0").rstrip("."),
        "doubled": round(found.n_tasks * float(found.double_share)),
        "can_judge": can_judge(request.user, found),
        "at_desk": tasks_at_desk(found).count() if can_lead(request.user) else 0,
        "report": report,
        "figures": agreement_figures(report),
        "by_count": _by_label_count(report),
        "annotators": _annotators(report) if can_see_annotators(request.user) else [],
    }
    return render(request, "evaluation/campaign.html", context)


@only_for(can_see_scores)
@require_safe
def campaign_figures(request: HttpRequest, pk: int) -> HttpResponse:
    """The part of the page that htmx asks for while the campaign is open."""
    found = _get_campaign(pk)
    context = _progress_context(found)
    context["announce"] = request.GET.get("seen") != str(context["progress"].percent)
    response = render(request, "evaluation/_campaign_progress.html", context)
    if found.state != CampaignState.OPEN:
        # Paused or closed since: the buttons of the page are others now.
        response["HX-Refresh"] = "true"
    return response


def _get_campaign(pk: int) -> Campaign:
    return get_object_or_404(Campaign.objects.select_related("pool__benchmark", "guideline"), pk=pk)


def _progress_context(found: Campaign) -> dict[str, Any]:
    progress = cache.get_or_set(
        f"campaign-progress-{found.pk}-{found.state}",
        lambda: campaign_progress(found),
        PROGRESS_FOR_SECONDS[CampaignState(found.state)],
    )
    return {"campaign": found, "progress": progress}


@dataclass(frozen=True, slots=True)
class Figure:
    name: str
    text: str
    reason: str = ""


def agreement_figures(report: AgreementReport | None) -> list[Figure]:
    """The headline figures of a report; one that is undefined says why."""
    if report is None:
        return []
    result = report.result
    undefined = result.get("undefined", {})

    def figure(name: str, key: str, text: str) -> Figure:
        return Figure(
            name, text if result.get(key) is not None else NO_FIGURE, undefined.get(key, "")
        )

    interval = result.get("alpha_interval")
    return [
        figure("All labels of a pair equal", "agreement", _percent(result.get("agreement"))),
        figure(
            "Two labels of a pair equal",
            "pairwise_agreement",
            _percent(result.get("pairwise_agreement")),
        ),
        figure("Krippendorff’s alpha", "alpha", _plain(result.get("alpha"))),
        figure(
            "95 % interval of alpha",
            "alpha_interval",
            " to ".join(map(_plain, interval)) if interval else NO_FIGURE,
        ),
    ]


def _by_label_count(report: AgreementReport | None) -> list[dict[str, Any]]:
    rows = report.result.get("by_label_count", []) if report else []
    return [{**row, "agreement": _percent(row["agreement"])} for row in rows]


def _annotators(report: AgreementReport | None) -> list[dict[str, Any]]:
    rows = report.result.get("annotators", []) if report else []
    names = annotator_names(np.array([row["annotator"] for row in rows], dtype=np.int64))
    found = [
        {
            "name": names.get(row["annotator"], "erased"),
            "labels": row["labels"],
            "relevant": _percent(row["relevant"]),
            "compared": row["compared"],
            "agreement": _percent(row["agreement"]),
        }
        for row in rows
    ]
    return sorted(found, key=lambda row: (-row["labels"], row["name"]))


def _percent(share: float | None) -> str:
    return NO_FIGURE if share is None else f"{100 * share:.1f} %"


def _plain(number: float | None) -> str:
    return NO_FIGURE if number is None else f"{number:.3f}".replace("-", MINUS)
