"""The plan for inviting a list of people: who is new, who is known, and which lines are wrong."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import models

from hearth.accounts.invitation_lists import ListedPerson
from hearth.accounts.models import NOTE_LENGTH, User
from hearth.accounts.policies import can_give, invitations_seen_by, people_seen_by
from hearth.accounts.roles import EVERYWHERE, Role
from hearth.accounts.selectors import all_roles, open_invitations
from hearth.shared.errors import InvalidInput


class LineState(models.TextChoices):
    NEW = "new", "New"
    KNOWN = "known", "Known"
    WRONG = "wrong", "Wrong"


@dataclass(frozen=True, slots=True)
class PlannedInvitation:
    """One line of a list. reason: why the line is known or wrong; empty if it is new."""

    line: int
    email: str
    name: str
    role: Role
    scope: str
    state: LineState = LineState.NEW
    reason: str = ""


@dataclass(frozen=True, slots=True)
class InvitationPlan:
    lines: Sequence[PlannedInvitation]

    @property
    def new(self) -> list[PlannedInvitation]:
        return self._in(LineState.NEW)

    @property
    def known(self) -> list[PlannedInvitation]:
        return self._in(LineState.KNOWN)

    @property
    def wrong(self) -> list[PlannedInvitation]:
        return self._in(LineState.WRONG)

    def check(self) -> None:
        """Raise `InvalidInput` for the first wrong line."""
        for person in self.wrong:
            raise InvalidInput(person.reason, line=person.line)

    def _in(self, state: LineState) -> list[PlannedInvitation]:
        return [person for person in self.lines if person.state == state]


def note_for(person: PlannedInvitation) -> str:
    """Return the note of the invitation. `_invited` reads the e-mail address from it."""
    if not person.name:
        return person.email
    room = NOTE_LENGTH - len(person.email) - 3
    return f"{person.name[:room]} <{person.email}>" if room > 0 else person.email


def plan_invitations(
    people: Sequence[ListedPerson],
    *,
    by: User,
    role: Role,
    scope: str,
    scopes: Collection[str],
) -> InvitationPlan:
    """Compare a list with the accounts and open invitations that `by` may see.

    role, scope: the role and the scope of lines that name none. scopes: the scopes that a line may
    have: keys of benchmarks, and "" for all benchmarks.

    A person whose account `by` may not see counts as new. Otherwise, a list would reveal which
    addresses have accounts.
    """
    emails = {person.email.casefold() for person in people}
    roles = _roles_by_email(by, emails)
    invited = _invited(by)
    seen: dict[tuple[str, Role, str], int] = {}
    lines = []
    for person in people:
        chosen = Role(person.role) if person.role in Role.values else role
        where = EVERYWHERE if chosen == Role.ADMIN and not person.scope else person.scope or scope
        key = (person.email.casefold(), chosen, where)
        reason = _fault(person, chosen, where, by, scopes)
        state = LineState.WRONG if reason else LineState.NEW
        if not reason and key in seen:
            state, reason = LineState.WRONG, f"The same person and role are in line {seen[key]}."
        elif not reason and (chosen.value, where) in roles.get(key[0], ()):
            state, reason = LineState.KNOWN, "Has an account with this role."
        elif not reason and key in invited:
            state, reason = LineState.KNOWN, "Has an open invitation to this role."
        seen.setdefault(key, person.line)
        lines.append(
            PlannedInvitation(person.line, person.email, person.name, chosen, where, state, reason)
        )
    return InvitationPlan(lines)


def _fault(person: ListedPerson, role: Role, scope: str, by: User, scopes: Collection[str]) -> str:
    """Return why a line cannot be used, or an empty text."""
    roles = ", ".join(Role.values)
    faults = (
        (not _is_email(person.email), f"{person.email[:80]!r} is not an e-mail address."),
        (
            person.role not in ("", *Role.values),
            f"The role must be one of {roles}, not {person.role[:50]!r}.",
        ),
        (not f"{person.name}{person.scope}".isprintable(), "Use only printable characters."),
        (
            scope not in scopes,
            f"There is no benchmark {scope[:100]!r} to which you may invite people."
            if scope != EVERYWHERE
            else "You may not invite people to all benchmarks.",
        ),
        (
            role == Role.ADMIN and scope != EVERYWHERE,
            "The role of admin applies to all benchmarks.",
        ),
        (
            not can_give(by, role, scope),
            f"You may not invite people to the role {role.label.lower()} here.",
        ),
    )
    return next((reason for is_wrong, reason in faults if is_wrong), "")


def _is_email(text: str) -> bool:
    try:
        validate_email(text)
    except ValidationError:
        return False
    return True


def _roles_by_email(by: User, emails: Collection[str]) -> dict[str, set[tuple[str, str]]]:
    found = people_seen_by(by).exclude(email="").prefetch_related("groups", "grants")
    return {
        person.email.casefold(): all_roles(person)
        for person in found.distinct()
        if person.email.casefold() in emails
    }


def _invited(by: User) -> set[tuple[str, Role, str]]:
    """Return e-mail address, role and scope of the open invitations that `by` may see.

    The address is read from the note (see `note_for`).
    """
    rows = invitations_seen_by(by).filter(pk__in=open_invitations().values("pk"))
    return {
        (note.removesuffix(">").rpartition("<")[2].casefold(), Role(role), scope)
        for note, role, scope in rows.values_list("note", "role", "scope")
    }
