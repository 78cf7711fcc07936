"""People who can log in."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser


class User(AbstractUser):
    """Ours from the first migration on, because Django cannot change the user model later."""
