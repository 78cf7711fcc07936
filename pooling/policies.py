"""Who may do what with benchmarks, runs, pools and videos.

A benchmark that is not for somebody is to them as if it were not there: what they see is found
among `benchmarks_seen_by`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet

from config.accounts.roles import (
    Role,
    Scopes,
    is_lead,
    researches_somewhere,
    scopes_of,
)
from config.shared.errors import NotPermitted
from pooling.models import Benchmark, System, Video

# As deep as pools usually are: what researchers may ask for.
POOLED_DEPTH = 10


def can_see_benchmarks(user: Any) -> bool:
    """Some. Not annotators: what a system found at which rank must not sway them."""
    return researches_somewhere(user)


def benchmarks_seen_by(user: Any) -> QuerySet[Benchmark]:
    return scopes_of(user, Role.RESEARCHER).limit(Benchmark.objects.all(), "key")


def systems_seen_by(user: Any) -> QuerySet[System]:
    """Systems with a run in a benchmark that the person sees."""
    scopes = scopes_of(user, Role.RESEARCHER)
    return scopes.limit(System.objects.all(), "runs__benchmark__key").distinct()


def can_upload_run(user: Any) -> bool:
    """To some benchmark: to any that they see."""
    return researches_somewhere(user)


def can_build_pool(user: Any, benchmark: Benchmark) -> bool:
    return is_lead(user, benchmark.key)


def check_can_build_pool(user: Any, benchmark: Benchmark) -> None:
    if not can_build_pool(user, benchmark):
        raise NotPermitted("Only leads and admins build pools.")


def check_can_pool(
    user: Any, benchmark: Benchmark, *, runs: Sequence[str], depth: int, sample: int | None
) -> None:
    """Of a single run whoever may upload it may pool the top (DECISIONS 38)."""
    is_small = len(runs) == 1 and depth <= POOLED_DEPTH and sample is None
    if not is_small and not can_build_pool(user, benchmark):
        raise NotPermitted(
            f"Only leads and admins pool more than the top {POOLED_DEPTH} of one run."
        )


def can_bring_metadata(user: Any, benchmark: Benchmark) -> bool:
    """Train captions and tags."""
    return is_lead(user, benchmark.key)


def check_can_bring_metadata(user: Any, benchmark: Benchmark) -> None:
    if not can_bring_metadata(user, benchmark):
        raise NotPermitted("Only leads and admins bring train captions and tags.")


def can_watch_videos(user: Any) -> bool:
    """Some: whoever is signed in."""
    return bool(user.is_authenticated and user.is_active)


def videos_watched_by(user: Any) -> QuerySet[Video]:
    """Of the benchmarks in which they have a role; the address of a video tells nothing of it."""
    return _known(user).limit(Video.objects.all(), "benchmark__key")


def _known(user: Any) -> Scopes:
    return scopes_of(user, Role.ANNOTATOR) | scopes_of(user, Role.RESEARCHER)
