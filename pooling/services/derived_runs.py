"""Storing runs that are made from other runs, with their provenance.

The provenance of a run (`Run.provenance`) is a JSON object with the keys of `Provenance`. It names
its parents by name and hash, so that it stays readable after a parent is renamed or deleted.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypedDict

from hearth.accounts.actors import Actor
from hearth.audit.services import record
from hearth.shared.bulk import lock_row, long_transaction
from hearth.shared.errors import Outdated
from pooling.core.ordering import RunData
from pooling.enums import PoolingAct
from pooling.models import Benchmark, Run
from pooling.policies import check_can_import_run
from pooling.services.names import check_name, free_name
from pooling.services.runs import ImportedRun, announced, store_lists

FORMAT = "derived"


class Parent(TypedDict):
    """A run from which another one was made, and its hash at that time."""

    run: str
    sha256: str


class Provenance(TypedDict):
    """How a run was made.

    method: the name of the rule, such as `focus` or `rrf`. options: the options of the rule.
    """

    method: str
    parents: list[Parent]
    options: dict[str, Any]


def provenance_of(method: str, parents: Sequence[Run], options: Mapping[str, Any]) -> Provenance:
    named: list[Parent] = [{"run": run.name, "sha256": run.sha256} for run in parents]
    return {"method": method, "parents": named, "options": dict(options)}


def store_derived_run(
    *,
    benchmark: Benchmark,
    data: RunData,
    provenance: Provenance,
    system: str,
    name: str,
    by: Actor,
) -> ImportedRun:
    """Store a run that was made from other runs of the benchmark, and announce it.

    data: the lists; their hash and format are set here. The same lists made in the same way are
    stored once. Raises `NotPermitted` if `by` may not import runs, `InvalidInput` if the name is
    invalid, and `Outdated` if a parent has been deleted or changed in the meantime.
    """
    check_can_import_run(by, benchmark)
    check_name(system, "system")
    check_name(name, "run")
    data = replace(data, sha256=_sha256(data, provenance), format=FORMAT)
    with long_transaction():
        lock_row(benchmark)
        runs = Run.objects.filter(benchmark=benchmark)
        wanted = {parent["sha256"] for parent in provenance["parents"]}
        if set(runs.filter(sha256__in=wanted).values_list("sha256", flat=True)) != wanted:
            raise Outdated("A run has been deleted or replaced in the meantime. Start again.")
        stored = runs.filter(sha256=data.sha256, depth_limit=0, direction=data.direction).first()
        if stored is not None:
            return ImportedRun(stored, created=False)
        name = free_name(runs, name)
        run = store_lists(
            benchmark, data, system=system, name=name, by=by, provenance=dict(provenance)
        )
        after = {"sha256": run.sha256, "method": provenance["method"]}
        record(PoolingAct.RUN_DERIVED, by=by, on=run, after=after)
        return ImportedRun(run, created=True, jobs=announced(run, by))


def _sha256(data: RunData, provenance: Provenance) -> str:
    """Return the hash of the lists and of how they were made, without the names of the parents."""
    parents = [parent["sha256"] for parent in provenance["parents"]]
    made = [provenance["method"], parents, provenance["options"]]
    found = hashlib.sha256(json.dumps(made, sort_keys=True).encode())
    for column in (data.query_numbers, data.offsets, data.videos, data.scores):
        found.update(column.tobytes())
    return found.hexdigest()
