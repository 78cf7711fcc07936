"""The home page: the work that waits for a person, by role. Visitors see the welcome page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_safe

from annotation.enums import CampaignKind, CampaignState
from annotation.models import Annotator, Campaign, Membership
from annotation.policies import can_lead_somewhere
from annotation.selectors.campaigns import open_campaigns
from annotation.selectors.left import left_for
from annotation.selectors.me import item_counts, midnight_now, own_work, unread_comments
from annotation.selectors.members import CampaignAccess, accesses_for
from evaluation.portal.cards import JOBS_MAX, benchmark_cards
from evaluation.portal.selectors import newest_label_sets, recent_label_sets, recent_runs
from evaluation.portal.todo import find_todos
from hearth.accounts.roles import Role, annotates_somewhere, scopes_of
from hearth.jobs.models import UNFINISHED
from hearth.jobs.policies import jobs_seen_by
from hearth.shared.language import translated_for_annotators
from hearth.shared.pages import only_for
from pooling.policies import (
    benchmarks_seen_by,
    can_see_benchmarks,
    public_benchmarks_seen_by,
)

RUNS_MAX = 5
LABEL_SETS_MAX = 5


@translated_for_annotators
@require_safe
def home(request: HttpRequest) -> HttpResponseBase:
    if request.user.is_authenticated:
        return _own_home(request)
    public = public_benchmarks_seen_by(request.user).exists()
    context = {"has_public": public, "open_registration": public and settings.OPEN_REGISTRATION}
    response = render(request, "evaluation/portal/welcome.html", context)
    # The response is not cached, because this address shows another page after signing in.
    patch_cache_control(response, private=True, no_store=True)
    return response


def _is_active(user: Any) -> bool:
    return bool(user.is_active)


@only_for(_is_active)
def _own_home(request: HttpRequest) -> HttpResponse:
    context: dict[str, Any] = {
        "judges": annotates_somewhere(request.user),
        "leads": can_lead_somewhere(request.user),
    }
    if can_see_benchmarks(request.user):
        context |= _research(request.user)
    if context["judges"]:
        context |= _own_judging(request.user)
    else:
        context["public_benchmarks"] = list(public_benchmarks_seen_by(request.user))
    return render(request, "evaluation/portal/home.html", context)


def _research(user: Any) -> dict[str, Any]:
    """Return the benchmarks of a researcher or lead, with the work that waits for leads."""
    seen = list(benchmarks_seen_by(user))
    benchmarks = [benchmark for benchmark in seen if not benchmark.is_archived]
    newest = newest_label_sets(benchmarks)
    jobs = jobs_seen_by(user).filter(state__in=UNFINISHED).select_related("created_by")
    context = {
        "benchmarks": benchmark_cards(benchmarks, newest),
        "archived": [benchmark for benchmark in seen if benchmark.is_archived],
        "runs": recent_runs(benchmarks, newest, RUNS_MAX, by=user),
        "label_sets": recent_label_sets(benchmarks, LABEL_SETS_MAX),
        "jobs": jobs[:JOBS_MAX],
    }
    if can_lead_somewhere(user):
        led = scopes_of(user, Role.LEAD)
        context["todos"] = find_todos(
            [benchmark for benchmark in benchmarks if benchmark.key in led], newest
        )
    return context


@dataclass(frozen=True, slots=True)
class TrainingCard:
    """A training queue as one person sees it, with the campaigns that require it."""

    campaign: Campaign
    items: int
    answered: int
    accesses: list[CampaignAccess]

    @property
    def is_done(self) -> bool:
        return self.answered >= self.items

    @property
    def is_needed(self) -> bool:
        """Whether a campaign requires this training before the person may judge."""
        return any(access.needs_training for access in self.accesses)


def _own_judging(user: Any) -> dict[str, Any]:
    """Return the campaigns and training of a person. All counts are of this person."""
    annotator = Annotator.objects.filter(user=user).first()
    found = list(open_campaigns(scopes_of(user, Role.ANNOTATOR)))
    accesses = accesses_for(annotator, [campaign for campaign in found if not campaign.is_training])
    trainings = _training_cards(
        [campaign for campaign in found if campaign.is_training], annotator, accesses
    )
    queues = {card.campaign.benchmark_id: card.campaign for card in trainings}
    own = Q(annotator=annotator, campaign__kind=CampaignKind.JUDGING)
    memberships = list(Membership.objects.filter(own).select_related("campaign"))
    left = left_for(annotator, accesses)
    return {
        "open_campaigns": [
            (access, queues.get(access.campaign.benchmark_id), left[access.campaign.pk])
            for access in accesses
        ],
        "trainings_needed": [card for card in trainings if card.is_needed],
        "trainings": [card for card in trainings if not card.is_needed],
        "past_campaigns": [
            (membership.campaign, membership.answered)
            for membership in memberships
            if membership.answered and membership.campaign.state != CampaignState.OPEN
        ],
        "work": own_work(annotator, midnight_now()) if annotator else None,
        "unread": unread_comments(annotator) if annotator else 0,
    }


def _training_cards(
    campaigns: list[Campaign], annotator: Annotator | None, accesses: list[CampaignAccess]
) -> list[TrainingCard]:
    counts = item_counts(annotator, campaigns)
    return [
        TrainingCard(
            campaign,
            *counts.get(campaign.pk, (0, 0)),
            accesses=[
                access
                for access in accesses
                if access.campaign.has_entry_requirement
                and access.campaign.benchmark_id == campaign.benchmark_id
            ],
        )
        for campaign in campaigns
    ]
