"""Who may read the audit log."""

from __future__ import annotations

from typing import Any

# `hearth.accounts.roles` defines this permission for admins.
ADMINISTER = "accounts.administer"


def can_read_log(user: Any) -> bool:
    return bool(user.has_perm(ADMINISTER))
