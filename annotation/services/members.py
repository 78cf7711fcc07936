"""Who may judge in a campaign: joining, the gate after training, pausing by gold."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.enums import AssignmentState, Joining, MemberAction, MembershipState, PauseCause
from annotation.models import Annotator, Assignment, Campaign, Membership, MembershipChange
from annotation.policies import check_can_lead
from annotation.selectors.gold import gold_answers, outcomes, training_answers
from annotation.services.slots import leases_of, release_leases
from config.accounts.models import User
from config.shared.errors import Conflict, InvalidInput, NotPermitted
from config.shared.prepared import Given, Prepared


def _of_annotator() -> QuerySet[Membership]:
    return Membership.objects.filter(campaign=Given("campaign"), annotator=Given("annotator"))


_count_pair = Prepared(_of_annotator, judged=F("judged") + 1)
_count_gold = Prepared(_of_annotator, gold_judged=F("gold_judged") + 1)
_annotator = Prepared(lambda: Annotator.objects.filter(user=Given("user")))

REASON_LENGTH = 1000
# The columns of a member who is not paused.
NO_PAUSE: dict[str, Any] = {
    "state": MembershipState.ACTIVE,
    "pause_cause": "",
    "reason": "",
    "pause_right": None,
    "pause_answers": None,
    "pause_needed": None,
}
ANY_NUMBER = 2**31


def annotator_for(user: User) -> Annotator:
    """The annotator behind a user, made at the first judgment."""
    annotator: Annotator | None = _annotator.first(user=user.pk)
    if annotator is None:
        annotator, _ = Annotator.objects.get_or_create(user=user)
    annotator.user = user
    return annotator


def join_campaign(*, campaign: Campaign, annotator: Annotator) -> Membership:
    """The annotator's membership, made where the campaign takes everybody.

    Raises `NotPermitted` where a lead chooses who may judge and has not chosen this person.
    """
    found = Membership.objects.filter(campaign=campaign, annotator=annotator).first()
    if found is not None:
        found.annotator = annotator
        return found
    if campaign.joining == Joining.CHOSEN:
        raise NotPermitted(_("Only annotators that a lead adds can judge here."))
    return Membership.objects.get_or_create(campaign=campaign, annotator=annotator)[0]


def check_may_be_handed_pairs(campaign: Campaign, membership: Membership) -> None:
    """Raises `NotPermitted`, with words for the annotator, where they may not judge now."""
    if membership.state == MembershipState.PAUSED:
        raise NotPermitted(membership.pause_message)
    if campaign.has_gate and membership.admitted_at is None and not _admitted(campaign, membership):
        message = _(
            "Train first: {needed} of your last {last} answers in training must be correct."
        )
        raise NotPermitted(message.format(needed=campaign.gate.needed, last=campaign.gate_last))
    if left_to_judge(campaign, membership) <= 0:
        raise NotPermitted(
            _("You have judged the maximum number of pairs in this campaign. Thank you!")
        )


def left_to_judge(campaign: Campaign, membership: Membership) -> int:
    """How many pairs the person may still judge: the ceiling's share of all, at least one."""
    if campaign.ceiling == 1:
        return ANY_NUMBER
    return max(1, int(campaign.n_tasks * campaign.ceiling)) - membership.judged


def passes_gate(campaign: Campaign, annotator: Annotator) -> bool:
    """Whether enough of the annotator's last answers in training were right."""
    answers = training_answers(campaign.benchmark_id, annotator)[: campaign.gate_last]
    return campaign.gate.is_passed(outcomes(answers))


def _admitted(campaign: Campaign, membership: Membership) -> bool:
    if not passes_gate(campaign, membership.annotator):
        return False
    membership.admitted_at = timezone.now()
    Membership.objects.filter(pk=membership.pk).update(admitted_at=membership.admitted_at)
    return True


def pause_below_bar(campaign: Campaign, annotator: Annotator) -> None:
    """Pause the annotator if too few of their last answers to gold were right.

    Called after each answer to gold. What they hold goes back into the queue. Of a person who is
    paused already, the reason stays.
    """
    if not campaign.gold_bar:
        return
    membership = Membership.objects.get(campaign=campaign, annotator=annotator)
    last = outcomes(gold_answers(membership)[: campaign.gold_last])
    if membership.state == MembershipState.PAUSED or not campaign.bar.is_failed(last):
        return
    bar = campaign.bar
    _pause(
        membership,
        cause=PauseCause.ACCURACY,
        right=bar.right(last),
        answers=len(last),
        needed=bar.needed,
    )


