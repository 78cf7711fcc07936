"""The tables of people, roles, consent, invitations, API tokens and the shared cache."""

from __future__ import annotations

from hearth.accounts.models.caches import CacheEntry
from hearth.accounts.models.people import (
    CONSENT_LENGTH,
    INVITATION_DAYS,
    NOTE_LENGTH,
    SCOPE_LENGTH,
    Consent,
    ConsentText,
    Grant,
    Invitation,
    InvitationState,
    PersonState,
    User,
    in_two_weeks,
)
from hearth.accounts.models.tokens import TOKEN_NAME_LENGTH, TOKENS, ApiToken, TokenRight
