"""The start page: what a person judges, and the benchmarks that they see."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.enums import CampaignKind, CampaignState
from annotation.models import Annotator, Campaign, Membership
from annotation.selectors.campaigns import open_campaigns
from annotation.selectors.me import midnight_now, own_work, unread_comments
from annotation.selectors.members import Door, doors_for
from annotation.selectors.training import answered_items, training_items
from config.accounts.roles import Role, annotates_somewhere, scopes_of
from config.jobs.models import UNFINISHED
from config.jobs.policies import jobs_seen_by
from config.shared.language import translated
from config.shared.pages import only_for
from evaluation.portal.cards import JOBS_SHOWN, benchmark_cards
from pooling.policies import can_see_benchmarks


def _is_anybody(user: Any) -> bool:
    return bool(user.is_active)


def _only_annotates(request: HttpRequest) -> bool:
    return annotates_somewhere(request.user) and not can_see_benchmarks(request.user)


@partial(translated, when=_only_annotates)
@only_for(_is_anybody)
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    context: dict[str, Any] = {"judges": annotates_somewhere(request.user)}
    if context["judges"]:
        context |= _own_judging(request.user)
    if can_see_benchmarks(request.user):
        context |= {
            "benchmarks": benchmark_cards(request.user),
            "jobs": jobs_seen_by(request.user)
            .filter(state__in=UNFINISHED)
            .select_related("created_by")[:JOBS_SHOWN],
        }
    return render(request, "evaluation/portal/home.html", context)


@dataclass(frozen=True, slots=True)
class TrainingCard:
    """A training queue as one person sees it, with the campaigns that it opens."""

    campaign: Campaign
    items: int
    answered: int
    doors: list[Door]

    @property
    def is_done(self) -> bool:
        return self.answered >= self.items

    @property
    def is_needed(self) -> bool:
        """Some campaign waits for it."""
        return any(door.is_behind_gate for door in self.doors)


def _own_judging(user: Any) -> dict[str, Any]:
    """What a person judges and has judged: own counts only, never another's."""
    annotator = Annotator.objects.filter(user=user).first()
    found = list(open_campaigns(scopes_of(user, Role.ANNOTATOR)))
    doors = doors_for(annotator, [one for one in found if not one.is_training])
    trainings = [_training_card(one, annotator, doors) for one in found if one.is_training]
    queues = {card.campaign.benchmark_id: card.campaign for card in trainings}
    judging = Q(annotator=annotator, campaign__kind=CampaignKind.JUDGING)
    memberships = list(Membership.objects.filter(judging).select_related("campaign"))
    return {
        "open_campaigns": [(door, queues.get(door.campaign.benchmark_id)) for door in doors],
        # What others wait for comes first.
        "trainings_needed": [card for card in trainings if card.is_needed],
        "trainings": [card for card in trainings if not card.is_needed],
        "past_campaigns": [
            (one.campaign, one.answered)
            for one in memberships
            if one.answered and one.campaign.state != CampaignState.OPEN
        ],
        "work": own_work(annotator, midnight_now()) if annotator else None,
        "unread": unread_comments(annotator) if annotator else 0,
    }


def _training_card(
    campaign: Campaign, annotator: Annotator | None, doors: list[Door]
) -> TrainingCard:
    return TrainingCard(
        campaign,
        items=training_items(campaign),
        answered=answered_items(campaign, annotator) if annotator else 0,
        doors=[
            door
            for door in doors
            if door.campaign.has_gate and door.campaign.benchmark_id == campaign.benchmark_id
        ],
    )
