"""Which right an operation of the API requires of a token."""

from __future__ import annotations

from typing import Any

from rest_framework.permissions import SAFE_METHODS

from hearth.accounts.models import TokenRight


def right_needed(view: Any, method: str) -> TokenRight:
    """Return the `token_right` of the view, or else the right that the method needs."""
    default = TokenRight.READ if method.upper() in SAFE_METHODS else TokenRight.WRITE
    right: TokenRight = getattr(view, "token_right", default)
    return right
