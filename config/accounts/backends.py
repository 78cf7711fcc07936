"""Signing in by name or mail, and finding at each request who is signed in."""

from __future__ import annotations

from typing import Any

from allauth.account.auth_backends import AuthenticationBackend

from config.accounts.models import User
from config.shared.prepared import Given, PreparedRead

_user = PreparedRead(lambda: User.objects.filter(pk=Given("pk")))


class SignInBackend(AuthenticationBackend):
    def get_user(self, user_id: Any) -> User | None:
        user: User | None = _user.first(pk=user_id)
        return user if user is not None and self.user_can_authenticate(user) else None
