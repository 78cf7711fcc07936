"""The page of an ordering study: its progress, its people, and what to do next."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from annotation.core.orderings import Levels
from annotation.enums import CampaignState, Joining
from annotation.models import Campaign
from annotation.policies import can_judge, can_lead
from config.shared.words import counted
from evaluation.monitor.selectors.orderings import StudyProgress, people_of_study, study_progress

LEVELS = {Levels.CAPTIONS: "of the captions", Levels.VALUES: "of the different values"}


def study_page(request: HttpRequest, study: Campaign) -> HttpResponse:
    progress = study_progress(study)
    leads = can_lead(request.user, study.benchmark)
    context = {
        "campaign": study,
        "benchmark": study.benchmark,
        "progress": progress,
        "next_step": _next_step(study, progress),
        "can_judge": can_judge(request.user, study),
        "can_lead": leads,
        "can_choose": study.joining == Joining.ADDED and study.state != CampaignState.CLOSED,
        "people": people_of_study(study) if leads else [],
        "policy": [
            ("Captions chosen by", str(study.proxy)),
            ("Quartiles", LEVELS[Levels(study.levels)]),
            ("Orders per video", str(study.labels_each)),
            ("Seed", str(study.seed)),
            ("Who may judge", Joining(study.joining).label),
        ],
    }
    return render(request, "evaluation/monitor/study.html", context)


def _next_step(study: Campaign, progress: StudyProgress) -> str:
    left = progress.videos - progress.complete
    if not left:
        return "All videos have their orders. Compare the proxies with people."
    if study.state == CampaignState.CLOSED:
        return f"The study is closed. {counted(left, 'video')} without all orders will not count."
    if study.state == CampaignState.PAUSED:
        return "The study is paused. Open it again, so that annotators can go on."
    if not progress.orders:
        return (
            "Annotators find the study on their home page. Each video needs "
            f"{study.labels_each} orders by different people."
        )
    return f"{counted(left, 'video')} without all orders. The analysis leaves them out until then."
