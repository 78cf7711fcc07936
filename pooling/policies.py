"""Who may do what with benchmarks, runs, proxies, pools and videos.

`benchmarks_seen_by` returns the benchmarks that a person may see. Pages and the API treat all
other benchmarks as if they did not exist.
"""

from __future__ import annotations

from typing import TypeAlias

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Q, QuerySet

from hearth.accounts.actors import Actor
from hearth.accounts.policies import is_confirmed
from hearth.accounts.roles import (
    Role,
    Rows,
    Scopes,
    is_lead,
    is_researcher,
    leads_somewhere,
    researches_somewhere,
    scopes_of,
)
from hearth.shared.errors import Conflict, NotPermitted
from pooling.core.pool_options import PoolOptions
from pooling.enums import RunUploadState
from pooling.models import (
    Benchmark,
    BenchmarkImport,
    Proxy,
    Run,
    RunUpload,
    System,
    Uploader,
    Video,
)

Person: TypeAlias = Actor | AbstractBaseUser | AnonymousUser

# The depth of most pools, and the greatest depth that researchers may request.
POOLED_DEPTH = 10
UNCONFIRMED = (
    "Your account is not confirmed yet. Open the page on which you upload a run to this benchmark. "
    "It shows how to confirm your account."
)


def can_see_benchmarks(user: Person) -> bool:
    """Return whether the person sees any benchmark.

    Annotators do not, because the rank that a system gave a pair must not influence them.
    """
    return researches_somewhere(user)


def benchmarks_seen_by(user: Person) -> QuerySet[Benchmark]:
    return scopes_of(user, Role.RESEARCHER).limit(Benchmark.objects.all(), "key")


def systems_seen_by(user: Person) -> QuerySet[System]:
    """Return the systems with a run in a benchmark that the person sees."""
    runs = scopes_of(user, Role.RESEARCHER).limit(Run.objects.all(), "benchmark__key")
    return System.objects.filter(pk__in=runs.order_by().values("system"))


def public_benchmarks_seen_by(user: Person) -> QuerySet[Benchmark]:
    """Return the public benchmarks, except those in which the person is only an annotator."""
    return _without_judged(user, public_benchmarks(), "key")


def public_benchmarks() -> QuerySet[Benchmark]:
    """Return the benchmarks that visitors see."""
    return Benchmark.objects.filter(public_page__opened_at__isnull=False, archived_at=None)


def _without_judged(user: Person, rows: QuerySet[Rows], path: str) -> QuerySet[Rows]:
    """Leave out the rows of the benchmarks in which the person's only role is annotator.

    The person must not see the scores and the names of runs of these benchmarks. `path` is the
    lookup from a row to the key of its benchmark.
    """
    judged, researched = scopes_of(user, Role.ANNOTATOR), scopes_of(user, Role.RESEARCHER)
    if researched.everywhere:
        return rows
    if judged.everywhere:
        return researched.limit(rows, path)
    return rows.exclude(**{f"{path}__in": judged.keys - researched.keys})


def can_upload_for_scoring(user: Person) -> bool:
    """Return whether the person has an active account. No role is needed."""
    return user.pk is not None and user.is_active


def can_upload_to(user: Person, key: str) -> bool:
    """Return whether the person may upload a run to the benchmark of this key for scoring."""
    return can_upload_for_scoring(user) and (
        public_benchmarks_seen_by(user).filter(key=key).exists()
    )


def check_can_upload_for_scoring(by: Actor, benchmark: Benchmark) -> None:
    if not can_upload_to(by, benchmark.key):
        raise NotPermitted("This benchmark accepts no runs from you for scoring.")


def is_confirmed_for(user: Person, key: str) -> bool:
    """Return whether the person may upload runs to the benchmark without further confirmation."""
    if is_confirmed(user):
        return True
    own = Uploader.objects.filter(benchmark__key=key, person=user.pk)
    return own.filter(confirmed_at__isnull=False).exists()


def can_send_runs_to(user: Person, key: str) -> bool:
    return can_upload_to(user, key) and is_confirmed_for(user, key)


