"""Campaigns that are open to a person, and those that are not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from annotation.enums import CampaignKind, CampaignState, Joining, MembershipState
from annotation.models import Annotator, Campaign, Membership
from annotation.selectors.gold import training_of
from pooling.models import Benchmark


@dataclass(frozen=True, slots=True)
class Door:
    """A campaign and one person before it: `is_open` to them, or `paused` for a reason, or
    `right` of the `looked_at` last answers in training, which are too few."""

    campaign: Campaign
    membership: Membership | None
    answers: Sequence[bool] = ()

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
    def is_behind_gate(self) -> bool:
        """The gate is closed to the person."""
        return (
            self.campaign.has_gate
            and not self.is_admitted
            and not self.campaign.gate.is_passed(self.answers)
        )

    @property
    def is_open(self) -> bool:
        return not self.is_paused and not self.is_behind_gate

    @property
    def right(self) -> int:
        return self.campaign.gate.right(self.answers)

    @property
    def looked_at(self) -> int:
        return min(len(self.answers), self.campaign.gate_last)


def doors_for(annotator: Annotator | None, campaigns: Iterable[Campaign]) -> list[Door]:
    """What stands open to the person, without campaigns for which a lead has not chosen them: as
    many queries however many campaigns."""
    campaigns = list(campaigns)
    mine = {} if annotator is None else _memberships(annotator, campaigns)
    gated = {
        one.benchmark_id
        for one in campaigns
        if one.has_gate and not (one.pk in mine and mine[one.pk].admitted_at)
    }
    answers = training_of(annotator, gated) if annotator is not None and gated else {}
    return [
        Door(one, mine.get(one.pk), answers.get(one.benchmark_id, ()))
        for one in campaigns
        if one.pk in mine or one.joining == Joining.EVERYBODY
    ]


def _memberships(annotator: Annotator, campaigns: list[Campaign]) -> dict[int, Membership]:
    found = Membership.objects.filter(annotator=annotator, campaign__in=campaigns)
    return {one.campaign_id: one for one in found}


def doors_of(benchmark: Benchmark) -> list[Campaign]:
    """Rounds of judging that are not closed, newest first."""
    found = Campaign.objects.filter(benchmark=benchmark, kind=CampaignKind.JUDGING)
    return list(found.exclude(state=CampaignState.CLOSED).select_related("benchmark"))
