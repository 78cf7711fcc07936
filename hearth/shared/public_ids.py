"""Public ids: numbers that the API and pages show instead of primary keys.

A primary key counts the rows of all people, so it would reveal how much others have done.
A public id is the primary key after a permutation that only the site can compute. The permutation
is a Feistel network with ten rounds, as many as FF1 in NIST SP 800-38G has. Its secret is derived
from the site's secret key. No column stores public ids.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from django.conf import settings
from django.utils.crypto import salted_hmac

HALF_BITS = 26
HALF = (1 << HALF_BITS) - 1
ROUNDS = 10
# JavaScript represents all integers up to this one exactly.
PUBLIC_ID_MAX = 1 << 2 * HALF_BITS


@dataclass(frozen=True, slots=True)
class PublicIds:
    """The public ids of one table, from 1 to `PUBLIC_ID_MAX`."""

    table: str

    def of(self, key: int) -> int:
        """Return the public id of a primary key."""
        secret, left, right = self._secret, key >> HALF_BITS, key & HALF
        for number in range(ROUNDS):
            left, right = right, left ^ _mixed(secret, number, right)
        return (left << HALF_BITS | right) + 1

    def key_of(self, public_id: int) -> int:
        """Return the primary key that a public id stands for, even if there is no such row.

        For a number that is not a public id, return 0, which no row has as its primary key.
        """
        if not 1 <= public_id <= PUBLIC_ID_MAX:
            return 0
        secret, left, right = self._secret, (public_id - 1) >> HALF_BITS, (public_id - 1) & HALF
        for number in reversed(range(ROUNDS)):
            left, right = right ^ _mixed(secret, number, left), left
        return left << HALF_BITS | right

    @property
    def _secret(self) -> bytes:
        salt = f"hearth.shared.public_ids.{self.table}"
        return salted_hmac(salt, "", settings.SECRET_KEY, algorithm="sha256").digest()


def _mixed(secret: bytes, number: int, half: int) -> int:
    content = bytes([number]) + half.to_bytes(4)
    return int.from_bytes(hashlib.blake2b(content, digest_size=4, key=secret).digest()) & HALF