def check_is_confirmed_for(by: Person, benchmark: Benchmark) -> None:
    if not is_confirmed_for(by, benchmark.key):
        raise NotPermitted(UNCONFIRMED)


def check_can_confirm_uploader(by: Person, benchmark: Benchmark) -> None:
    if not is_lead(by, benchmark.key):
        raise NotPermitted("Only leads and admins may confirm a person for uploads.")
    check_not_archived(benchmark)


def own_run_uploads(user: Person) -> QuerySet[RunUpload]:
    """Return the person's uploads, except those to benchmarks that `_without_judged` leaves out."""
    return _without_judged(user, RunUpload.objects.filter(created_by=user.pk), "benchmark__key")


def run_uploads_seen_by(user: Person) -> QuerySet[RunUpload]:
    """Return the person's own uploads, and all uploads to the benchmarks that they lead."""
    led = scopes_of(user, Role.LEAD)
    if led.everywhere:
        return RunUpload.objects.all()
    own = own_run_uploads(user).order_by().values("pk")
    return RunUpload.objects.filter(Q(pk__in=own) | Q(benchmark__key__in=led.keys))


def check_can_publish_run(by: Actor, upload: RunUpload) -> None:
    if by.pk is None or upload.created_by_id != by.pk:
        raise NotPermitted("Only the person who uploaded the run may publish it.")
    check_can_upload_for_scoring(by, upload.benchmark)


def can_refuse_upload(user: Person, benchmark: Benchmark) -> bool:
    return is_lead(user, benchmark.key)


def check_can_refuse_upload(by: Actor, upload: RunUpload) -> None:
    if not can_refuse_upload(by, upload.benchmark):
        raise NotPermitted("Only leads and admins may refuse an uploaded run.")
    check_not_archived(upload.benchmark)


def check_can_withdraw_run(by: Person, run: Run) -> None:
    """Check that the person may change the run, or has uploaded it for scoring."""
    is_own = by.pk is not None and RunUpload.objects.filter(run=run, created_by=by.pk).exists()
    if not (is_own and by.is_active):
        check_can_change_run(by, run)


def can_restore_run(by: Person, run: Run) -> bool:
    """Return whether the person withdrew the run, or leads the benchmark.

    A run that a lead has withdrawn, perhaps by refusing its upload, stays withdrawn until a lead
    restores it.
    """
    is_own = by.pk is not None and run.withdrawn_by_id == by.pk
    refused = RunUpload.objects.filter(run=run, state=RunUploadState.REFUSED)
    return is_lead(by, run.benchmark.key) or (is_own and not refused.exists())


def check_can_restore_run(by: Person, run: Run) -> None:
    """Check that the person may withdraw the run and may reverse its withdrawal."""
    check_not_archived(run.benchmark)
    check_can_withdraw_run(by, run)
    if run.is_withdrawn and not can_restore_run(by, run):
        raise NotPermitted(
            "The leads of the benchmark withdrew this run. Only they may restore or delete it."
        )


def check_can_delete_run(by: Person, run: Run) -> None:
    """Check that the person may change the run and may reverse its withdrawal.

    Otherwise, a person could import the run again after a lead withdrew it.
    """
    check_can_change_run(by, run)
    check_can_restore_run(by, run)


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


def can_upload_run(user: Person) -> bool:
    """Return whether the person may import a run into some benchmark."""
    return researches_somewhere(user)


def can_import_run(user: Person, benchmark: Benchmark) -> bool:
    return is_researcher(user, benchmark.key) and not benchmark.is_archived


def check_can_import_run(by: Person, benchmark: Benchmark) -> None:
    if not is_researcher(by, benchmark.key):
        raise NotPermitted("Only researchers, leads and admins may import a run.")
    check_not_archived(benchmark)


def check_can_add_proxy(by: Person, benchmark: Benchmark) -> None:
    if not is_researcher(by, benchmark.key):
        raise NotPermitted("Only researchers, leads and admins may add a proxy.")
    check_not_archived(benchmark)


def can_delete_proxy(user: Person, proxy: Proxy) -> bool:
    """Return whether the person may delete the proxy.

    Leads and the person who added the proxy may, unless the benchmark is archived.
    """
    return _is_responsible(user, proxy) and not proxy.benchmark.is_archived


