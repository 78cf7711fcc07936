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
    leads_somewhere,
    researches_somewhere,
    scopes_of,
)
from config.shared.errors import Conflict, NotPermitted
from pooling.core.pool_options import PoolOptions
from pooling.models import Benchmark, BenchmarkImport, Run, System, Video

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
    if (stored := Benchmark.objects.filter(key=key).first()) is not None:
        check_not_archived(stored)


def can_import_benchmarks(user: Person) -> bool:
    """Return whether the person may import some benchmark."""
    return leads_somewhere(user)


def imports_seen_by(user: Person) -> QuerySet[BenchmarkImport]:
    return scopes_of(user, Role.LEAD).limit(BenchmarkImport.objects.all(), "benchmark_key")


def can_update_captions(user: Person, benchmark: Benchmark) -> bool:
    return is_lead(user, benchmark.key)


def can_upload_run(user: Person) -> bool:
    """Return whether the person may import a run into some benchmark."""
    return researches_somewhere(user)


def check_can_import_run(by: Actor, benchmark: Benchmark) -> None:
    if not is_researcher(by, benchmark.key):
        raise NotPermitted("Only researchers, leads and admins may import a run.")
    check_not_archived(benchmark)


def can_change_run(user: Person, run: Run) -> bool:
    """Return whether the person may change, withdraw or delete the run: its uploader or a lead."""
    key = run.benchmark.key
    is_own = user.pk is not None and run.created_by_id == user.pk and is_researcher(user, key)
    return is_own or is_lead(user, key)


def check_can_change_run(by: Person, run: Run) -> None:
    if not can_change_run(by, run):
        raise NotPermitted("Only the person who imported the run, leads and admins may change it.")
    check_not_archived(run.benchmark)


def check_not_archived(benchmark: Benchmark) -> None:
    """Raise `Conflict` if the benchmark is archived, because nothing of it may change then."""
    if benchmark.is_archived:
        raise Conflict("This benchmark is archived. Restore it before you change anything.")


def can_manage_benchmark(user: Person, benchmark: Benchmark) -> bool:
    """Return whether the person may rename, archive, restore and delete the benchmark."""
    return is_lead(user, benchmark.key)


def check_can_manage_benchmark(by: Person, benchmark: Benchmark) -> None:
    if not can_manage_benchmark(by, benchmark):
        raise NotPermitted("Only leads and admins may rename, archive or delete a benchmark.")


def can_build_pool(user: Person, benchmark: Benchmark) -> bool:
    return is_lead(user, benchmark.key)


def check_can_build_pool(by: Person, benchmark: Benchmark) -> None:
    if not can_build_pool(by, benchmark):
        raise NotPermitted("Only leads and admins may build pools.")
    check_not_archived(benchmark)


def check_can_pool(by: Person, benchmark: Benchmark, options: PoolOptions) -> None:
    """Require the right to build this pool.

    Anyone who may import a run may also pool its top k (DECISIONS 38).
    """
    check_not_archived(benchmark)
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
    check_not_archived(benchmark)


def can_import_metadata(user: Person, benchmark: Benchmark) -> bool:
    """Return whether the person may import train captions and tags."""
    return is_lead(user, benchmark.key)


def check_can_import_metadata(by: Person, benchmark: Benchmark) -> None:
    if not can_import_metadata(by, benchmark):
        raise NotPermitted("Only leads and admins may import train captions and tags.")
    check_not_archived(benchmark)


def can_add_videos(user: Person, benchmark: Benchmark) -> bool:
    return is_lead(user, benchmark.key)


def check_can_add_videos(by: Person, benchmark: Benchmark) -> None:
    if not can_add_videos(by, benchmark):
        raise NotPermitted("Only leads and admins may add videos.")


def can_watch_videos(user: AbstractBaseUser | AnonymousUser) -> bool:
    """Return whether the person is signed in. `videos_watched_by` selects the videos."""
    return bool(user.is_authenticated and user.is_active)


def videos_watched_by(user: Person) -> QuerySet[Video]:
    """Return the videos of the benchmarks in which the person has a role."""
    return _scopes_with_role(user).limit(Video.objects.all(), "benchmark__key")


def _scopes_with_role(user: Person) -> Scopes:
    return scopes_of(user, Role.ANNOTATOR) | scopes_of(user, Role.RESEARCHER)
