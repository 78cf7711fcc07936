"""Sign in by user name or e-mail address, and load the signed-in user for each request."""

from __future__ import annotations

from typing import Any

from allauth.account.auth_backends import AuthenticationBackend

from config.accounts.models import User
from config.accounts.policies import can_sign_in
from config.shared.prepared import Given, PreparedRead

_user = PreparedRead(lambda: User.objects.filter(pk=Given("pk")))


class SignInBackend(AuthenticationBackend):
    """The only backend that checks passwords, so that `can_sign_in` holds everywhere."""

    def user_can_authenticate(self, user: Any) -> bool:
        return can_sign_in(user)

    def get_user(self, user_id: Any) -> User | None:
        user: User | None = _user.first(pk=user_id)
        return user if user is not None and self.user_can_authenticate(user) else None
