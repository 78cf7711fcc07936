"""The tokens with which a person's scripts use the API."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext

from hearth.accounts.acts import AccountAct
from hearth.accounts.models import ApiToken, TokenRight, User
from hearth.accounts.policies import check_is_active
from hearth.accounts.selectors import hash_of_token
from hearth.accounts.services.notices import tell
from hearth.accounts.services.roles import lock_people
from hearth.audit.services import record
from hearth.shared.errors import Conflict, InvalidInput, NotFound
from hearth.shared.limits import check_length

TOKENS_MAX = 50
DAYS_MAX = 3650
KEY_BYTES = 32
# Programs that search for leaked secrets recognise a token by this prefix.
PREFIX = "hearth_"
# The use of a token is stored at most once in this time.
USE_INTERVAL = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token with its secret key, which is not stored and cannot be shown again."""

    token: ApiToken
    key: str


@transaction.atomic
def create_token(
    *, by: User, name: str, rights: Collection[TokenRight], days: int | None
) -> NewToken:
    """Create a token that is valid for `days` days, or until it is revoked if `days` is None.

    Raises `InvalidInput` if the name, the rights or the days are not valid, and `Conflict` if the
    name is in use or the person has too many tokens.
    """
    person, _ = lock_people(by, by)
    check_is_active(person)
    check_length(ApiToken, "name", name)
    if not name.strip() or not rights:
        raise InvalidInput("A token needs a name and at least one right.")
    if days is not None and not 1 <= days <= DAYS_MAX:
        raise InvalidInput(f"A token must be valid for 1 to {DAYS_MAX} days.")
    if ApiToken.objects.filter(user=by).count() >= TOKENS_MAX:
        text = gettext("You have {count} tokens. Revoke one first.")
        raise Conflict(text.format(count=TOKENS_MAX))
    key = PREFIX + secrets.token_urlsafe(KEY_BYTES)
    try:
        with transaction.atomic():
            token = ApiToken.objects.create(
                user=by,
                name=name.strip(),
                key_sha256=hash_of_token(key),
                expires_at=None if days is None else timezone.now() + timedelta(days=days),
                **{f"may_{right.value}": True for right in rights},
            )
    except IntegrityError:
        text = gettext("You already have a token named {name}.")
        raise Conflict(text.format(name=name.strip())) from None
    record(AccountAct.TOKEN_MADE, by=by, on=by)
    tell(AccountAct.TOKEN_MADE, person=person)
    return NewToken(token, key)


@transaction.atomic
def revoke_token(*, token_id: int, by: User) -> None:
    """Delete a token, so that it no longer works. Raises `NotFound` if `by` has no such token."""
    check_is_active(by)
    if not ApiToken.objects.filter(pk=token_id, user=by).delete()[0]:
        raise NotFound(gettext("You have no such token."))
    record(AccountAct.TOKEN_WITHDRAWN, by=by, on=by)


def note_use(token: ApiToken) -> None:
    """Store that a token was used, unless this was stored within the last hour."""
    now = timezone.now()
    if token.last_used_at is None or token.last_used_at < now - USE_INTERVAL:
        long_ago = Q(last_used_at=None) | Q(last_used_at__lt=now - USE_INTERVAL)
        ApiToken.objects.filter(long_ago, pk=token.pk).update(last_used_at=now)
