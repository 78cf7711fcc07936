"""A way in for answers that are still under way when their sender is deactivated."""

from __future__ import annotations

from typing import Any

from drf_spectacular.authentication import SessionScheme
from rest_framework.authentication import SessionAuthentication
from rest_framework.request import Request

from config.accounts.models import User
from config.accounts.selectors import user_of_ended_session


class EndedSessionAuthentication(SessionAuthentication):
    """Recognises whoever was signed in at the moment of being deactivated, and is so still.

    The user that it finds is not active and holds no role. For the one call that keeps answers,
    which must refuse them all the same. As with any session, the CSRF token is asked for.
    """

    def authenticate(self, request: Request) -> tuple[User, Any] | None:
        user = user_of_ended_session(request._request.session)
        if user is None:
            return None
        self.enforce_csrf(request)
        return user, None


class EndedSessionScheme(SessionScheme):
    """In the API's description it is the same cookie under another name."""

    target_class = "config.accounts.authentication.EndedSessionAuthentication"
    name = "endedCookieAuth"
