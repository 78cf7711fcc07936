"""The annotators of a campaign, for its leads: a table of all, and a page for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from annotation.enums import (
    AnnotationAct,
    CampaignState,
    Joining,
    JudgmentState,
    TaskState,
)
from annotation.models import Campaign, Judgment, JudgmentTask
from annotation.policies import can_lead_somewhere
from annotation.selectors.campaigns import get_campaign
from evaluation.core.people.figures import FAST_SHARE, GOLD_ANSWERS, MIN_ACCURACY, Flag
from evaluation.core.people.pace import TOO_FAST_MS
from evaluation.monitor.periods import answers_chart, gold_chart, relevant_chart, seconds_chart
from evaluation.monitor.person_rows import (
    COLUMNS,
    FLAG_NAMES,
    NUMBERS,
    PersonRow,
    combined,
    people_csv,
    person_rows,
)
from evaluation.monitor.selectors import (
    ANSWER_FILTERS,
    CampaignPerson,
    answers_of,
    done_withdrawals,
    get_campaign_person,
    get_figures,
    measure_person,
)
from evaluation.monitor.selectors.people import membership_changes
from evaluation.monitor.views.studies import figures_of_person
from hearth.accounts.roles import Role, scopes_of
from hearth.audit.downloads import download_recorded_csv
from hearth.shared.errors import InvalidInput
from hearth.shared.numbers import PERCENT_SIGN
from hearth.shared.pages import only_for
from hearth.shared.tables import Order, page_of
from pooling.selectors.media import playable_address

ANSWERS_PER_PAGE = 25
# The meaning of each flag, as sentences for pages.
MEANING = {
    Flag.TOO_FAST: f"At least {100 * FAST_SHARE:.0f}{PERCENT_SIGN} of the answers took less than "
    f"{TOO_FAST_MS / 1000} seconds.",
    Flag.LOW_GOLD: f"The annotator has answered at least {GOLD_ANSWERS} control pairs, and clearly "
    "fewer answers are correct than the campaign requires. If the campaign requires no accuracy, "
    f"{100 * MIN_ACCURACY:.0f}{PERCENT_SIGN} are expected.",
    Flag.LOW_AGREEMENT: "Other annotators who labelled the same pairs agree clearly less with this "
    "annotator than with each other. If the model of Dawid and Skene can estimate accuracies, this "
    "annotator’s accuracy is also clearly below the median of the annotators.",
    Flag.FEW_RELEVANT: "The share of relevant labels is clearly smaller than that of all other "
    "annotators combined.",
    Flag.MANY_RELEVANT: "The share of relevant labels is clearly larger than that of all other "
    "annotators combined.",
}
STATES = {
    JudgmentState.LIVE: "counted",
    JudgmentState.SUPERSEDED: "corrected later",
    JudgmentState.SURPLUS: "arrived late, not counted",
    JudgmentState.WITHDRAWN: "withdrawn by a lead",
}
FILTER_TITLES = {
    "": "All",
    "outvoted": "Different from the outcome",
    "wrong": "Wrong on control pairs",
    "fast": "Too fast",
}


@only_for(can_lead_somewhere)
def campaign_people(request: HttpRequest, pk: int) -> HttpResponse:
    campaign = get_campaign(pk, scopes_of(request.user, Role.LEAD))
    if campaign.is_training or campaign.is_study:
        return _redirect_to_people(campaign)
    stored = get_figures(campaign)
    figures = stored.figures if stored else None
    order = Order.requested(request.GET.get("sort", ""), COLUMNS, "-flags")
    rows = person_rows(campaign, figures)
    if not request.GET.get("sort"):
        # Flagged annotators come first, then those with the most labels.
        rows = Order(COLUMNS, "judged", descending=True).sort(rows, PersonRow.value)
    context = {
        "campaign": campaign,
        "benchmark": campaign.benchmark,
        "stored": stored,
        "rows": order.sort(rows, PersonRow.value),
        "heads": order.heads,
        "combined": combined(rows, figures).values(),
        "meaning": [(FLAG_NAMES[flag], text) for flag, text in MEANING.items()],
        "can_choose": campaign.joining == Joining.ADDED and campaign.state != CampaignState.CLOSED,
    }
    return render(request, "evaluation/monitor/campaign_people.html", context)


@only_for(can_lead_somewhere)
def campaign_people_csv(request: HttpRequest, pk: int) -> HttpResponse:
    campaign = get_campaign(pk, scopes_of(request.user, Role.LEAD))
    if campaign.is_training or campaign.is_study:
        return _redirect_to_people(campaign)
    stored = get_figures(campaign)
    rows = person_rows(campaign, stored.figures if stored else None)
    return download_recorded_csv(
        request,
        people_csv(rows),
        f"{campaign.benchmark.key}-campaign-{campaign.pk}-people",
        act=AnnotationAct.PEOPLE_DOWNLOADED,
        on=campaign,
    )


@only_for(can_lead_somewhere)
def campaign_person(request: HttpRequest, pk: int, pseudonym: str) -> HttpResponse:
    campaign = get_campaign(pk, scopes_of(request.user, Role.LEAD))
    if campaign.is_training:
        return _redirect_to_people(campaign)
    person = get_campaign_person(campaign, pseudonym)
    answers = answers_of(campaign, person.annotator)
    context = {
        "campaign": campaign,
        "benchmark": campaign.benchmark,
        "withdrawals": done_withdrawals(campaign, person.annotator),
        "pauses": membership_changes(campaign, person.annotator),
        "may_change": campaign.state != CampaignState.CLOSED and person.membership is not None,
        "can_withdraw": not campaign.is_imported
        and answers.filter(state=JudgmentState.LIVE).exists(),
    }
    context |= (
        figures_of_person(campaign, pseudonym)
        if campaign.is_study
        else {**_figures_of(campaign, person), **_listed_answers(request, campaign, answers)}
    )
    return render(request, "evaluation/monitor/campaign_person.html", context)


def _redirect_to_people(campaign: Campaign) -> HttpResponse:
    """Redirect to the page that lists the people of a training queue or of a study."""
    if campaign.is_training:
        return redirect("training", campaign.benchmark.key)
    return redirect(f"{reverse('campaign', args=[campaign.pk])}#people")


def _listed_answers(
    request: HttpRequest, campaign: Campaign, answers: QuerySet[Judgment]
) -> dict[str, Any]:
    show = request.GET.get("show", "")
    if show not in FILTER_TITLES:
        names = ", ".join(ANSWER_FILTERS)
        raise InvalidInput(f"The parameter “show” must be one of {names}, not {show[:50]!r}.")
    listed = answers.filter(ANSWER_FILTERS[show]) if show else answers
    page = page_of(listed, request.GET.get("page"), ANSWERS_PER_PAGE)
    return {
        "page": page,
        "answers": [AnswerRow.of(campaign, judgment) for judgment in page],
        "show": show,
        "filters": FILTER_TITLES.items(),
    }


def _figures_of(campaign: Campaign, person: CampaignPerson) -> dict[str, Any]:
    """Return an annotator's figures and charts, and the figures of all annotators combined."""
    stored = get_figures(campaign)
    figures = stored.figures if stored else None
    rows = person_rows(campaign, figures)
    row = next(row for row in rows if row.person.annotator.pk == person.annotator.pk)
    all_annotators, own = combined(rows, figures), measure_person(campaign, person.annotator)
    charts = (answers_chart(own), seconds_chart(own), relevant_chart(own), gold_chart(own))
    return {
        "stored": stored,
        "row": row,
        "figures": [
            (column.title, row.numbers[column.key], all_annotators[column.key])
            for column in NUMBERS
        ],
        "flags": [(FLAG_NAMES[Flag(flag)], MEANING[Flag(flag)]) for flag in row.flags],
        "charts": [chart for chart in charts if chart],
    }


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One answer as texts: its label, the outcome of its pair, and its state.

    is_settled: whether the outcome is a label.
    """

    judgment: Judgment
    label_text: str
    outcome_text: str
    is_settled: bool
    state_text: str
    video: str | None

    @classmethod
    def of(cls, campaign: Campaign, judgment: Judgment) -> AnswerRow:
        task, labels = judgment.task, campaign.labels
        if judgment.is_right is not None:
            outcome = "relevant" if task.gold and task.gold.is_relevant else "not relevant"
            state = f"control pair, {'correct' if judgment.is_right else 'wrong'}"
        else:
            outcome = _outcome_text(task, labels)
            state = STATES[JudgmentState(judgment.state)]
        label = campaign.question_kind.words_of(campaign, judgment)
        is_settled = judgment.is_right is not None or task.label is not None
        return cls(judgment, label, outcome, is_settled, state, playable_address(task.video))


def _outcome_text(task: JudgmentTask, labels: dict[int, str]) -> str:
    """Return the outcome of a pair, as `TaskGroup.outcomes` counts it."""
    if task.label is not None:
        return labels.get(task.label, str(task.label))
    if task.state == TaskState.CONFLICTED:
        return "in conflict"
    return "pending" if task.labels_live else "unjudged"
