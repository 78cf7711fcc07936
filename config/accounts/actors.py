"""Who acts: a person with an account, or the operator of the machine.

Every service that writes takes `by`, and checks a policy for it. Commands and scheduled tasks pass
`OPERATOR`, so that the same policies decide for them, in `roles.scopes_of`. A forgotten `by`
fails, because `None` is never an actor.
"""

from __future__ import annotations

from typing import TypeAlias

from config.accounts.models import User


class Operator:
    """Whoever runs commands on the machine. The operator has no account and holds every role."""

    pk = None
    is_active = True
    is_superuser = True

    def __repr__(self) -> str:
        return "OPERATOR"


OPERATOR = Operator()

Actor: TypeAlias = User | Operator


def account_of(by: Actor) -> User | None:
    """Return the account to store for an action: none for the operator."""
    return None if isinstance(by, Operator) else by


def actor_of(account: User | None) -> Actor:
    """Return the actor that a stored account stands for, as in `created_by` of a job."""
    return OPERATOR if account is None else account
