"""All writes to people, roles, consents, invitations and tokens."""

from __future__ import annotations

from config.accounts.services.consent import give_consent, write_consent_text
from config.accounts.services.invitations import (
    Invited,
    accept_invitation,
    invite,
    join,
    revoke_invitation,
)
from config.accounts.services.people import (
    create_user,
    deactivate_person,
    erase_person,
    mark_demo_account,
    reactivate_person,
)
from config.accounts.services.roles import grant_role, withdraw_role
from config.accounts.services.tokens import make_token, withdraw_token

__all__ = [
    "Invited",
    "accept_invitation",
    "create_user",
    "deactivate_person",
    "erase_person",
    "give_consent",
    "grant_role",
    "invite",
    "join",
    "make_token",
    "mark_demo_account",
    "reactivate_person",
    "revoke_invitation",
    "withdraw_role",
    "withdraw_token",
    "write_consent_text",
]
