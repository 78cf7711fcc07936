"""Loaded by django-rules at start: registers the permissions of `roles`."""

from __future__ import annotations

from config.accounts import roles  # noqa: F401
