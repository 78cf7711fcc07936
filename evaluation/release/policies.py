"""Rules for labels and scores: who may see them, compute them and publish them."""

from __future__ import annotations

from typing import Any

from hearth.accounts.actors import Actor
from hearth.accounts.roles import is_lead, is_researcher, researches_somewhere
from hearth.shared.errors import NotPermitted
from pooling.models import Benchmark
from pooling.policies import check_not_archived


def can_see_scores(user: Any) -> bool:
    """Return whether the user sees the scores of at least one benchmark.

    Annotators do not see scores, so that the answers of others and their effect on scores cannot
    influence them. `pooling.policies.benchmarks_seen_by` returns the benchmarks that the user sees.
    """
    return researches_somewhere(user)


def can_evaluate(user: Any) -> bool:
    """Return whether the user may compute scores of at least one benchmark."""
    return researches_somewhere(user)


def check_can_evaluate(by: Actor, benchmark: Benchmark) -> None:
    """Require the right to compute drafts, scores and figures of this benchmark."""
    if not is_researcher(by, benchmark.key):
        raise NotPermitted("Only researchers, leads and admins may compute drafts and scores.")


def check_can_publish_labels(by: Any, benchmark: Benchmark) -> None:
    if not is_lead(by, benchmark.key):
        raise NotPermitted("Only leads and admins may publish labels.")
    check_not_archived(benchmark)


def check_can_export(by: Any, benchmark: Benchmark) -> None:
    if not is_researcher(by, benchmark.key):
        raise NotPermitted("Only researchers, leads and admins may download label sets.")


def can_export_comments(user: Any, benchmark: Benchmark) -> bool:
    """Return whether the user may read what annotators wrote to the leads."""
    return is_lead(user, benchmark.key)


def check_can_export_comments(by: Any, benchmark: Benchmark) -> None:
    if not can_export_comments(by, benchmark):
        raise NotPermitted("Only leads and admins may download comments.")
