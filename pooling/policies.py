"""Who may do what with benchmarks, runs, pools and videos.

`benchmarks_seen_by` returns the benchmarks that a person may see. Pages and the API treat all
other benchmarks as if they did not exist.
"""

from __future__ import annotations

from typing import TypeAlias

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import QuerySet

from config.accounts.actors import Actor
from config.accounts.roles import (
    Role,
    Scopes,
    is_lead,
    is_researcher,
    researches_somewhere,
    scopes_of,
)
from config.shared.errors import NotPermitted
from pooling.core.pool_options import PoolOptions
from pooling.models import Benchmark, System, Video

Person: TypeAlias = Actor | AbstractBaseUser | AnonymousUser

# The depth of most pools, and the greatest depth that researchers may request.
POOLED_DEPTH = 10


def can_see_benchmarks(user: Person) -> bool:
    """Return whether the person sees any benchmark.

    Annotators do not, because the rank that a system gave a pair must not influence them.
    """
    return researches_somewhere(user)


def benchmarks_seen_by(user: Person) -> QuerySet[Benchmark]:
    return scopes_of(user, Role.RESEARCHER).limit(Benchmark.objects.all(), "key")


def systems_seen_by(user: Person) -> QuerySet[System]:
    """Return the systems with a run in a benchmark that the person sees."""
    scopes = scopes_of(user, Role.RESEARCHER)
    return scopes.limit(System.objects.all(), "runs__benchmark__key").distinct()


def check_can_import_benchmark(by: Actor, key: str) -> None:
    """Require the role of lead in the benchmark of this key, which may not exist yet."""
    if not is_lead(by, key):
        raise NotPermitted("Only leads and admins may import a benchmark.")


def can_upload_run(user: Person) -> bool:
    """Return whether the person may import a run into some benchmark."""
    return researches_somewhere(user)


def check_can_import_run(by: Actor, benchmark: Benchmark) -> None:
    if not is_researcher(by, benchmark.key):
        raise NotPermitted("Only researchers, leads and admins may import a run.")


def can_build_pool(user: Person, benchmark: Benchmark) -> bool:
    return is_lead(user, benchmark.key)


def check_can_build_pool(by: Person, benchmark: Benchmark) -> None:
    if not can_build_pool(by, benchmark):
        raise NotPermitted("Only leads and admins may build pools.")


def check_can_pool(by: Person, benchmark: Benchmark, options: PoolOptions) -> None:
    """Require the right to build this pool.

    Anyone who may import a run may also pool its top k (DECISIONS 38).
    """
    is_small = len(options.runs) == 1 and options.depth <= POOLED_DEPTH and options.is_plain_top
    if is_small and is_researcher(by, benchmark.key):
        return
    if not can_build_pool(by, benchmark):
        raise NotPermitted(
            f"Only leads and admins may pool more than the top {POOLED_DEPTH} of one run."
        )


def can_set_equal_texts(user: Person, benchmark: Benchmark) -> bool:
    return is_lead(user, benchmark.key)


def check_can_set_equal_texts(by: Actor, benchmark: Benchmark) -> None:
    if not can_set_equal_texts(by, benchmark):
        raise NotPermitted("Only leads and admins may change the rule for equal texts.")


def can_import_metadata(user: Person, benchmark: Benchmark) -> bool:
    """Return whether the person may import train captions and tags."""
    return is_lead(user, benchmark.key)


def check_can_import_metadata(by: Person, benchmark: Benchmark) -> None:
    if not can_import_metadata(by, benchmark):
        raise NotPermitted("Only leads and admins may import train captions and tags.")


def can_watch_videos(user: AbstractBaseUser | AnonymousUser) -> bool:
    """Return whether the person is signed in. `videos_watched_by` selects the videos."""
    return bool(user.is_authenticated and user.is_active)


def videos_watched_by(user: Person) -> QuerySet[Video]:
    """Return the videos of the benchmarks in which the person has a role."""
    return _scopes_with_role(user).limit(Video.objects.all(), "benchmark__key")


def _scopes_with_role(user: Person) -> Scopes:
    return scopes_of(user, Role.ANNOTATOR) | scopes_of(user, Role.RESEARCHER)
