"""The page of an ordering study: its progress, its people, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from annotation.enums import CampaignState, Joining
from annotation.models import Campaign
from annotation.policies import can_judge, can_lead
from annotation.selectors.desk import tasks_at_desk
from evaluation.monitor.person_rows import PersonState, name_of, state_of
from evaluation.monitor.policy_rows import describe_changes, study_policy_rows
from evaluation.monitor.selectors import CampaignPerson, orderings, people_of
from hearth.shared.numbers import Figure, count_figure, ratio, undefined
from hearth.shared.words import counted

CHANGES_MAX = 20
NO_GOLD = "no control order answered yet"
ALONE = "no other order of the same videos"


class NextStep(NamedTuple):
    """What to do next, and the page for it, if there is one."""

    text: str
    address: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class StudyPerson:
    """An annotator of a study, for its leads."""

    person: CampaignPerson
    name: str
    state: PersonState
    own: orderings.OwnOrders


def study_page(request: HttpRequest, study: Campaign) -> HttpResponse:
    progress = orderings.study_progress(study)
    leads = can_lead(request.user, study.benchmark)
    at_desk = tasks_at_desk(study).count()
    changes = study.changes.select_related("lead")[:CHANGES_MAX] if leads else []
    context = {
        "campaign": study,
        "benchmark": study.benchmark,
        "progress": progress,
        "next_step": _next_step(study, progress, at_desk, leads=leads),
        "can_judge": can_judge(request.user, study),
        "can_lead": leads,
        "can_choose": study.joining == Joining.ADDED and study.state != CampaignState.CLOSED,
        "at_desk": at_desk,
        "people": _people_of(study) if leads else [],
        "policy": study_policy_rows(study),
        "changes": describe_changes(changes),
    }
    return render(request, "evaluation/monitor/study.html", context)


def figures_of_person(study: Campaign, pseudonym: str) -> dict[str, Any]:
    """Return the context of the page of an annotator in a study."""
    rows = _people_of(study)
    row = next(row for row in rows if row.person.annotator.pseudonym == pseudonym)
    return {"row": row, "figures": _figures(row)}


def _people_of(study: Campaign) -> list[StudyPerson]:
    """Return the annotators of a study, those with the most orders first."""
    figures = orderings.orders_by_annotator(study)
    rows = [
        StudyPerson(
            person,
            name_of(person.annotator),
            state_of(study, person.annotator, person.membership),
            figures.get(person.annotator.pk, orderings.OwnOrders()),
        )
        for person in people_of(study, set(figures))
    ]
    return sorted(rows, key=lambda row: (-row.own.orders, row.person.annotator.pk))


def _figures(row: StudyPerson) -> list[tuple[str, Figure, Figure]]:
    """Return rows of a name, its value, and an empty value for all annotators combined."""
    own, withdrawn = row.own, row.person.withdrawn
    tau = undefined(ALONE) if own.tau is None else Figure(own.tau, "coefficient")
    gold = Figure(ratio(own.right, own.gold), note=f"{own.right:,} of {own.gold:,}")
    numbers = {
        "Orders": count_figure(own.orders, f"{withdrawn:,} withdrawn" if withdrawn else ""),
        "Kendall’s tau with the others": tau,
        "Control orders correct": gold if own.gold else undefined(NO_GOLD),
        "Escalated": count_figure(row.person.escalations),
    }
    return [(name, figure, undefined("")) for name, figure in numbers.items()]


def _next_step(
    study: Campaign, progress: orderings.StudyProgress, at_desk: int, *, leads: bool
) -> NextStep:
    analysis = reverse("analysis", args=[study.benchmark.key, "proxy-orderings"])
    compare = (f"{analysis}?studies={study.pk}", "Compare proxies with people")
    if at_desk and leads and study.state != CampaignState.CLOSED:
        text = f"{counted(at_desk, 'video')} cannot be ordered until a lead decides."
        return NextStep(text, reverse("desk", args=[study.pk]), "Go to the desk")
    if not progress.open:
        return NextStep("No video is waiting for an annotator.", *compare)
    if progress.complete or study.state != CampaignState.OPEN:
        return NextStep(_about_open(study, progress), *(compare if progress.complete else ()))
    if leads and study.joining == Joining.ADDED and not study.members.exists():
        add = (reverse("campaign-members", args=[study.pk]), "Add annotators")
        return NextStep("No annotator is in the study yet.", *add)
    return NextStep(
        "Annotators find the study on their home page. Each video needs "
        f"{study.labels_each} orders by different people."
    )


def _about_open(study: Campaign, progress: orderings.StudyProgress) -> str:
    """Return what happens to the videos that do not have all orders."""
    left = counted(progress.open, "video")
    if study.state == CampaignState.CLOSED:
        return f"The study is closed. The analysis leaves out {left} with missing orders."
    if study.state == CampaignState.PAUSED:
        return f"The study is paused. Open it again to get the missing orders of {left}."
    return f"The analysis leaves out {left} with missing orders."
