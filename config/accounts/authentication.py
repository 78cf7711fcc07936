"""Ways to authenticate requests to the API, in addition to REST framework's sessions."""

from __future__ import annotations

from typing import Any

from drf_spectacular.authentication import SessionScheme
from rest_framework.authentication import SessionAuthentication, TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from config.accounts.models import User
from config.accounts.policies import can_sign_in
from config.accounts.selectors import user_of_ended_session


class PersonTokenAuthentication(TokenAuthentication):
    """Authenticate people by their API token, if they may sign in."""

    def authenticate_credentials(self, key: str) -> tuple[User, Any]:
        user, token = super().authenticate_credentials(key)
        if not can_sign_in(user):
            raise AuthenticationFailed("This account belongs to the demo, which is not running.")
        return user, token


class EndedSessionAuthentication(SessionAuthentication):
    """Recognise a deactivated person by the session that the deactivation ended.

    Such a user is inactive and holds no role. Only the operation that stores answers uses this
    class, so that answers sent before the deactivation are still recorded. The CSRF token is
    required.
    """

    def authenticate(self, request: Request) -> tuple[User, Any] | None:
        user = user_of_ended_session(request._request.session)
        if user is None:
            return None
        self.enforce_csrf(request)
        return user, None


class EndedSessionScheme(SessionScheme):
    """Describe the session in the OpenAPI schema: the same cookie under another name."""

    target_class = "config.accounts.authentication.EndedSessionAuthentication"
    name = "endedCookieAuth"
