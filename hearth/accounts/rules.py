"""Register the permissions of `roles`. django-rules imports this module when the server starts."""

from __future__ import annotations

from hearth.accounts import roles  # noqa: F401
