"""The annotators of a campaign and their answers. Only leads see them."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import F, Q, QuerySet, Sum

from annotation.enums import Joining, JudgmentState, MembershipState
from annotation.models import (
    IN_FORCE,
    Annotator,
    Campaign,
    Escalation,
    Judgment,
    Membership,
    MembershipChange,
    Withdrawal,
)
from evaluation.core.people.pace import TOO_FAST_MS
from evaluation.monitor.selectors.campaigns import (
    current_answers,
    escalation_counts,
    figures_over_time,
)
from evaluation.monitor.selectors.results import OwnFigures
from hearth.accounts.roles import Role, Scopes
from hearth.accounts.selectors import active_admins, people_with
from hearth.shared.errors import NotFound

OUTVOTED, WRONG, FAST = "outvoted", "wrong", "fast"
# The filters of answers, by their names in addresses.
ANSWER_FILTERS = {
    OUTVOTED: Q(state=JudgmentState.LIVE, task__label__isnull=False) & ~Q(task__label=F("label")),
    WRONG: Q(state=JudgmentState.GOLD, is_right=False),
    FAST: Q(seconds__lt=TOO_FAST_MS / 1000),
}


@dataclass(frozen=True, slots=True)
class CampaignPerson:
    """An annotator of a campaign.

    membership: None for annotators of imported files. escalations: number of pairs that they
    escalated. withdrawn: number of their answers that leads have withdrawn.
    """

    annotator: Annotator
    membership: Membership | None
    escalations: int
    withdrawn: int


def members_of(campaign: Campaign) -> QuerySet[Membership]:
    """Return the members of a campaign.

    Leads and admins who only opened the judging room are left out, unless only a lead can add
    annotators to the campaign.
    """
    members = Membership.objects.filter(campaign=campaign)
    if campaign.joining == Joining.ADDED:
        return members
    leads = people_with(Role.LEAD, Scopes(keys=frozenset({campaign.benchmark.key})))
    untouched = Q(
        state=MembershipState.ACTIVE, handed=0, judged=0, gold_judged=0, admitted_at=None
    ) & Q(forgiven_at=None)
    return members.exclude(
        untouched
        & (Q(annotator__user__in=leads) | Q(annotator__user__in=active_admins().values("pk")))
    )


def people_of(campaign: Campaign, answered: set[int]) -> list[CampaignPerson]:
    """Return all annotators of a campaign, sorted by pseudonym.

    answered: primary keys of the annotators with answers. Annotators of imported answers are not
    members. The number of database queries is constant.
    """
    memberships = members_of(campaign).select_related("annotator__user")
    members = {membership.annotator_id: membership for membership in memberships}
    others = Annotator.objects.filter(pk__in=answered - set(members)).select_related("user")
    people = [*(member.annotator for member in members.values()), *others]
    escalations, withdrawn = escalation_counts(campaign, "annotator"), _withdrawn(campaign)
    return [
        CampaignPerson(
            person,
            members.get(person.pk),
            escalations.get(person.pk, 0),
            withdrawn.get(person.pk, 0),
        )
        for person in sorted(people, key=lambda person: person.pseudonym)
    ]


def get_campaign_person(campaign: Campaign, pseudonym: str) -> CampaignPerson:
    """Return one annotator of a campaign.

    Raises `NotFound` if no member and no annotator with answers has this pseudonym.
    """
    found = Annotator.objects.filter(pseudonym=pseudonym).select_related("user").first()
    if found is None:
        raise NotFound("There is no such annotator.")
    membership = members_of(campaign).filter(annotator=found).first()
    if membership is None and not _answers(campaign, found).exists():
        raise NotFound("There is no such annotator.")
    escalations = Escalation.objects.filter(IN_FORCE, task__campaign=campaign, annotator=found)
    return CampaignPerson(
        found, membership, escalations.count(), _withdrawn(campaign).get(found.pk, 0)
    )


def measure_person(campaign: Campaign, annotator: Annotator) -> OwnFigures:
    """Compute the figures over time of one annotator."""
    answers, _ = current_answers(campaign, annotator.pk)
    return figures_over_time(answers)


def answers_of(campaign: Campaign, annotator: Annotator) -> QuerySet[Judgment]:
    """Return an annotator's answers, newest first, with their captions and videos."""
    return (
        _answers(campaign, annotator)
        .select_related(
            "task__pair__query", "task__pair__video", "task__gold__query", "task__gold__video"
        )
        .order_by("-created_at", "-pk")
    )


def done_withdrawals(campaign: Campaign, annotator: Annotator) -> QuerySet[Withdrawal]:
    """Return the withdrawals of an annotator's answers, newest first."""
    found = Withdrawal.objects.filter(campaign=campaign, annotator=annotator)
    return found.filter(done_at__isnull=False).select_related("lead")


def membership_changes(campaign: Campaign, annotator: Annotator) -> QuerySet[MembershipChange]:
    """Return the pauses and resumptions of the annotator in the campaign, newest first."""
    changes = MembershipChange.objects.filter(
        membership__campaign=campaign, membership__annotator=annotator
    )
    return changes.select_related("lead")


def _answers(campaign: Campaign, annotator: Annotator) -> QuerySet[Judgment]:
    return Judgment.objects.filter(annotator=annotator, task__campaign=campaign)


def _withdrawn(campaign: Campaign) -> dict[int, int]:
    rows = Withdrawal.objects.filter(campaign=campaign).order_by()
    return dict(rows.values_list("annotator").annotate(n=Sum("judgments")))
