"""Sign in by user name or e-mail address."""

from __future__ import annotations

from typing import Any

from allauth.account.auth_backends import AuthenticationBackend

from hearth.accounts.models import User
from hearth.accounts.policies import can_sign_in
from hearth.accounts.selectors import find_person
from hearth.shared.prepared import Given, Prepared

user_by_pk = Prepared(lambda: User.objects.filter(pk=Given("pk")))


class SignInBackend(AuthenticationBackend):
    """The only backend that checks passwords, so that `can_sign_in` applies everywhere."""

    def get_user(self, user_id: Any) -> User | None:
        """Return the account of a session, or None if it does not exist or may not sign in."""
        user: User | None = user_by_pk.first(pk=user_id)
        return user if user is not None and can_sign_in(user) else None

    def _authenticate_by_username(self, username: str, password: str) -> Any:
        """Compare user names as the constraint on accounts does, not as the database does."""
        return self._check_password(find_person(username), password)

    def user_can_authenticate(self, user: Any) -> bool:
        return can_sign_in(user)

    def has_perm(self, user_obj: Any, perm: str, obj: Any = None) -> bool:
        """Return False without a database query.

        The backend of the package `rules` decides all permissions. Superusers have all permissions
        without a backend.
        """
        return False
