"""Runs that are made from other runs keep how they were made, and are stored once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.audit.models import AuditEntry
from hearth.shared.errors import InvalidInput, NotPermitted, Outdated
from pooling.core.ordering import RunData
from pooling.models import Benchmark, Run
from pooling.selectors.runs import scored_lists
from pooling.services.derived_runs import provenance_of, store_derived_run
from tests.factories import add_run, make_benchmark, make_user

pytestmark = pytest.mark.django_db


def lists(*, first: int) -> RunData:
    """Return a list of caption 1: video 2, then another one."""
    return RunData(
        query_numbers=np.array([1], np.int32),
        offsets=np.array([0, 2]),
        videos=np.array([2, first], np.int32),
        scores=np.array([0.5, 0.25], np.float32),
        depth=2,
        sha256="",
        format="",
    )


def derive(benchmark: Benchmark, parent: Run, **changes):
    given = {
        "benchmark": benchmark,
        "data": lists(first=0),
        "provenance": provenance_of("focus", [parent], {"k": 10}),
        "system": "s",
        "name": "derived",
        "by": OPERATOR,
    }
    return store_derived_run(**{**given, **changes})


def test_a_derived_run_is_stored_once_with_its_provenance(tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path, captions=3, videos=3)
    parent = add_run(tmp_path, benchmark, {"c1": ["v0", "v2"]}, system="parent").run
    made = derive(benchmark, parent)
    run = Run.objects.get(name="derived")
    assert made.created
    assert run.provenance == {
        "method": "focus",
        "parents": [{"run": "parent", "sha256": parent.sha256}],
        "options": {"k": 10},
    }
    ((row, items, scores),) = scored_lists(run)
    assert (row, items.tolist(), scores.tolist()) == (1, [2, 0], [0.5, 0.25])
    assert (run.format, run.depth, run.n_queries) == ("derived", 2, 1)
    entry = AuditEntry.objects.get(act="run_derived")
    assert entry.after == {"sha256": run.sha256, "method": "focus"}
    # The parent has a new name, and the same run is asked for under another name.
    Run.objects.filter(pk=parent.pk).update(name="renamed")
    parent.refresh_from_db()
    again = derive(
        benchmark, parent, provenance=provenance_of("focus", [parent], {"k": 10}), name="other"
    )
    assert (again.run.pk, again.created) == (run.pk, False)
    others = [
        derive(benchmark, parent, data=lists(first=1)),
        derive(benchmark, parent, provenance=provenance_of("focus", [parent], {"k": 9})),
    ]
    assert [other.run.name for other in others] == ["derived@2", "derived@3"]


def test_a_derived_run_is_refused(tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path, captions=3, videos=3)
    parent = add_run(tmp_path, benchmark, {"c1": ["v0", "v2"]}, system="parent").run
    with pytest.raises(NotPermitted):
        derive(benchmark, parent, by=make_user("annotator", Role.ANNOTATOR))
    with pytest.raises(InvalidInput):
        derive(benchmark, parent, name=" ")
    provenance = provenance_of("focus", [parent], {})
    parent.delete()
    with pytest.raises(Outdated, match="deleted or replaced"):
        derive(benchmark, parent, provenance=provenance)
    assert not Run.objects.exists()
