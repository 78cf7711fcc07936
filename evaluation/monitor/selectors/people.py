"""The people of a campaign: what is stored of each, and their own answers. For leads."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from django.db.models import F, Q, QuerySet, Sum

from annotation.core.pausing import MEMBER
from annotation.enums import Joining, JudgmentState, MembershipState
from annotation.models import (
    Annotator,
    Campaign,
    CampaignChange,
    Escalation,
    Judgment,
    Membership,
    Withdrawal,
)
from config.accounts.roles import Role, Scopes
from config.accounts.selectors import active_admins, people_with
from config.shared.errors import NotFound
from evaluation.core.people.pace import TOO_FAST_MS, answer_times, over_time, timeline_of
from evaluation.monitor.selectors.campaigns import Figures, escalation_counts, standing_answers

OUTVOTED, WRONG, FAST = "outvoted", "wrong", "fast"
ANSWERS_SHOWN = {
    OUTVOTED: Q(state=JudgmentState.LIVE, task__label__isnull=False) & ~Q(task__label=F("label")),
    WRONG: Q(state=JudgmentState.GOLD, is_right=False),
    FAST: Q(seconds__lt=TOO_FAST_MS / 1000),
}


@dataclass(frozen=True, slots=True)
class CampaignPerson:
    """An annotator with their membership, where they have one, and what was handed on by them and
    taken back from them."""

    annotator: Annotator
    membership: Membership | None
    escalations: int
    withdrawn: int


def members_of(campaign: Campaign) -> QuerySet[Membership]:
    """Without leads and admins who have opened the room and were handed nothing: they looked."""
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
    """The members, and those who answered without being one (primary keys: they were imported), in
    the order of their pseudonyms. As many queries however many there are."""
    memberships = members_of(campaign).select_related("annotator__user")
    members = {one.annotator_id: one for one in memberships}
    others = Annotator.objects.filter(pk__in=answered - set(members)).select_related("user")
    people = [*(one.annotator for one in members.values()), *others]
    escalations, withdrawn = escalation_counts(campaign, "annotator"), _withdrawn(campaign)
    return [
        CampaignPerson(
            one, members.get(one.pk), escalations.get(one.pk, 0), withdrawn.get(one.pk, 0)
        )
        for one in sorted(people, key=lambda one: one.pseudonym)
    ]


def get_campaign_person(campaign: Campaign, pseudonym: str) -> CampaignPerson:
    """Raises `NotFound` for who is no member and has not answered here."""
    found = Annotator.objects.filter(pseudonym=pseudonym).select_related("user").first()
    if found is None:
        raise NotFound("There is no such annotator.")
    membership = members_of(campaign).filter(annotator=found).first()
    if membership is None and not _answers(campaign, found).exists():
        raise NotFound("There is no such annotator.")
    handed_on = Escalation.objects.filter(task__campaign=campaign, annotator=found)
    return CampaignPerson(
        found, membership, handed_on.count(), _withdrawn(campaign).get(found.pk, 0)
    )


def measure_person(campaign: Campaign, annotator: Annotator) -> Figures:
    """What one person did when: linear in their own answers, of which nobody has many."""
    answers, _ = standing_answers(campaign, annotator.pk)
    span = timeline_of(answers.at)
    return {
        "times": asdict(answer_times(answers.ms)),
        "span": asdict(span) if span else None,
        "stretches": [asdict(one) for one in over_time(answers, span)] if span else [],
    }


def answers_of(campaign: Campaign, annotator: Annotator) -> QuerySet[Judgment]:
    """A person's answers, newest first, with all that a lead looks at; some of them by
    `ANSWERS_SHOWN`: those that differ from what came out, are wrong on gold, or came too fast."""
    return (
        _answers(campaign, annotator)
        .select_related(
            "task__pair__query", "task__pair__video", "task__gold__query", "task__gold__video"
        )
        .order_by("-created_at", "-pk")
    )


def done_withdrawals(campaign: Campaign, annotator: Annotator) -> QuerySet[Withdrawal]:
    """What leads have taken back of a person, newest first."""
    found = Withdrawal.objects.filter(campaign=campaign, annotator=annotator)
    return found.filter(done_at__isnull=False).select_related("lead")


def pauses_of(campaign: Campaign, annotator: Annotator) -> list[tuple[CampaignChange, str]]:
    """What leads did about a person's judging, newest first: paused them, or let them go on."""
    noted = CampaignChange.objects.filter(
        campaign=campaign, **{f"changes__{MEMBER}__0": annotator.pseudonym}
    )
    newest_first = noted.select_related("lead").order_by("-pk")
    return [(one, one.changes[MEMBER][1]) for one in newest_first]


def _answers(campaign: Campaign, annotator: Annotator) -> QuerySet[Judgment]:
    return Judgment.objects.filter(annotator=annotator, task__campaign=campaign)


def _withdrawn(campaign: Campaign) -> dict[int, int]:
    rows = Withdrawal.objects.filter(campaign=campaign).order_by()
    return dict(rows.values_list("annotator").annotate(n=Sum("judgments")))
