"""The start page: what a person judges, and the benchmarks that they see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from annotation.enums import CampaignKind, CampaignState, JudgmentState
from annotation.models import Annotator, Campaign, Judgment, Membership
from annotation.selectors.campaigns import open_campaigns
from annotation.selectors.me import unread_comments
from annotation.selectors.members import CampaignAccess, accesses_for
from annotation.selectors.training import answered_items, training_items
from config.accounts.roles import Role, annotates_somewhere, scopes_of
from config.jobs.models import UNFINISHED
from config.jobs.policies import jobs_seen_by
from config.shared.pages import only_for
from evaluation.portal.cards import JOBS_SHOWN, benchmark_cards
from pooling.policies import can_see_benchmarks


def _is_anybody(user: Any) -> bool:
    return bool(user.is_active)


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
    accesses: list[CampaignAccess]

    @property
    def is_done(self) -> bool:
        return self.answered >= self.items

    @property
    def is_needed(self) -> bool:
        """Some campaign waits for it."""
        return any(access.needs_training for access in self.accesses)


def _own_judging(user: Any) -> dict[str, Any]:
    """What a person judges and has judged: own counts only, never another's."""
    annotator = Annotator.objects.filter(user=user).first()
    found = list(open_campaigns(scopes_of(user, Role.ANNOTATOR)))
    accesses = accesses_for(annotator, [one for one in found if not one.is_training])
    trainings = [_training_card(one, annotator, accesses) for one in found if one.is_training]
    queues = {card.campaign.benchmark_id: card.campaign for card in trainings}
    judging = Q(annotator=annotator, campaign__kind=CampaignKind.JUDGING)
    memberships = list(Membership.objects.filter(judging).select_related("campaign"))
    midnight = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    today = Judgment.objects.filter(
        annotator=annotator,
        created_at__gte=midnight,
        task__campaign__kind=CampaignKind.JUDGING,
    ).exclude(state=JudgmentState.SUPERSEDED)
    return {
        "open_campaigns": [
            (access, queues.get(access.campaign.benchmark_id)) for access in accesses
        ],
        # What others wait for comes first.
        "trainings_needed": [card for card in trainings if card.is_needed],
        "trainings": [card for card in trainings if not card.is_needed],
        "past_campaigns": [
            (one.campaign, one.answered)
            for one in memberships
            if one.answered and one.campaign.state != CampaignState.OPEN
        ],
        "judged_ever": sum(one.answered for one in memberships),
        "judged_today": today.count(),
        "unread": unread_comments(annotator) if annotator else 0,
    }


def _training_card(
    campaign: Campaign, annotator: Annotator | None, accesses: list[CampaignAccess]
) -> TrainingCard:
    return TrainingCard(
        campaign,
        items=training_items(campaign),
        answered=answered_items(campaign, annotator) if annotator else 0,
        accesses=[
            access
            for access in accesses
            if access.campaign.has_entry_requirement
            and access.campaign.benchmark_id == campaign.benchmark_id
        ],
    )
