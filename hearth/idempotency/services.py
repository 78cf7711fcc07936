"""Claim an idempotency key for a request, store its response, or free the key."""

from __future__ import annotations

from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from hearth.idempotency.models import KEY_LENGTH, KeyedRequest
from hearth.shared.errors import Conflict, InvalidInput

# The time for which responses are kept.
KEPT = timedelta(days=1)
# No request takes longer than this. After this time, the process of the request must have died.
DONE_WITHIN = timedelta(minutes=15)
# The maximum number of attempts to claim a key. An attempt fails if the row of the key disappears
# in the meantime.
TRIES = 5


class KeyReused(Conflict):
    """Another request already used the key."""


class StillRunning(Conflict):
    """The same request is being done. Its response will be stored later."""


def claim_key(*, user_id: int, key: str, sha256: str) -> KeyedRequest:
    """Return the row of the key. If its status is None, the caller must do the request.

    Otherwise the row contains the response to an earlier request with the same content.

    Raises `InvalidInput` if the key is not valid, `KeyReused` if the key belongs to a request with
    other content, and `StillRunning` if the same request is being done.
    """
    if not (0 < len(key) <= KEY_LENGTH and key.isascii() and key.isprintable()):
        raise InvalidInput(
            f"The Idempotency-Key must have 1 to {KEY_LENGTH} printable ASCII characters."
        )
    for _ in range(TRIES):
        expired_requests().filter(user_id=user_id, key=key).delete()
        made = _insert(user_id, key, sha256)
        if made is not None:
            return made
        earlier = KeyedRequest.objects.filter(user_id=user_id, key=key).first()
        if earlier is None:  # its request has been refused
            continue
        if _is_answered(earlier, sha256) or _take_over(earlier):
            return earlier
        break
    raise StillRunning("A request with this Idempotency-Key is being done. Repeat it later.")


def store_answer(*, request: KeyedRequest, status: int, body: str) -> None:
    KeyedRequest.objects.filter(pk=request.pk).update(status=status, body=body)


def free_key(*, request: KeyedRequest) -> None:
    """Delete the row of a request that created nothing, so that the key can be used again."""
    KeyedRequest.objects.filter(pk=request.pk, status=None).delete()


def expired_requests() -> QuerySet[KeyedRequest]:
    return KeyedRequest.objects.filter(began_at__lt=timezone.now() - KEPT)


def _insert(user_id: int, key: str, sha256: str) -> KeyedRequest | None:
    """Store a new row, or return None if the constraint refuses it."""
    row = KeyedRequest(user_id=user_id, key=key, sha256=sha256, began_at=timezone.now())
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError:
        return None
    return row


def _is_answered(earlier: KeyedRequest, sha256: str) -> bool:
    if earlier.sha256 != sha256:
        raise KeyReused("Another request already used this Idempotency-Key. Choose a new one.")
    return earlier.status is not None


def _take_over(earlier: KeyedRequest) -> bool:
    """Claim the row of a request whose process died. Only one of several requests succeeds."""
    now = timezone.now()
    died = KeyedRequest.objects.filter(
        pk=earlier.pk, status=None, began_at=earlier.began_at, began_at__lt=now - DONE_WITHIN
    )
    return died.update(began_at=now) == 1