@transaction.atomic
def choose_members(*, campaign: Campaign, annotators: list[Annotator], by: User) -> int:
    """Let people into a campaign whose members a lead chooses; returns how many are new."""
    check_can_lead(by, campaign.benchmark)
    before = campaign.members.count()
    Membership.objects.bulk_create(
        [Membership(campaign=campaign, annotator=one) for one in annotators], ignore_conflicts=True
    )
    return campaign.members.count() - before


@transaction.atomic
def let_in(*, campaign: Campaign, annotator: Annotator, by: User) -> Membership:
    """A lead opens the gate to a person who may not have come to it yet."""
    choose_members(campaign=campaign, annotators=[annotator], by=by)
    membership = Membership.objects.get(campaign=campaign, annotator=annotator)
    membership.campaign = campaign
    return admit_member(membership=membership, by=by)


@transaction.atomic
def admit_member(*, membership: Membership, by: User) -> Membership:
    """A lead opens the gate to a person, whatever their training says."""
    check_can_lead(by, membership.campaign.benchmark)
    membership.admitted_at, membership.admitted_by = timezone.now(), by
    membership.save(update_fields=["admitted_at", "admitted_by"])
    return membership


@transaction.atomic
def pause_member(*, membership: Membership, reason: str, by: User) -> Membership:
    """Pause an annotator, who reads the lead's reason.

    Raise `Conflict` if the annotator is paused already: the message that they have read stays.
    """
    check_can_lead(by, membership.campaign.benchmark)
    reason = reason.strip()
    if not 0 < len(reason) <= REASON_LENGTH:
        raise InvalidInput(f"the person is told why, in 1 to {REASON_LENGTH:,} characters")
    return _pause_by_lead(membership, by, cause=PauseCause.LEAD, reason=reason)


@transaction.atomic
def pause_withdrawn_member(*, membership: Membership, by: User) -> Membership:
    """Pause an annotator whose answers a lead withdraws. Raises `Conflict` as `pause_member`."""
    check_can_lead(by, membership.campaign.benchmark)
    return _pause_by_lead(membership, by, cause=PauseCause.WITHDRAWAL)


@transaction.atomic
def resume_member(*, membership: Membership, by: User) -> Membership:
    """A lead lets a paused person go on; their gold answers so far are forgiven."""
    check_can_lead(by, membership.campaign.benchmark)
    membership.forgiven_at = timezone.now()
    _store_state(membership, {**NO_PAUSE, "forgiven_at": membership.forgiven_at})
    _note(membership, MemberAction.RESUMED, by)
    return membership


def is_paused(campaign: Campaign, annotator: Annotator) -> bool:
    found = Membership.objects.filter(campaign=campaign, annotator=annotator).first()
    return found is not None and found.state == MembershipState.PAUSED


def count_answer(campaign: Campaign, annotator: Annotator, *, is_gold: bool) -> None:
    """One more answer of the annotator. Not a correction: that replaces one."""
    counter = _count_gold if is_gold else _count_pair
    counter.update(campaign=campaign.pk, annotator=annotator.pk)


def _pause_by_lead(membership: Membership, by: User, **why: Any) -> Membership:
    if not _pause(membership, **why):
        raise Conflict("They are paused already, and have read why. Resume them first.")
    _note(membership, MemberAction.PAUSED, by)
    return membership


def _note(membership: Membership, action: MemberAction, by: User) -> None:
    """Record who did it and when, without the reason, which is deleted when a person is erased."""
    MembershipChange.objects.create(membership=membership, lead=by, action=action)


def _pause(
    membership: Membership,
    *,
    cause: PauseCause,
    reason: str = "",
    right: int | None = None,
    answers: int | None = None,
    needed: int | None = None,
) -> bool:
    """Pause the member. Return False if another call has paused them before."""
    held = Assignment.objects.filter(
        annotator=membership.annotator_id,
        task__campaign=membership.campaign_id,
        state=AssignmentState.HELD,
    )
    # Tasks are locked before memberships, as at every answer, so that no two callers deadlock.
    release_leases(leases_of(held), AssignmentState.EXPIRED)
    return _store_state(
        membership,
        {
            "state": MembershipState.PAUSED,
            "pause_cause": cause,
            "reason": reason,
            "pause_right": right,
            "pause_answers": answers,
            "pause_needed": needed,
        },
        state=MembershipState.ACTIVE,
    )


def _store_state(membership: Membership, values: dict[str, Any], **before: Any) -> bool:
    """Store the values if the row still has those of `before`. Return whether it had."""
    rows = Membership.objects.filter(pk=membership.pk, **before)
    if not rows.update(**values):
        return False
    for name, value in values.items():
        setattr(membership, name, value)
    return True
