"""Renaming, archiving and restoring benchmarks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated

from django.db import transaction
from django.utils import timezone

from hearth.accounts.actors import Actor
from hearth.audit.services import record
from hearth.shared.bulk import lock_row
from hearth.shared.errors import Conflict, InvalidInput
from hearth.shared.limits import check_length
from hearth.shared.options import Entry, Option
from pooling.enums import PoolingAct
from pooling.models import Benchmark
from pooling.policies import check_can_manage_benchmark, check_not_archived
from pooling.signals import benchmark_archiving

Description = Annotated[
    str, Option("Description", length=5000, entry=Entry.AREA, attrs={"rows": 3})
]


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkFields:
    """What can change of a benchmark.

    The key cannot, because addresses, roles, scripts and exported files contain it.
    """

    name: Annotated[str, Option("Name", length=200, printable=True)]
    licence: Annotated[str, Option("Licence", length=300, printable=True)] = ""
    description: Description = ""


BENCHMARK_FIELDS = tuple(field.name for field in fields(BenchmarkFields))


@transaction.atomic
def change_benchmark(*, benchmark: Benchmark, changes: Mapping[str, str], by: Actor) -> Benchmark:
    """Change the name, the licence and the description of a benchmark.

    changes: the new values by the names in `BENCHMARK_FIELDS`; missing fields stay. Raises
    `NotPermitted` if `by` does not lead the benchmark, and `InvalidInput` for a value that is not
    valid.
    """
    check_can_manage_benchmark(by, benchmark)
    lock_row(benchmark)
    benchmark.refresh_from_db()
    check_not_archived(benchmark)
    changed = {field: text for field, text in changes.items() if text != getattr(benchmark, field)}
    unknown = set(changed) - set(BENCHMARK_FIELDS)
    if unknown:
        raise InvalidInput(f"A benchmark has no field {min(unknown)!r} that can change.")
    if changed.get("name", "x") != changed.get("name", "x").strip() or changed.get("name") == "":
        raise InvalidInput("The name of a benchmark must not be empty or have space at its ends.")
    for field, text in changed.items():
        check_length(Benchmark, field, text)
    if changed:
        before = {field: getattr(benchmark, field) for field in changed}
        Benchmark.objects.filter(pk=benchmark.pk).update(**changed)
        record(
            PoolingAct.BENCHMARK_CHANGED, by=by, on=benchmark, before=before, after=dict(changed)
        )
        benchmark.refresh_from_db()
    return benchmark


@transaction.atomic
def archive_benchmark(*, benchmark: Benchmark, by: Actor) -> None:
    """Make a benchmark read-only and remove it from the lists. Everything in it stays.

    Raises `NotPermitted` if `by` does not lead the benchmark, and `Conflict` if it is archived
    already or if one of its campaigns is open.
    """
    check_can_manage_benchmark(by, benchmark)
    lock_row(benchmark)
    benchmark_archiving.send(Benchmark, benchmark=benchmark)
    active = Benchmark.objects.filter(pk=benchmark.pk, archived_at=None)
    if not active.update(archived_at=timezone.now()):
        raise Conflict("This benchmark is already archived.")
    record(PoolingAct.BENCHMARK_ARCHIVED, by=by, on=benchmark)
    benchmark.refresh_from_db()


@transaction.atomic
def restore_benchmark(*, benchmark: Benchmark, by: Actor) -> None:
    """Reverse `archive_benchmark`. Raises `Conflict` if the benchmark is not archived."""
    check_can_manage_benchmark(by, benchmark)
    archived = Benchmark.objects.filter(pk=benchmark.pk, archived_at__isnull=False)
    if not archived.update(archived_at=None):
        raise Conflict("This benchmark is not archived.")
    record(PoolingAct.BENCHMARK_RESTORED, by=by, on=benchmark)
    benchmark.refresh_from_db()
