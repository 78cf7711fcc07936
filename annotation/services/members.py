"""The members of a campaign: joining, the entry requirement, pausing and resuming."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet, Value
from django.db.models.functions import Greatest
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.enums import (
    AnnotationAct,
    AssignmentState,
    Joining,
    MemberAction,
    MembershipState,
    PauseCause,
)
from annotation.models import Annotator, Assignment, Campaign, Membership, MembershipChange
from annotation.policies import check_can_lead
from annotation.selectors.gold import gold_answers, outcomes, training_answers
from annotation.services.slots import leases_of, release_leases
from hearth.accounts.actors import Actor
from hearth.accounts.models import User
from hearth.audit.services import record
from hearth.shared.errors import Conflict, InvalidInput, NotPermitted
from hearth.shared.prepared import Given, Prepared


def _prepared_membership() -> QuerySet[Membership]:
    return Membership.objects.filter(campaign=Given("campaign"), annotator=Given("annotator"))


_membership = Prepared(_prepared_membership)
_count_pair = Prepared(_prepared_membership, judged=F("judged") + 1)
_count_gold = Prepared(_prepared_membership, gold_judged=F("gold_judged") + 1)
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
    """Return the annotator of a user. It is created on first use."""
    annotator: Annotator | None = _annotator.first(user=user.pk)
    if annotator is None:
        annotator, _ = Annotator.objects.get_or_create(user=user)
    annotator.user = user
    return annotator


def join_campaign(*, campaign: Campaign, annotator: Annotator) -> Membership:
    """Return the annotator's membership. Create it if it is missing and all annotators may join.

    Raises `NotPermitted` if only a lead can add members and has not added this annotator.
    """
    found: Membership | None = _membership.first(campaign=campaign.pk, annotator=annotator.pk)
    if found is not None:
        found.annotator = annotator
        return found
    if campaign.joining == Joining.ADDED:
        raise NotPermitted(_("Only annotators that a lead adds can judge here."))
    return Membership.objects.get_or_create(campaign=campaign, annotator=annotator)[0]


def check_can_claim(campaign: Campaign, membership: Membership) -> None:
    """Check that the annotator may judge now.

    Raises `NotPermitted`, with a message for the annotator, if they may not.
    """
    if membership.state == MembershipState.PAUSED:
        raise NotPermitted(membership.pause_message)
    if (
        campaign.has_entry_requirement
        and membership.admitted_at is None
        and not _admit_if_trained(campaign, membership)
    ):
        message = _(
            "Train first: {needed} of your last {last} answers in training must be correct."
        )
        needed = campaign.entry_requirement.needed
        raise NotPermitted(message.format(needed=needed, last=campaign.gate_last))
    if remaining_tasks(campaign, membership) <= 0:
        raise NotPermitted(
            _("You have judged the maximum number of pairs in this campaign. Thank you!")
        )


def remaining_tasks(campaign: Campaign, membership: Membership) -> int:
    """Return the number of tasks that the annotator may still judge under the ceiling."""
    if campaign.ceiling == 1:
        return ANY_NUMBER
    return campaign.tasks_each - membership.judged


def meets_entry_requirement(campaign: Campaign, annotator: Annotator) -> bool:
    """Return whether enough of the annotator's last training answers are correct."""
    answers = training_answers(campaign.benchmark_id, annotator)[: campaign.gate_last]
    return campaign.entry_requirement.is_met(outcomes(answers))


def _admit_if_trained(campaign: Campaign, membership: Membership) -> bool:
    """Admit the member if they meet the entry requirement. Return whether they do."""
    if not meets_entry_requirement(campaign, membership.annotator):
        return False
    membership.admitted_at = timezone.now()
    Membership.objects.filter(pk=membership.pk).update(admitted_at=membership.admitted_at)
    return True


def pause_inaccurate_annotator(campaign: Campaign, annotator: Annotator) -> None:
    """Pause the annotator if too few of their last control answers are correct.

    This is called after each answer to a control pair. The annotator's tasks return to the queue.
    If the annotator is already paused, the reason stays.
    """
    if not campaign.gold_bar:
        return
    membership = Membership.objects.get(campaign=campaign, annotator=annotator)
    last = outcomes(gold_answers(membership)[: campaign.gold_last])
    if membership.state == MembershipState.PAUSED or not campaign.accuracy_requirement.is_missed(
        last
    ):
        return
    requirement = campaign.accuracy_requirement
    _pause(
        membership,
        cause=PauseCause.ACCURACY,
        right=requirement.count_right(last),
        answers=len(last),
        needed=requirement.needed,
    )


