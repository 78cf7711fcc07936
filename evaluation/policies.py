"""Who may do what with labels and scores."""

from __future__ import annotations

from typing import Any

from config.accounts.roles import is_lead, is_researcher
from config.shared.errors import NotPermitted


def can_see_scores(user: Any) -> bool:
    """Not annotators: what others answered, and for whom it counts, must not sway them."""
    return bool(is_researcher(user))


def can_evaluate(user: Any) -> bool:
    return bool(is_researcher(user))


def can_see_annotators(user: Any) -> bool:
    """Who judged how much, and how often others agreed."""
    return bool(is_lead(user))


def can_publish_labels(user: Any) -> bool:
    return bool(is_lead(user))


def check_can_publish_labels(user: Any) -> None:
    if not can_publish_labels(user):
        raise NotPermitted("Only leads and admins publish labels.")
