"""Ways to authenticate requests to the API, in addition to REST framework's sessions."""

from __future__ import annotations

from typing import Any

from drf_spectacular.authentication import SessionScheme
from rest_framework.authentication import SessionAuthentication, TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.request import Request

from hearth.accounts.models import ApiToken, User
from hearth.accounts.policies import SECOND_FACTOR_MISSING, can_sign_in, lacks_second_factor
from hearth.accounts.rights import right_needed
from hearth.accounts.selectors import find_token, user_of_ended_session
from hearth.accounts.services.tokens import note_use


class PersonTokenAuthentication(TokenAuthentication):
    """Authenticate people by an API token, within the token's rights.

    The check of the right is here and not in the views, so that no view can forget it.
    """

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        found: tuple[User, ApiToken] | None = super().authenticate(request)
        if found is not None:
            person, token = found
            self._check_right(token, request)
            if lacks_second_factor(person):
                raise PermissionDenied(SECOND_FACTOR_MISSING)
            note_use(token)
        return found

    def authenticate_credentials(self, key: str) -> tuple[User, ApiToken]:
        token = find_token(key)
        if token is None:
            raise AuthenticationFailed("The token is not valid or has expired.")
        if token.user.is_demo and not can_sign_in(token.user):
            raise AuthenticationFailed("This account belongs to the demo, which is not running.")
        if not can_sign_in(token.user):
            raise AuthenticationFailed("The token is not valid or has expired.")
        return token.user, token

    @staticmethod
    def _check_right(token: ApiToken, request: Request) -> None:
        view = (request.parser_context or {}).get("view")
        right = right_needed(view, request.method or "GET")
        if not token.has(right):
            raise PermissionDenied(f"The token lacks the right {right.value!r}.")


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
    """Add this authentication to the OpenAPI schema, as a scheme with the session cookie."""

    target_class = "hearth.accounts.authentication.EndedSessionAuthentication"
    name = "endedCookieAuth"
