"""Who may do what with benchmarks, runs, pools and videos."""

from __future__ import annotations

from typing import Any

from config.accounts.roles import is_lead, is_researcher
from config.shared.errors import NotPermitted


def can_see_benchmarks(user: Any) -> bool:
    """Not annotators: what a system found at which rank must not sway them."""
    return bool(is_researcher(user))


def can_upload_run(user: Any) -> bool:
    return bool(is_researcher(user))


def can_build_pool(user: Any) -> bool:
    return bool(is_lead(user))


def check_can_build_pool(user: Any) -> None:
    if not can_build_pool(user):
        raise NotPermitted("Only leads and admins build pools.")


def can_watch_videos(user: Any) -> bool:
    """Everybody who is signed in; the address of a video tells nothing of it."""
    return bool(user.is_authenticated and user.is_active)
