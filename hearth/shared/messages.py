"""Messages to the next page, in a cookie whose name is that of this site."""

from __future__ import annotations

from django.conf import settings
from django.contrib.messages.storage.cookie import CookieStorage
from django.contrib.messages.storage.fallback import FallbackStorage
from django.contrib.messages.storage.session import SessionStorage


class NamedCookieStorage(CookieStorage):
    cookie_name = settings.MESSAGES_COOKIE_NAME


class MessageStorage(FallbackStorage):
    """Store messages in the cookie, and in the session those that do not fit."""

    storage_classes = (NamedCookieStorage, SessionStorage)
