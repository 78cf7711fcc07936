"""Training pages for leads: the queue, the annotators in it, and comments on their answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode

from annotation import services
from annotation.enums import CampaignState
from annotation.forms.training import FILTERS, UNCOMMENTED, WRONG, CommentForm
from annotation.models import Judgment
from annotation.policies import benchmarks_led_by, can_lead_somewhere
from annotation.questions.kind import kinds
from annotation.selectors.gold import gold_answers, outcomes
from annotation.selectors.members import CampaignAccess, running_campaigns
from annotation.selectors.training import (
    find_training_queue,
    get_trainee,
    trainees,
    training_escalations,
    training_log,
    training_queues,
)
from hearth.accounts.models import User
from hearth.shared.errors import Conflict, InvalidInput
from hearth.shared.filters import filters, requested_filter
from hearth.shared.pages import POST, only_for
from pooling.selectors.media import playable_address

PEOPLE_PER_PAGE = 50
ANSWERS_PER_PAGE = 20
ESCALATIONS_MAX = 20


@only_for(can_lead_somewhere)
def training(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_led_by(request.user), key=key)
    queues, people = training_queues(benchmark), trainees(benchmark)
    context = {
        "benchmark": benchmark,
        "queues": queues,
        "is_open": any(row.queue for row in queues),
        "page": Paginator(people, PEOPLE_PER_PAGE).get_page(request.GET.get("page")),
        "with_requirement": [
            campaign for campaign in running_campaigns(benchmark) if campaign.has_entry_requirement
        ],
        "escalations": training_escalations(benchmark)[:ESCALATIONS_MAX],
    }
    return render(request, "annotation/training/training.html", context)


@only_for(can_lead_somewhere, POST)
def training_open(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_led_by(request.user), key=key)
    try:
        services.open_training(
            benchmark=benchmark, by=cast(User, request.user), question=_question(request) or "label"
        )
        messages.success(request, "Training is open. Annotators find it on their home page.")
    except (Conflict, InvalidInput) as refused:
        messages.warning(request, str(refused))
    return redirect("training", benchmark.key)


@only_for(can_lead_somewhere, POST)
def training_close(request: HttpRequest, key: str) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_led_by(request.user), key=key)
    queue = find_training_queue(benchmark, _question(request))
    if queue is None:
        messages.warning(request, "No training is open.")
    else:
        by = cast(User, request.user)
        services.set_campaign_state(campaign=queue, state=CampaignState.CLOSED, by=by)
        messages.success(request, "Training is closed. Its answers still count.")
    return redirect("training", benchmark.key)


def _question(request: HttpRequest) -> str:
    """Return the question whose training is to be opened or closed; "" if none is stated."""
    question = request.POST.get("question", "")
    if question and question not in kinds():
        raise InvalidInput(f"The question must be one of {', '.join(kinds())}.")
    return question


@only_for(can_lead_somewhere)
def training_person(request: HttpRequest, key: str, annotator: int) -> HttpResponse:
    benchmark = get_object_or_404(benchmarks_led_by(request.user), key=key)
    trainee = get_trainee(benchmark, annotator)
    shown = requested_filter(request, "show", FILTERS)
    log = training_log(benchmark, trainee.annotator)
    page = Paginator(_filtered(log, shown), ANSWERS_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "benchmark": benchmark,
        "trainee": trainee,
        "last": trainee.last,
        "accesses": [AccessRow.of(access) for access in trainee.accesses],
        "shown": shown,
        "filters": filters(
            request,
            "show",
            [(name, title, _filtered(log, name).count()) for name, title in FILTERS.items()],
        ),
        "page": page,
        "answers": [AnswerRow.of(judgment) for judgment in page],
        "escalations": training_escalations(benchmark).filter(annotator=trainee.annotator),
    }
    return render(request, "annotation/training/person.html", context)


@only_for(can_lead_somewhere, POST)
def training_comment(request: HttpRequest, key: str, annotator: int) -> HttpResponse:
    """Store a comment on an answer, and redirect to this answer.

    If the filter no longer lists the answer, redirect to the next one.
    """
    benchmark = get_object_or_404(benchmarks_led_by(request.user), key=key)
    trainee = get_trainee(benchmark, annotator)
    form = CommentForm(request.POST)
    if not form.is_valid():
        raise InvalidInput("A comment needs an answer of this annotator and a text.")
    shown = form.cleaned_data["show"]
    log = training_log(benchmark, trainee.annotator)
    judgment = get_object_or_404(log, pk=form.cleaned_data["judgment"])
    later = _after(_filtered(log, shown), judgment)
    services.comment_on_judgment(
        judgment=judgment, text=form.cleaned_data["text"], by=cast(User, request.user)
    )
    messages.success(request, "The comment is saved. The annotator finds it under My work.")
    place = later if shown == UNCOMMENTED else judgment.pk
    query = urlencode({"show": shown, "page": request.POST.get("page", "")})
    anchor = f"#answer-{place}" if place else ""
    address = reverse("training-person", args=[benchmark.key, trainee.annotator.pk])
    return redirect(f"{address}?{query}{anchor}")


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """An answer in training as a lead sees it."""

    judgment: Judgment
    label: str
    video: str | None

    @classmethod
    def of(cls, judgment: Judgment) -> AnswerRow:
        task = judgment.task
        text = task.campaign.question_kind.words_of(task.campaign, judgment)
        return cls(judgment, text, playable_address(task.video))


@dataclass(frozen=True, slots=True)
class AccessRow:
    """A campaign on an annotator's page, with their answers to its control pairs."""

    access: CampaignAccess
    gold: list[bool]

    @classmethod
    def of(cls, access: CampaignAccess) -> AccessRow:
        membership = access.membership
        if membership is None or not access.campaign.gold_share:
            return cls(access, [])
        return cls(access, outcomes(gold_answers(membership)))

    @property
    def gold_right(self) -> int:
        return self.access.campaign.accuracy_requirement.count_right(self.gold)

    @property
    def n_control_answers(self) -> int:
        return min(len(self.gold), self.access.campaign.gold_last)


def _filtered(log: QuerySet[Any], name: str) -> QuerySet[Any]:
    if name == WRONG:
        return log.filter(is_right=False)
    if name == UNCOMMENTED:
        return log.filter(is_right=False, is_commented=False, task__gold__retired_at=None)
    return log


def _after(answers: QuerySet[Judgment], judgment: Judgment) -> int | None:
    """Return the primary key of the next answer in the list, or of the previous one at the end."""
    keys = list(answers.values_list("pk", flat=True))
    place = keys.index(judgment.pk) if judgment.pk in keys else len(keys)
    return next(iter(keys[place + 1 :] + keys[:place][::-1]), None)
