"""Who may read the audit log."""

from __future__ import annotations

from typing import Any

from config.shared.errors import NotPermitted

# `config.accounts.roles` defines this permission for admins.
ADMINISTER = "accounts.administer"


def can_read_log(user: Any) -> bool:
    return bool(user.has_perm(ADMINISTER))


def check_can_read_log(user: Any) -> None:
    if not can_read_log(user):
        raise NotPermitted("Only admins may read the audit log.")
