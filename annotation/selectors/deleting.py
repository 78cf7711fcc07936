"""The rows that belong to campaigns, pools, proxies and benchmarks, and the obstacles to
deletion."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from annotation.enums import AssignmentState, CampaignState
from annotation.models import (
    Adjudication,
    Annotator,
    Assignment,
    Campaign,
    CampaignChange,
    Escalation,
    Exclusion,
    GoldItem,
    Guideline,
    GuidelinePicture,
    Judgment,
    JudgmentTask,
    Membership,
    MembershipChange,
    StudyItem,
    Withdrawal,
)
from hearth.shared.deleting import Obstacle, Part, belongs_to
from hearth.shared.words import counted
from pooling.models import Benchmark, Pool, Proxy

# An import of judgments can be undone for this time.
UNDO_FOR = timedelta(days=1)


@belongs_to(Proxy)
def rows_of_proxy(proxy: Proxy) -> Iterator[Part | Obstacle]:
    for campaign in Campaign.objects.filter(proxy=proxy):
        yield Obstacle(
            f"It {campaign.question_kind.words.proxy} {campaign.name}.",
            url=reverse("campaign", args=[campaign.pk]),
            link="To the campaign",
        )


@belongs_to(Campaign)
def rows_of_campaign(campaign: Campaign) -> Iterator[Part | Obstacle]:
    of_one = {"campaign": campaign}
    if campaign.state == CampaignState.OPEN:
        yield _obstacle(campaign, "This campaign is open. Pause or close it first.")
    judgments = Judgment.objects.filter(task__campaign=campaign)
    held = Assignment.objects.filter(
        task__campaign=campaign, state=AssignmentState.HELD, lease_expires_at__gt=timezone.now()
    )
    if number := held.count():
        tasks = counted(number, "task")
        yield _obstacle(
            campaign, f"Annotators still hold {tasks} of this campaign. Try again later."
        )
    if campaign.is_imported:
        if campaign.created_at < timezone.now() - UNDO_FOR:
            reason = "These judgments were imported more than a day ago, so they stay."
            yield _obstacle(campaign, reason)
        # The trigger `judgment_delete` allows their deletion until a label set is published.
        yield Part("imported judgment", judgments)
    elif number := judgments.count():
        reason = f"This campaign has {counted(number, 'judgment')}, which must stay."
        yield _obstacle(campaign, reason)
    yield from _obstacles_at_desk(campaign, task__campaign=campaign)
    if Withdrawal.objects.filter(**of_one).exists():
        yield _obstacle(
            campaign, "Answers in this campaign were withdrawn. The log of withdrawals must stay."
        )
    yield from _rows(Campaign.objects.filter(pk=campaign.pk))


@belongs_to(Pool)
def campaigns_of_pool(pool: Pool) -> Iterator[Part | Obstacle]:
    campaigns = list(pool.campaigns.all())
    for campaign in campaigns:
        advice = "" if _must_stay(campaign) else " Delete the campaign first."
        yield _obstacle(campaign, f"The campaign “{campaign}” was opened for this pool.{advice}")
    tasks = JudgmentTask.objects.filter(pair__pool=pool).exclude(campaign__in=campaigns)
    if tasks.exists():
        yield Obstacle("A campaign contains pairs of this pool.")


@belongs_to(Benchmark)
def campaigns_of_benchmark(benchmark: Benchmark) -> Iterator[Part | Obstacle]:
    campaigns = Campaign.objects.filter(benchmark=benchmark)
    judgments = Judgment.objects.filter(task__campaign__benchmark=benchmark)
    if number := judgments.count():
        yield Obstacle(
            f"This benchmark has {counted(number, 'judgment')}, which must stay.",
            url=reverse("benchmark-campaigns", args=[benchmark.key]),
            link="To the campaigns",
        )
    for campaign in campaigns.filter(state=CampaignState.OPEN) if not number else ():
        yield _obstacle(campaign, f"The campaign “{campaign}” is open. Pause or close it first.")
    for campaign in campaigns:
        yield from _obstacles_at_desk(campaign, task__campaign=campaign)
    if Withdrawal.objects.filter(campaign__benchmark=benchmark).exists():
        yield Obstacle(
            "Answers in this benchmark were withdrawn. The log of withdrawals must stay."
        )
    yield from _rows(campaigns)
    of_one = {"benchmark": benchmark}
    yield Part("gold item", GoldItem.objects.filter(**of_one))
    pictures = GuidelinePicture.objects.filter(guideline__benchmark=benchmark)
    yield Part("picture of the guidelines", pictures, "pictures of the guidelines")
    guidelines = Guideline.objects.filter(**of_one)
    yield Part("version of the guidelines", guidelines, "versions of the guidelines")
    yield Part("imported annotator", Annotator.objects.filter(**of_one))


def _rows(campaigns: QuerySet[Campaign]) -> Iterator[Part]:
    """Yield the rows of campaigns, except for judgments and entries of the desk."""
    assignments = Assignment.objects.filter(task__campaign__in=campaigns)
    yield Part("assigned task", assignments)
    yield Part("task", JudgmentTask.objects.filter(campaign__in=campaigns))
    yield Part(
        "item of a study", StudyItem.objects.filter(campaign__in=campaigns), "items of studies"
    )
    changes = MembershipChange.objects.filter(membership__campaign__in=campaigns)
    yield Part("change of a member", changes, "changes of members")
    yield Part("member", Membership.objects.filter(campaign__in=campaigns))
    changed = CampaignChange.objects.filter(campaign__in=campaigns)
    yield Part("change of settings", changed, "changes of settings")
    yield Part("campaign", campaigns)


def _obstacles_at_desk(campaign: Campaign, **of: Any) -> Iterator[Obstacle]:
    if _has_desk_entries(**of):
        yield _obstacle(campaign, f"The desk of “{campaign}” has entries, which must stay.")


def _must_stay(campaign: Campaign) -> bool:
    """Return whether a campaign has judgments or entries of the desk."""
    of_one = {"task__campaign": campaign}
    return Judgment.objects.filter(**of_one).exists() or _has_desk_entries(**of_one)


def _has_desk_entries(**of: Any) -> bool:
    return any(
        model.objects.filter(**of).exists() for model in (Escalation, Adjudication, Exclusion)
    )


def _obstacle(campaign: Campaign, reason: str) -> Obstacle:
    return Obstacle(reason, reverse("campaign", args=[campaign.pk]), "To the campaign")
