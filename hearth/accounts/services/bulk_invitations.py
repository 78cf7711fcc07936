"""Invite several people at once, and send the links if e-mail is configured."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.db import transaction

from hearth.accounts.invitation_plans import InvitationPlan, PlannedInvitation, note_for
from hearth.accounts.models import INVITATION_DAYS, User
from hearth.accounts.services.invitations import invite
from hearth.shared.errors import Conflict

log = logging.getLogger(__name__)

SUBJECT = "Invitation to judge videos"
BODY = """{greeting}

{inviter} invites you to take part, in the role of {role}. {task}

Open this link to create your account, or to add the role to your account:

{link}

The link works once, until {until}. If you did not expect it, ignore this message.
"""


@dataclass(frozen=True, slots=True)
class InvitedPerson:
    """A person of a list with their link, which is not stored.

    is_mailed: whether the link was sent by e-mail.
    """

    person: PlannedInvitation
    link: str
    is_mailed: bool


def invite_people(
    *,
    plan: InvitationPlan,
    by: User,
    link_of: Callable[[str], str],
    days: int = INVITATION_DAYS,
) -> list[InvitedPerson]:
    """Invite all new people of a plan, or none of them.

    link_of: returns the address for a token. If e-mail is configured, each link is sent after the
    invitations are stored. Links that cannot be sent are returned as well, so that they can be
    copied.

    Raises `InvalidInput` with the line if the plan has a wrong line, and `Conflict` if it has no
    new person.
    """
    plan.check()
    if not plan.new:
        raise Conflict("The list contains no new person.")
    with transaction.atomic():
        made = [
            (
                person,
                invite(
                    role=person.role, scope=person.scope, note=note_for(person), days=days, by=by
                ),
            )
            for person in plan.new
        ]
    until = f"{made[0][1].invitation.expires_at:%Y-%m-%d %H:%M} UTC"
    people = [(person, link_of(invited.token)) for person, invited in made]
    mailed = _send([_message(person, link, by, until) for person, link in people])
    return [
        InvitedPerson(person, link, is_mailed)
        for (person, link), is_mailed in zip(people, mailed, strict=True)
    ]


def _message(person: PlannedInvitation, link: str, by: User, until: str) -> EmailMessage:
    body = BODY.format(
        greeting=f"Hello {person.name}," if person.name else "Hello,",
        inviter=by.get_full_name() or by.username,
        role=person.role.label.lower(),
        task=person.role.task,
        link=link,
        until=until,
    )
    return EmailMessage(SUBJECT, body, to=[person.email])


def _send(messages: Sequence[EmailMessage]) -> list[bool]:
    """Send the messages over one connection. Return which were sent.

    After the first failure, no more messages are sent. A mail server that does not answer therefore
    causes only one time-out.
    """
    sent = [False] * len(messages)
    if not settings.CAN_SEND_EMAIL:
        return sent
    try:
        with get_connection() as connection:
            for number, message in enumerate(messages):
                sent[number] = bool(connection.send_messages([message]))
    except (SMTPException, OSError):
        log.warning("an invitation could not be sent", exc_info=True)
    return sent
