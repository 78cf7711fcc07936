"""Time of fusing five lists for each caption of MSVD, beside that of ranx.

    python -m tests.benchmarks.fusion [--tiny] [--json]

Each of the 27,763 captions has five lists of 100 of the 670 videos, with seeded random scores. ranx
takes part if it is installed (`pip install ranx`); its first call, which compiles, is not measured,
and neither is the building of its dictionaries. The exit code is 1 if a rule exceeds its limit. The
program uses no Django and no database.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from pooling.core.ranked_lists import RankedLists
from pooling.phrasings.core.fusion import Method, Norm, Rule, fuse

LIMIT_MS = 3000
LISTS = 5
# The names that ranx has for the rules that both implement.
RANX = {
    Method.COMBSUM: "sum",
    Method.COMBMNZ: "mnz",
    Method.COMBMED: "med",
    Method.RRF: "rrf",
    Method.RBC: "rbc",
    Method.BORDA: "bordafuse",
    Method.ISR: "isr",
}


def made_lists(n_queries: int, n_items: int, depth: int) -> list[RankedLists]:
    """Return lists of different systems that agree partly, as phrasings of one caption do."""
    rng = np.random.default_rng(1)
    common = rng.normal(size=(n_queries, n_items)).astype(np.float32)
    found = []
    for _ in range(LISTS):
        scores = common + rng.normal(size=common.shape).astype(np.float32)
        items = np.argsort(-scores, axis=1)[:, :depth].astype(np.int32)
        found.append(
            RankedLists.of(items, n_items, scores=np.take_along_axis(scores, items, axis=1))
        )
    return found


def ranx_runs(lists: list[RankedLists]) -> list[Any]:
    from ranx import Run

    found = []
    for part in lists:
        assert part.scores is not None
        rows = zip(part.items.tolist(), part.scores.tolist(), strict=True)
        found.append(
            Run(
                {
                    f"q{query}": {f"v{v:03}": s for v, s in zip(items, scores, strict=True)}
                    for query, (items, scores) in enumerate(rows)
                }
            )
        )
    return found


def milliseconds(work: Callable[[], Any]) -> tuple[int, int]:
    """Return the time that passed, and the time of the processors."""
    begun, used = time.perf_counter(), time.process_time()
    work()
    return (
        round(1000 * (time.perf_counter() - begun)),
        round(1000 * (time.process_time() - used)),
    )


def ranx_times(lists: list[RankedLists]) -> dict[Method, tuple[int, int]]:
    if importlib.util.find_spec("ranx") is None:
        return {}
    from ranx import fuse as ranx_fuse

    def fused(runs: list[Any], method: Method) -> None:
        norm = "min-max" if method.value.startswith("comb") else None
        ranx_fuse(runs=runs, norm=norm, method=RANX[method])

    few, found = ranx_runs([part[:20] for part in lists]), {}
    for method in RANX:
        fused(few, method)  # compiles
        # ranx sorts and scales its runs in place.
        runs = ranx_runs(lists)
        found[method] = milliseconds(lambda runs=runs, method=method: fused(runs, method))  # type: ignore[misc]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the fusion of ranked lists.")
    parser.add_argument("--tiny", action="store_true", help="200 captions, for a test")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    n_queries = 200 if arguments.tiny else 27_763
    lists = made_lists(n_queries, 670, 100)
    others = {} if arguments.tiny else ranx_times(lists)
    rows = []
    for method in Method:
        rule = Rule(method, Norm.MIN_MAX)
        ms, cpu_ms = milliseconds(lambda rule=rule: fuse(lists, rule, depth=100))  # type: ignore[misc]
        row: dict[str, Any] = {"rule": str(rule), "ms": ms, "cpu_ms": cpu_ms}
        if method in others:
            row |= dict(zip(("ranx_ms", "ranx_cpu_ms"), others[method], strict=True))
        rows.append(row)
    report = {"captions": n_queries, "lists": LISTS, "limit_ms": LIMIT_MS, "rows": rows}
    if arguments.json:
        print(json.dumps(report))
    else:
        print(f"{n_queries:,} captions, {LISTS} lists of 100, limit {LIMIT_MS:,} ms")
        for row in rows:
            print(", ".join(f"{name} {value}" for name, value in row.items()))
    return int(any(row["ms"] > LIMIT_MS for row in rows))


if __name__ == "__main__":
    sys.exit(main())
