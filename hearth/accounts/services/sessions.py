"""End the sessions of a person, and remove second factors."""

from __future__ import annotations

from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext

from hearth.accounts.actors import Actor
from hearth.accounts.acts import AccountAct
from hearth.accounts.models import ApiToken, User
from hearth.accounts.policies import check_can_administer, check_is_active
from hearth.accounts.services.notices import tell
from hearth.audit.services import record
from hearth.shared.errors import Conflict, NotFound


@transaction.atomic
def end_session(*, session_id: int, by: User) -> None:
    """End one session of the person. Raises `NotFound` for a session of another person."""
    check_is_active(by)
    session = UserSession.objects.filter(pk=session_id, user=by).first()
    if session is None:
        raise NotFound(gettext("You have no such session."))
    session.end()
    record(AccountAct.SESSIONS_ENDED, by=by, on=by, after={"sessions": 1})


@transaction.atomic
def end_all_sessions(*, by: User) -> User:
    """End all sessions of the person, even those that are not in the person's list.

    Return the person. The page that calls this renews its own session, so that it continues.
    """
    check_is_active(by)
    record(AccountAct.SESSIONS_ENDED, by=by, on=by, after={"sessions": sign_out(by)})
    return by


@transaction.atomic
def remove_second_factors(*, person: User, by: Actor) -> None:
    """Remove all second factors of a person who has lost them.

    The person's sessions and API tokens end, because the request may have come from an impostor.
    Raises `Conflict` if `person` is `by`: the page for one's own account requires the password
    first.
    """
    check_can_administer(by)
    if person.pk == by.pk:
        raise Conflict(
            "You cannot remove your own second factors here. Change them on the page Sign-in and "
            "security."
        )
    Authenticator.objects.filter(user=person).delete()
    ApiToken.objects.filter(user=person).delete()
    record(AccountAct.FACTOR_REMOVED, by=by, on=person, after={"sessions": sign_out(person)})
    tell(AccountAct.FACTOR_REMOVED, person=person)


def sign_out(person: User) -> int:
    """End all sessions of a person, and return how many of them were in the person's list.

    A session without a row of `UserSession` is not in the list. The new `session_generation` ends
    it, too.
    """
    User.objects.filter(pk=person.pk).update(session_generation=F("session_generation") + 1)
    person.refresh_from_db(fields=["session_generation"])
    ended, _ = UserSession.objects.filter(user=person).delete()
    return int(ended)
