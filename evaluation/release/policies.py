"""Who may do what with labels and scores."""

from __future__ import annotations

from typing import Any

from config.accounts.roles import is_lead, researches_somewhere
from config.shared.errors import NotPermitted
from pooling.models import Benchmark


def can_see_scores(user: Any) -> bool:
    """Of some benchmark. Not annotators: what others answered, and for whom it counts, must not
    sway them. Of which, `pooling.policies.benchmarks_seen_by` tells."""
    return researches_somewhere(user)


def can_evaluate(user: Any) -> bool:
    """Whatever they see the scores of."""
    return researches_somewhere(user)


def can_publish_labels(user: Any, benchmark: Benchmark) -> bool:
    return is_lead(user, benchmark.key)


def check_can_publish_labels(user: Any, benchmark: Benchmark) -> None:
    if not can_publish_labels(user, benchmark):
        raise NotPermitted("Only leads and admins publish labels.")
