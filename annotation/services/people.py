"""Changes to tasks and texts when a person's rights end or the person is erased."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Q

from annotation.enums import AssignmentState
from annotation.models import (
    Adjudication,
    Annotator,
    Assignment,
    Escalation,
    Membership,
    ReviewComment,
    Withdrawal,
)
from annotation.services.slots import leases_of, release_leases
from hearth.accounts.models import User
from hearth.accounts.roles import Role, scopes_of


@transaction.atomic
def free_leases_beyond_rights(*, person: User) -> int:
    """Release the tasks that a person may no longer judge. Return their number."""
    scopes = scopes_of(person, Role.ANNOTATOR)
    held = Assignment.objects.filter(annotator__user=person, state=AssignmentState.HELD)
    if scopes.everywhere:
        return 0
    beyond = held.exclude(task__campaign__benchmark__key__in=scopes.keys)
    return release_leases(leases_of(beyond), AssignmentState.EXPIRED)


@transaction.atomic
def delete_personal_texts(*, person: User) -> None:
    """Delete the reasons and comments that the person wrote or that were written about them.

    The person's preferences are deleted, too, and so are the numbers of control answers that are
    stored with a pause. Labels, rulings and the pseudonym stay. The pseudonym no longer identifies
    anyone. A reason that the person, as a lead, gave for pausing an annotator also stays.
    """
    Escalation.objects.filter(annotator__user=person).update(reason="")
    Adjudication.objects.filter(lead=person).update(reason="")
    ReviewComment.objects.filter(lead=person).update(text="")
    ReviewComment.objects.filter(judgment__annotator__user=person).update(text="")
    Membership.objects.filter(annotator__user=person).update(
        pause_cause="", reason="", pause_right=None, pause_answers=None, pause_needed=None
    )
    Withdrawal.objects.filter(Q(annotator__user=person) | Q(lead=person)).update(reason="")
    Annotator.objects.filter(user=person).update(preferences={})
