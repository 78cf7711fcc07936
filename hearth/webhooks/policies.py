"""Who may see and change the webhooks of a benchmark."""

from __future__ import annotations

from typing import Any

from hearth.accounts.roles import is_lead
from hearth.shared.errors import NotPermitted


def can_manage_webhooks(user: Any, benchmark_key: str) -> bool:
    return is_lead(user, benchmark_key)


def check_can_manage_webhooks(by: Any, benchmark_key: str) -> None:
    if not can_manage_webhooks(by, benchmark_key):
        raise NotPermitted("Only leads and admins may manage webhooks.")