def check_can_delete_proxy(by: Person, proxy: Proxy) -> None:
    if not _is_responsible(by, proxy):
        raise NotPermitted("Only the person who added the proxy, leads and admins may delete it.")
    check_not_archived(proxy.benchmark)


def can_change_run(user: Person, run: Run) -> bool:
    """Return whether the person may change, withdraw or delete the run.

    Leads and the person who imported the run may, unless the benchmark is archived.
    """
    return _is_responsible(user, run) and not run.benchmark.is_archived


def _is_responsible(user: Person, added: Run | Proxy) -> bool:
    key = added.benchmark.key
    is_own = user.pk is not None and added.created_by_id == user.pk and is_researcher(user, key)
    return is_own or is_lead(user, key)


def check_can_change_run(by: Person, run: Run) -> None:
    if not _is_responsible(by, run):
        raise NotPermitted("Only the person who imported the run, leads and admins may change it.")
    check_not_archived(run.benchmark)


def can_change_benchmark(user: Person, benchmark: Benchmark) -> bool:
    """Return whether the person may perform the actions of leads. Pages offer them only then."""
    return is_lead(user, benchmark.key) and not benchmark.is_archived


def check_not_archived(benchmark: Benchmark) -> None:
    """Raise `Conflict` if the benchmark is archived, because it must not change."""
    if benchmark.is_archived:
        raise Conflict("This benchmark is archived. Restore it before you change anything.")


def can_manage_benchmark(user: Person, benchmark: Benchmark) -> bool:
    """Return whether the person may rename, archive, restore and delete the benchmark."""
    return is_lead(user, benchmark.key)


def check_can_manage_benchmark(by: Person, benchmark: Benchmark) -> None:
    if not can_manage_benchmark(by, benchmark):
        raise NotPermitted("Only leads and admins may rename, archive or delete a benchmark.")


def check_can_build_pool(by: Person, benchmark: Benchmark) -> None:
    if not is_lead(by, benchmark.key):
        raise NotPermitted("Only leads and admins may build pools.")
    check_not_archived(benchmark)


def check_can_pool(by: Person, benchmark: Benchmark, options: PoolOptions) -> None:
    """Require the right to build this pool.

    Anyone who may import runs may also pool the top `POOLED_DEPTH` of one run (decision 38). Only
    leads may build any other pool.
    """
    check_not_archived(benchmark)
    is_small = len(options.runs) == 1 and options.depth <= POOLED_DEPTH and options.is_plain_top
    if is_small and is_researcher(by, benchmark.key):
        return
    if not is_lead(by, benchmark.key):
        raise NotPermitted(
            "Only leads and admins may build this pool. Researchers may pool up to the top "
            f"{POOLED_DEPTH} of one run, without other options."
        )


def check_can_set_equal_texts(by: Actor, benchmark: Benchmark) -> None:
    if not is_lead(by, benchmark.key):
        raise NotPermitted("Only leads and admins may change the rule for equal texts.")
    check_not_archived(benchmark)


def check_can_import_metadata(by: Person, benchmark: Benchmark) -> None:
    if not is_lead(by, benchmark.key):
        raise NotPermitted("Only leads and admins may import train captions and tags.")
    check_not_archived(benchmark)


def check_can_add_videos(by: Person, benchmark: Benchmark) -> None:
    if not is_lead(by, benchmark.key):
        raise NotPermitted("Only leads and admins may add videos.")
    check_not_archived(benchmark)


def can_watch_videos(user: AbstractBaseUser | AnonymousUser) -> bool:
    """Return whether the person is signed in. `videos_watched_by` selects the videos."""
    return bool(user.is_authenticated and user.is_active)


def videos_watched_by(user: Person) -> QuerySet[Video]:
    """Return the videos of the benchmarks in which the person has a role."""
    return _scopes_with_role(user).limit(Video.objects.all(), "benchmark__key")


def _scopes_with_role(user: Person) -> Scopes:
    return scopes_of(user, Role.ANNOTATOR) | scopes_of(user, Role.RESEARCHER)
