"""Reading runs and their ranked lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db.models import QuerySet

from hearth.shared.bulk import Among
from hearth.shared.errors import InvalidInput
from hearth.shared.options import as_params
from pooling.core.direction import Direction
from pooling.core.packing import unpack_into, unpack_list
from pooling.core.pool import pair_codes, ranks_of_pairs
from pooling.core.pool_options import PoolRequest
from pooling.core.ranked_lists import NO_ITEM, RankedLists
from pooling.enums import RunUploadState
from pooling.models import Benchmark, RankedList, Run
from pooling.moments.selectors import moment_lists
from pooling.selectors.arrays import Int32Array, Int64Array

Float32Array = npt.NDArray[np.float32]

# A run is read in parts of this number of predictions, to save memory.
PART_PREDICTIONS = 1 << 20


def find_runs(
    benchmark: Benchmark,
    names: Sequence[str] | None = None,
    direction: Direction | None = None,
    *,
    upper_bounds: bool = False,
) -> list[Run]:
    """Return the named runs in the order of `names`, or all runs in the order of their names.

    Withdrawn runs are returned only by name, and so are upper bounds unless they are wanted.
    direction: the direction to which all runs are limited, None for both. Raises `InvalidInput` if
    a named run is unknown or has another direction.
    """
    # The benchmark of each run is this object, so that reading its pair space needs no database
    # query.
    runs = {run.name: run for run in benchmark.runs.select_related("system")}
    for run in runs.values():
        run.benchmark = benchmark
    if not names:
        found = [runs[name] for name in sorted(runs) if not runs[name].is_withdrawn]
        return [
            run
            for run in found
            if direction in (None, run.facing) and (upper_bounds or not run.is_upper_bound)
        ]
    unknown = [name for name in names if name not in runs]
    if unknown:
        known = ", ".join(sorted(runs)) or "none"
        raise InvalidInput(
            f"There is no run {unknown[0]!r} in {benchmark.key}. The runs are: {known}."
        )
    other = [name for name in names if direction not in (None, runs[name].facing)]
    if other:
        raise InvalidInput(
            f"The run {other[0]!r} is {runs[other[0]].direction}. Only {direction} runs can be "
            "used here."
        )
    return [runs[name] for name in names]


def build_params(benchmark: Benchmark, wanted: PoolRequest) -> dict[str, Any]:
    """Return the parameters of a job that builds a pool.

    `runs` has the ids of the runs, because a name can change.
    """
    names = wanted.pool.runs
    ids = [run.pk for run in find_runs(benchmark, names)] if names else []
    return as_params(wanted.pool) | {"runs": ids, "expected": wanted.expected}


def run_names(benchmark: Benchmark, ids: Sequence[int]) -> list[str]:
    """Return the current names of the runs of a job.

    Raises `InvalidInput` if a run is deleted.
    """
    names = dict(benchmark.runs.filter(pk__in=ids).values_list("pk", "name"))
    if len(names) < len(set(ids)):
        raise InvalidInput("A run of this job has been deleted since the request.")
    return [names[pk] for pk in ids]


def withdrawn_runs(benchmark: Benchmark) -> list[Run]:
    """Return the withdrawn runs in the order of their names."""
    found = benchmark.runs.filter(withdrawn_at__isnull=False)
    return list(found.select_related("system").order_by("name"))


def private_runs(benchmark: Benchmark) -> list[Run]:
    """Return the private runs. Use them only for scoring, so that they stay private.

    Withdrawn runs are included, because their uploader can restore them. Refused runs are left out,
    because only leads may restore them.
    """
    private = Run.everything.filter(benchmark=benchmark, is_private=True)
    return list(private.exclude(upload__state=RunUploadState.REFUSED))


def get_run(benchmark: Benchmark, name: str) -> Run:
    (run,) = find_runs(benchmark, [name])
    return run


def ranked_lists(run: Run, depth: int | None = None) -> RankedLists:
    """Return the ranked lists of a run, cut at `depth`.

    The rows are captions and the items videos, or the other way round: see `Run.pair_space`. A row
    without a list has no item. The time is linear in the number of stored predictions.
    """
    rows = np.arange(run.pair_space.n_queries)
    items = _items(RankedList.objects.filter(run=run), run, depth, rows)
    return RankedLists.of(items, run.pair_space.n_videos)


def some_ranked_lists(run: Run, depth: int | None, rows: Int64Array) -> RankedLists:
    """Return some rows of `ranked_lists`. rows: int64, ascending."""
    lists = RankedList.objects.filter(Among("row", rows), run=run)
    items = _items(lists, run, depth, rows)
    return RankedLists.of(items, run.pair_space.n_videos, queries=rows)


def _items(
    lists: QuerySet[RankedList], run: Run, depth: int | None, wanted: Int64Array
) -> Int32Array:
    width = min(run.depth, depth) if depth else run.depth
    items = np.full((len(wanted), width), NO_ITEM, dtype=np.int32)
    rows = lists.values_list("row", "items").iterator(1000)
    while part := list(islice(rows, 1 + PART_PREDICTIONS // run.depth)):
        numbers = np.array([number for number, _ in part], dtype=np.int64)
        unpack_into(items, [bytes(v) for _, v in part], np.searchsorted(wanted, numbers))
    return items


def scored_lists(run: Run) -> Iterator[tuple[int, Int32Array, Float32Array]]:
    """Yield the row, the items and the scores of each ranked list, in the order of the rows."""
    lists = RankedList.objects.filter(run=run).order_by("row")
    for row, items, scores in lists.values_list("row", "items", "scores").iterator(1000):
        yield row, *unpack_list(bytes(items), bytes(scores))


def pooled_codes_of(run: Run, depth: int) -> Int64Array:
    """Return the pairs in the top `depth` of a run as codes of the benchmark, int64.

    The top of a run of moments has the videos of its first moments, which may be fewer.
    """
    moments = moment_lists(run, depth)
    codes = pair_codes(ranked_lists(run, depth) if moments is None else moments, depth)
    return run.facing.benchmark_codes(codes, run.benchmark.pair_space)


def ranks_in_run(
    run: Run, codes: Int64Array, depth: int | None, *, all_rows: bool = False
) -> Int32Array:
    """Return the rank of each pair in a run, int32 [n], from 0, or NOT_RANKED if it has no rank.

    codes: int64 [n], codes of the benchmark, in any order. all_rows: whether to read all lists with
    one statement, which is faster if the pairs belong to most rows.
    """
    own = run.facing.codes(codes, run.benchmark.pair_space)
    if all_rows:
        return ranks_of_pairs(ranked_lists(run, depth), own)
    rows = np.unique(run.pair_space.queries(own))
    return ranks_of_pairs(some_ranked_lists(run, depth, rows), own)


def similarities_of(run: Run) -> npt.NDArray[np.float16]:
    """Return the similarities of captions and videos, [n_queries, n_videos], mapped into memory.

    They are rounded to float16, so ranks come from `deepest_lists`. Raises `InvalidInput` if the
    run was not read from a matrix.
    """
    if not run.has_matrix:
        raise InvalidInput(f"The run {run.name!r} has ranked lists only, and no whole matrix.")
    found = np.lib.format.open_memmap(Path(run.similarities.path), "r")
    return found if run.facing is Direction.TEXT_TO_VIDEO else found.T


def deepest_lists(run: Run) -> RankedLists:
    """Return the ranked lists of a run with all items if it was read from a matrix.

    The items of a matrix are mapped into memory.
    """
    if not run.has_matrix:
        return ranked_lists(run)
    order = np.lib.format.open_memmap(Path(run.order.path), "r")
    return RankedLists(order, run.pair_space.n_videos)


def top_items(runs: Sequence[Run], number: int, depth: int) -> dict[int, list[int]]:
    """Return the numbers of each run's top `depth` items of one row, by the run's primary key.

    number: the number of the row. A run without a list for the row is not in the result.
    """
    lists = RankedList.objects.filter(run__in=runs, row=number)
    return {
        run: unpack_list(bytes(items), b"")[0][:depth].tolist()
        for run, items in lists.values_list("run_id", "items")
    }
