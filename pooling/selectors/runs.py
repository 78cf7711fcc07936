"""Reading runs and their ranked lists."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import numpy as np
from django.db.models import QuerySet

from config.shared.bulk import Among
from config.shared.errors import InvalidInput
from pooling.core.packing import unpack_into, unpack_list
from pooling.models import Benchmark, RankedList, Run
from pooling.selectors.arrays import Captions, Int32Array, Int64Array, numbers_of

# A run is read in parts of this number of predictions, to save memory.
PART_PREDICTIONS = 1 << 20


def find_runs(benchmark: Benchmark, names: Sequence[str] | None = None) -> list[Run]:
    """Return the named runs in the order of `names`, or all runs in the order of their names."""
    runs = {run.name: run for run in benchmark.runs.select_related("system")}
    if not names:
        return [runs[name] for name in sorted(runs)]
    unknown = [name for name in names if name not in runs]
    if unknown:
        known = ", ".join(sorted(runs)) or "none"
        raise InvalidInput(
            f"There is no run {unknown[0]!r} in {benchmark.key}. The runs are: {known}."
        )
    return [runs[name] for name in names]


def get_run(benchmark: Benchmark, name: str) -> Run:
    (run,) = find_runs(benchmark, [name])
    return run


def ranked_matrix(run: Run, depth: int | None = None) -> Int32Array:
    """Return the run's video numbers, int32 [n_queries, width], best first, padded with -1.

    A query without a list has a row of -1. The width is the depth of the run, or `depth` if that is
    less. The time is linear in the number of stored predictions.
    """
    numbers = np.arange(run.benchmark.n_queries)
    return _ranked_rows(RankedList.objects.filter(run=run), run, depth, numbers)


def ranked_rows(run: Run, depth: int | None, captions: Captions) -> Int32Array:
    """Return the rows of `ranked_matrix` for some captions, int32 [len(captions), width]."""
    lists = RankedList.objects.filter(Among("query_id", captions.ids), run=run)
    return _ranked_rows(lists, run, depth, captions.numbers)


def _ranked_rows(
    lists: QuerySet[RankedList], run: Run, depth: int | None, captions: Int64Array
) -> Int32Array:
    width = min(run.depth, depth) if depth else run.depth
    ranked = np.full((len(captions), width), -1, dtype=np.int32)
    rows = lists.values_list("query__number", "videos").iterator(1000)
    while part := list(islice(rows, 1 + PART_PREDICTIONS // run.depth)):
        numbers = np.array([number for number, _ in part], dtype=np.int64)
        unpack_into(ranked, [bytes(v) for _, v in part], numbers_of(captions, numbers))
    return ranked


def top_videos(runs: Sequence[Run], number: int, depth: int) -> dict[int, list[int]]:
    """Return the numbers of the top `depth` videos of one query by the primary key of the run.

    A run without a list for the query is not in the result.
    """
    rows = RankedList.objects.filter(run__in=runs, query__number=number)
    return {
        run: unpack_list(bytes(videos), b"")[0][:depth].tolist()
        for run, videos in rows.values_list("run_id", "videos")
    }
