"""The actor of a write: a person with an account, or the operator of the machine.

Services that write for an actor take it as `by` and check a policy. Services that store the answers
or settings of an annotator take the annotator instead. Commands and scheduled tasks pass
`OPERATOR`, unless they name a person. The same policies apply to `OPERATOR`, which has all roles in
all benchmarks (see `roles.scopes_of`). A call with `by=None` fails, because `None` is not an actor.
"""

from __future__ import annotations

from typing import TypeAlias

from hearth.accounts.models import User


class Operator:
    """The person who runs commands on the machine. The operator has no account, but every role."""

    pk = None
    is_active = True
    is_superuser = True

    def __repr__(self) -> str:
        return "OPERATOR"


OPERATOR = Operator()

Actor: TypeAlias = User | Operator


def account_of(by: Actor) -> User | None:
    """Return the account to store for an action, or None for the operator."""
    return None if isinstance(by, Operator) else by


def actor_of(account: User | None) -> Actor:
    """Return the actor for a stored account, such as `created_by` of a job."""
    return OPERATOR if account is None else account
