"""The people of a campaign, for its leads: all of them in a table, and each on a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.enums import CampaignState, Joining, JudgmentState
from annotation.models import Campaign, Judgment
from annotation.policies import can_lead_somewhere
from annotation.selectors.campaigns import get_campaign
from config.accounts.roles import Role, scopes_of
from config.shared.errors import InvalidInput
from config.shared.pages import only_for
from evaluation.core.people.figures import GOLD_ANSWERS, MIN_ACCURACY, Flag
from evaluation.core.people.pace import TOO_FAST_MS
from evaluation.monitor import figures as words
from evaluation.monitor.person_rows import (
    COLUMNS,
    NUMBERS,
    TEXTS,
    PersonRow,
    people_csv,
    person_rows,
    together,
)
from evaluation.monitor.selectors import (
    ANSWERS_SHOWN,
    CampaignPerson,
    answers_of,
    done_withdrawals,
    get_campaign_person,
    measure_person,
    measured_campaign,
)
from evaluation.monitor.selectors.people import pauses_of
from evaluation.monitor.sorting import asked_sort, heads, in_order
from pooling.selectors import playable_address

ANSWERS_PER_PAGE = 25
MEANING = {
    Flag.TOO_FAST: f"a twentieth or more of the answers took less than {TOO_FAST_MS / 1000} s",
    Flag.LOW_GOLD: f"of {GOLD_ANSWERS} control pairs or more, clearly fewer right than the "
    f"campaign asks for, or than {100 * MIN_ACCURACY:.0f} % where it asks for none",
    Flag.LOW_AGREEMENT: "others who labelled the same pairs agree clearly less with them than with "
    "one another, and the model of Dawid and Skene, too, finds them less accurate",
    Flag.FEW_RELEVANT: "a clearly smaller share of relevant labels than all others together",
    Flag.MANY_RELEVANT: "a clearly greater share of relevant labels than all others together",
}
STATES = {
    JudgmentState.LIVE: "counts",
    JudgmentState.SUPERSEDED: "corrected since",
    JudgmentState.SURPLUS: "came late, does not count",
    JudgmentState.WITHDRAWN: "taken back by a lead",
}
SHOWN = {
    "": "All",
    "outvoted": "Differ from what came out",
    "wrong": "Wrong on gold",
    "fast": "Too fast",
}


@only_for(can_lead_somewhere)
@require_safe
def campaign_people(request: HttpRequest, pk: int) -> HttpResponse:
    campaign = get_campaign(pk, scopes_of(request.user, Role.LEAD))
    measured = measured_campaign(campaign)
    figures = measured.figures if measured else None
    # Who is to be looked at comes first, and of them, as of the others, who judged most.
    sort = asked_sort(request.GET.get("sort", ""), COLUMNS, "-flags")
    rows = person_rows(campaign, figures)
    if not request.GET.get("sort"):
        rows = in_order(rows, "-judged", PersonRow.value)
    everybody = together(rows, figures)
    context = {
        "campaign": campaign,
        "benchmark": campaign.benchmark,
        "measured": measured,
        "rows": in_order(rows, sort, PersonRow.value),
        "columns": heads(COLUMNS, sort, texts=TEXTS),
        "numbers": NUMBERS,
        "together": [everybody[key] for key in NUMBERS],
        "meaning": [(str(flag), text) for flag, text in MEANING.items()],
        "can_choose": campaign.joining == Joining.ADDED and campaign.state != CampaignState.CLOSED,
    }
    return render(request, "evaluation/monitor/campaign_people.html", context)


@only_for(can_lead_somewhere)
@require_safe
def campaign_people_csv(request: HttpRequest, pk: int) -> HttpResponse:
    campaign = get_campaign(pk, scopes_of(request.user, Role.LEAD))
    measured = measured_campaign(campaign)
    rows = person_rows(campaign, measured.figures if measured else None)
    response = HttpResponse(people_csv(rows), content_type="text/csv; charset=utf-8")
    name = f"{campaign.benchmark.key}-campaign-{campaign.pk}-people.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@only_for(can_lead_somewhere)
@require_safe
def campaign_person(request: HttpRequest, pk: int, pseudonym: str) -> HttpResponse:
    campaign = get_campaign(pk, scopes_of(request.user, Role.LEAD))
    person = get_campaign_person(campaign, pseudonym)
    show = request.GET.get("show", "")
    if show not in SHOWN:
        raise InvalidInput(f"answers are listed by {', '.join(ANSWERS_SHOWN)}, not {show[:50]!r}")
    answers = answers_of(campaign, person.annotator)
    shown = answers.filter(ANSWERS_SHOWN[show]) if show else answers
    page = Paginator(shown, ANSWERS_PER_PAGE).get_page(request.GET.get("page"))
    counts = answers.filter(state=JudgmentState.LIVE).exists()
    context = {
        "campaign": campaign,
        "benchmark": campaign.benchmark,
        **_figures_of(campaign, person),
        "page": page,
        "answers": [AnswerRow.of(campaign, judgment) for judgment in page],
        "show": show,
        "shown": SHOWN.items(),
        "withdrawals": done_withdrawals(campaign, person.annotator),
        "pauses": pauses_of(campaign, person.annotator),
        "may_change": campaign.state != CampaignState.CLOSED and person.membership is not None,
        "can_reopen": not campaign.is_imported and counts,
    }
    return render(request, "evaluation/monitor/campaign_person.html", context)


def _figures_of(campaign: Campaign, person: CampaignPerson) -> dict[str, Any]:
    """The person's row of the table beside that of all, and what they did when."""
    measured = measured_campaign(campaign)
    figures = measured.figures if measured else None
    rows = person_rows(campaign, figures)
    row = next(one for one in rows if one.person.annotator.pk == person.annotator.pk)
    everybody, own = together(rows, figures), measure_person(campaign, person.annotator)
    charts = (
        words.answers_chart(own),
        words.seconds_chart(own),
        words.relevant_chart(own),
        words.gold_chart(own),
    )
    return {
        "measured": measured,
        "row": row,
        "facts": [(COLUMNS[key], row.numbers[key], everybody[key]) for key in NUMBERS],
        "flags": [(flag, MEANING[Flag(flag)]) for flag in row.flags],
        "charts": [chart for chart in charts if chart],
    }


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One answer as a lead sees it: what was said, what came out, and what became of it."""

    judgment: Judgment
    said: str
    came_out: str
    became: str
    video: str | None

    @classmethod
    def of(cls, campaign: Campaign, judgment: Judgment) -> AnswerRow:
        task, labels = judgment.task, campaign.labels
        if judgment.is_right is not None:
            came_out = "relevant" if task.gold and task.gold.is_relevant else "not relevant"
            became = "gold, right" if judgment.is_right else "gold, wrong"
        else:
            came_out = "" if task.label is None else labels.get(task.label, str(task.label))
            became = STATES[JudgmentState(judgment.state)]
        said = labels.get(judgment.label, str(judgment.label))
        return cls(judgment, said, came_out, became, playable_address(task.video))
