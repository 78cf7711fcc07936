"""Encryption of secrets in the database with the site's secret key."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.crypto import salted_hmac

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet

SALT = "hearth.accounts.secrets"


def encrypt(text: str) -> str:
    return _keys().encrypt(text.encode()).decode()


def decrypt(text: str) -> str:
    """Decrypt a text that `encrypt` has returned.

    Raises `InvalidToken` if SECRET_KEY has changed and SECRET_KEY_FALLBACKS lacks the old key.
    """
    return _keys().decrypt(text.encode()).decode()


def _keys() -> MultiFernet:
    # Imported here, because the module takes 4 MB of memory and most commands do not need it.
    from cryptography.fernet import Fernet, MultiFernet

    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    digests = [salted_hmac(SALT, "", secret, algorithm="sha256").digest() for secret in secrets]
    return MultiFernet([Fernet(base64.urlsafe_b64encode(digest)) for digest in digests])
