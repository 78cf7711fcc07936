"""Sign in by user name or e-mail address."""

from __future__ import annotations

from typing import Any

from allauth.account.auth_backends import AuthenticationBackend

from config.accounts.policies import can_sign_in


class SignInBackend(AuthenticationBackend):
    """The only backend that checks passwords, so that `can_sign_in` applies everywhere."""

    def user_can_authenticate(self, user: Any) -> bool:
        return can_sign_in(user)

    def has_perm(self, user_obj: Any, perm: str, obj: Any = None) -> bool:
        """Return False without a database query.

        The backend of the package `rules` decides all permissions. Superusers have all permissions
        without a backend.
        """
        return False
