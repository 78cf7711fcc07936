"""The access of annotators to campaigns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from annotation.enums import CampaignState, Joining, MembershipState, TaskState
from annotation.models import Annotator, Campaign, JudgmentTask, Membership, of_labels
from annotation.selectors.gold import training_of
from pooling.models import Benchmark


@dataclass(frozen=True, slots=True)
class CampaignAccess:
    """Whether one annotator can judge in one campaign, and if not, why.

    answers: whether each training answer is correct, newest first. The answers are needed only if
    the campaign has an entry requirement.
    is_complete: whether the campaign is a study in which no item needs more answers.
    """

    campaign: Campaign
    membership: Membership | None
    answers: Sequence[bool] = ()
    is_complete: bool = False

    @property
    def answered(self) -> int:
        return self.membership.answered if self.membership else 0

    @property
    def is_paused(self) -> bool:
        return self.membership is not None and self.membership.state == MembershipState.PAUSED

    @property
    def is_admitted(self) -> bool:
        return self.membership is not None and self.membership.admitted_at is not None

    @property
    def needs_training(self) -> bool:
        """Whether the annotator does not meet the entry requirement yet."""
        return (
            self.campaign.has_entry_requirement
            and not self.is_admitted
            and not self.campaign.entry_requirement.is_met(self.answers)
        )

    @property
    def is_open(self) -> bool:
        return not self.is_paused and not self.needs_training

    @property
    def right(self) -> int:
        return self.campaign.entry_requirement.count_right(self.answers)

    @property
    def n_answers(self) -> int:
        """The number of last answers that the entry requirement uses."""
        return min(len(self.answers), self.campaign.gate_last)


def accesses_for(
    annotator: Annotator | None, campaigns: Iterable[Campaign]
) -> list[CampaignAccess]:
    """Return the annotator's access to each campaign, except those that they cannot join.

    The number of database queries does not depend on the number of campaigns.
    """
    campaigns = list(campaigns)
    memberships = {} if annotator is None else _memberships(annotator, campaigns)
    with_requirement = {
        campaign.benchmark_id
        for campaign in campaigns
        if campaign.has_entry_requirement
        and not (campaign.pk in memberships and memberships[campaign.pk].admitted_at)
    }
    answers = (
        training_of(annotator, with_requirement)
        if annotator is not None and with_requirement
        else {}
    )
    complete = _complete(campaigns)
    return [
        CampaignAccess(
            campaign,
            memberships.get(campaign.pk),
            answers.get(campaign.benchmark_id, ()),
            is_complete=campaign.pk in complete,
        )
        for campaign in campaigns
        if campaign.pk in memberships or campaign.joining == Joining.ALL
    ]


def _complete(campaigns: list[Campaign]) -> set[int]:
    """Return the primary keys of the studies in which no item needs more answers."""
    studies = {campaign.pk for campaign in campaigns if campaign.is_study}
    if not studies:
        return studies
    unfinished = JudgmentTask.objects.filter(
        campaign__in=studies, item__isnull=False, state=TaskState.OPEN
    )
    return studies - set(unfinished.order_by().values_list("campaign", flat=True).distinct())


def _memberships(annotator: Annotator, campaigns: list[Campaign]) -> dict[int, Membership]:
    found = Membership.objects.filter(annotator=annotator, campaign__in=campaigns)
    return {membership.campaign_id: membership for membership in found}


def running_campaigns(benchmark: Benchmark) -> list[Campaign]:
    """Return the judging campaigns that are not closed, newest first."""
    found = Campaign.objects.filter(of_labels(), benchmark=benchmark)
    return list(found.exclude(state=CampaignState.CLOSED).select_related("benchmark"))