@transaction.atomic
def add_members(*, campaign: Campaign, annotators: list[Annotator], by: Actor) -> int:
    """Add members to a campaign. Return the number of new members."""
    check_can_lead(by, campaign.benchmark)
    before = campaign.members.count()
    Membership.objects.bulk_create(
        [Membership(campaign=campaign, annotator=annotator) for annotator in annotators],
        ignore_conflicts=True,
    )
    added = campaign.members.count() - before
    if added:
        keys = sorted(annotator.pk for annotator in annotators)
        record(AnnotationAct.MEMBERS_ADDED, by=by, on=campaign, after={"annotators": keys})
    return added


@transaction.atomic
def admit_annotator(*, campaign: Campaign, annotator: Annotator, by: User) -> Membership:
    """Waive the entry requirement for an annotator, who becomes a member if necessary."""
    add_members(campaign=campaign, annotators=[annotator], by=by)
    membership = Membership.objects.get(campaign=campaign, annotator=annotator)
    membership.campaign = campaign
    return admit_member(membership=membership, by=by)


@transaction.atomic
def admit_member(*, membership: Membership, by: User) -> Membership:
    """Waive the entry requirement for a member."""
    check_can_lead(by, membership.campaign.benchmark)
    membership.admitted_at, membership.admitted_by = timezone.now(), by
    membership.save(update_fields=["admitted_at", "admitted_by"])
    record(AnnotationAct.MEMBER_ADMITTED, by=by, on=membership)
    return membership


@transaction.atomic
def pause_member(*, membership: Membership, reason: str, by: User) -> Membership:
    """Pause an annotator and show them the lead's reason.

    Raises `Conflict` if the annotator is already paused. The earlier reason stays.
    """
    check_can_lead(by, membership.campaign.benchmark)
    reason = reason.strip()
    if not 0 < len(reason) <= REASON_LENGTH:
        raise InvalidInput(f"The reason must have 1 to {REASON_LENGTH:,} characters.")
    return _pause_by_lead(membership, by, cause=PauseCause.LEAD, reason=reason)


@transaction.atomic
def pause_withdrawn_member(*, membership: Membership, by: User) -> Membership:
    """Pause an annotator whose answers a lead withdraws. Raises `Conflict` like `pause_member`."""
    check_can_lead(by, membership.campaign.benchmark)
    return _pause_by_lead(membership, by, cause=PauseCause.WITHDRAWAL)


@transaction.atomic
def resume_member(*, membership: Membership, by: User) -> Membership:
    """Resume a paused member. Earlier control answers no longer count."""
    check_can_lead(by, membership.campaign.benchmark)
    membership.forgiven_at = timezone.now()
    _store_state(membership, {**NO_PAUSE, "forgiven_at": membership.forgiven_at})
    _record_change(membership, MemberAction.RESUMED, by)
    record(AnnotationAct.MEMBER_RESUMED, by=by, on=membership)
    return membership


def is_paused(campaign: Campaign, annotator: Annotator) -> bool:
    found = Membership.objects.filter(campaign=campaign, annotator=annotator).first()
    return found is not None and found.state == MembershipState.PAUSED


def count_answer(campaign: Campaign, annotator: Annotator, *, is_gold: bool) -> None:
    """Count a new answer of the annotator. Corrections are not counted."""
    counter = _count_gold if is_gold else _count_pair
    counter.update(campaign=campaign.pk, annotator=annotator.pk)


def uncount_answers(
    campaign: Campaign, annotator: Annotator, number: int, *, is_gold: bool = False
) -> None:
    """Subtract answers that were withdrawn or escalated."""
    column = "gold_judged" if is_gold else "judged"
    Membership.objects.filter(campaign=campaign, annotator=annotator).update(
        **{column: Greatest(F(column) - number, Value(0))}
    )


def _pause_by_lead(membership: Membership, by: User, **why: Any) -> Membership:
    if not _pause(membership, **why):
        raise Conflict(
            "This annotator is already paused. To enter another reason, resume them first."
        )
    _record_change(membership, MemberAction.PAUSED, by)
    record(AnnotationAct.MEMBER_PAUSED, by=by, on=membership, after={"cause": why["cause"]})
    return membership


def _record_change(membership: Membership, action: MemberAction, by: User) -> None:
    """Record the lead, the action and the time.

    The reason is stored only with the membership, where it can be erased.
    """
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
    """Pause the member. Return False if they are already paused."""
    held = Assignment.objects.filter(
        annotator=membership.annotator_id,
        task__campaign=membership.campaign_id,
        state=AssignmentState.HELD,
    )
    # Tasks are locked before memberships, as for each answer, so that no two callers deadlock.
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
    """Update the row if it still has the values of `before`. Return whether it was updated."""
    rows = Membership.objects.filter(pk=membership.pk, **before)
    if not rows.update(**values):
        return False
    for name, value in values.items():
        setattr(membership, name, value)
    return True
