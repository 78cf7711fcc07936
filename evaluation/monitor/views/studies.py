"""The page of a study: its progress, its people, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from annotation.enums import CampaignState, Joining
from annotation.models import Campaign
from annotation.policies import can_judge, can_lead
from annotation.questions.kind import QuestionKind, Words
from annotation.selectors.desk import tasks_at_desk
from evaluation.monitor.person_rows import PersonState, name_of, state_of
from evaluation.monitor.policy_rows import describe_changes, study_policy_rows
from evaluation.monitor.selectors import CampaignPerson, people_of
from evaluation.monitor.selectors.studies import (
    OwnAnswers,
    StudyProgress,
    answers_by_annotator,
    study_progress,
)
from hearth.shared.numbers import Figure, count_figure, ratio, undefined
from hearth.shared.tables import Column
from hearth.shared.words import counted

CHANGES_MAX = 20


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
    own: OwnAnswers


def study_page(request: HttpRequest, study: Campaign) -> HttpResponse:
    progress = study_progress(study)
    leads = can_lead(request.user, study.benchmark)
    at_desk = tasks_at_desk(study).count()
    changes = study.changes.select_related("lead")[:CHANGES_MAX] if leads else []
    context = {
        "campaign": study,
        "benchmark": study.benchmark,
        "words": study.question_kind.words,
        "columns": _columns(study.question_kind),
        "progress": progress,
        "next_step": _next_step(study, progress, at_desk, leads=leads),
        "can_judge": can_judge(request.user, study),
        "can_lead": leads,
        "can_choose": study.joining == Joining.ADDED and study.state != CampaignState.CLOSED,
        "at_desk": at_desk,
        "people": _people_of(study) if leads else [],
        "policy": study_policy_rows(study),
        "changes": describe_changes(changes),
        "own": study.question_kind.summary(study),
    }
    return render(request, "evaluation/monitor/study.html", context)


def figures_of_person(study: Campaign, pseudonym: str) -> dict[str, Any]:
    """Return the context of the page of an annotator in a study."""
    rows = _people_of(study)
    row = next(row for row in rows if row.person.annotator.pseudonym == pseudonym)
    return {"row": row, "figures": _figures(study.question_kind.words, row)}


def _people_of(study: Campaign) -> list[StudyPerson]:
    """Return the annotators of a study, those with the most answers first."""
    figures = answers_by_annotator(study)
    none = OwnAnswers(figures=dict.fromkeys(study.question_kind.figure_titles))
    rows = [
        StudyPerson(
            person,
            name_of(person.annotator),
            state_of(study, person.annotator, person.membership),
            figures.get(person.annotator.pk, none),
        )
        for person in people_of(study, set(figures))
    ]
    return sorted(rows, key=lambda row: (-row.own.answers, row.person.annotator.pk))


def _columns(kind: QuestionKind) -> list[Column]:
    """Return the columns of numbers in the table of people."""
    words = kind.words
    titles = (words.answers, *kind.figure_titles, f"{words.controls} correct")
    return [Column("", title[:1].upper() + title[1:], "count") for title in titles]


def _figures(words: Words, row: StudyPerson) -> list[tuple[str, Figure, Figure]]:
    """Return rows of a name, its value, and an empty value for all annotators combined."""
    own, withdrawn = row.own, row.person.withdrawn
    further = {
        title: undefined(words.alone) if value is None else Figure(value, "coefficient")
        for title, value in own.figures.items()
    }
    gold = Figure(ratio(own.right, own.gold), note=f"{own.right:,} of {own.gold:,}")
    numbers = {
        words.answers.capitalize(): count_figure(
            own.answers, f"{withdrawn:,} withdrawn" if withdrawn else ""
        ),
        **further,
        f"{words.controls.capitalize()} correct": gold
        if own.gold
        else undefined(f"no {words.control} answered yet"),
        "Escalated": count_figure(row.person.escalations),
    }
    return [(name, figure, undefined("")) for name, figure in numbers.items()]


def _next_step(study: Campaign, progress: StudyProgress, at_desk: int, *, leads: bool) -> NextStep:
    kind = study.question_kind
    words, compare = kind.words, ("", "")
    if kind.analysis:
        analysis = reverse("analysis", args=[study.benchmark.key, kind.analysis.page])
        compare = (f"{analysis}?studies={study.pk}", kind.analysis.text)
    if at_desk and leads and study.state != CampaignState.CLOSED:
        text = f"{counted(at_desk, words.item)} cannot be {words.answered} until a lead decides."
        return NextStep(text, reverse("desk", args=[study.pk]), "Go to the desk")
    if not progress.open:
        return NextStep(f"No {words.item} is waiting for an annotator.", *compare)
    if progress.complete or study.state != CampaignState.OPEN:
        return NextStep(_about_open(study, progress), *(compare if progress.complete else ()))
    if leads and study.joining == Joining.ADDED and not study.members.exists():
        add = (reverse("campaign-members", args=[study.pk]), "Add annotators")
        return NextStep("No annotator is in the study yet.", *add)
    return NextStep(
        f"Annotators find the study on their home page. Each {words.item} needs "
        f"{study.labels_each} {words.answers} by different people."
    )


def _about_open(study: Campaign, progress: StudyProgress) -> str:
    """Return what happens to the items that do not have all answers."""
    words = study.question_kind.words
    left = counted(progress.open, words.item)
    if study.state == CampaignState.CLOSED:
        return f"The study is closed. The analysis leaves out {left} with missing {words.answers}."
    if study.state == CampaignState.PAUSED:
        return f"The study is paused. Open it again to get the missing {words.answers} of {left}."
    return f"The analysis leaves out {left} with missing {words.answers}."
