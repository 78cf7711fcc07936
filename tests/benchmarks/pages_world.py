"""What `tests.benchmarks.pages` asks a server for, found in a process of its own.

    python -m tests.benchmarks.pages_world names
    python -m tests.benchmarks.pages_world alpha KEY
    python -m tests.benchmarks.pages_world addresses KEY ANALYSIS...

Each prints one JSON object.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

import krippendorff  # noqa: E402
import numpy as np  # noqa: E402
from django.urls import reverse  # noqa: E402

from annotation.selectors.judgments import judgment_arrays  # noqa: E402
from config.accounts.roles import Role  # noqa: E402
from evaluation.core.people.agreement import count_labels  # noqa: E402
from evaluation.core.people.alpha import krippendorff_alpha  # noqa: E402
from evaluation.core.relevance.compare import CHANGED  # noqa: E402
from evaluation.lab.analyses import KINDS  # noqa: E402
from evaluation.lab.analyses.asked import ask  # noqa: E402
from pooling.models import Benchmark  # noqa: E402
from tests.benchmarks.judging_world import log_in  # noqa: E402

RESEARCHER = "researcher-of-the-bench"


def alpha(key: str) -> dict[str, Any]:
    """Seconds from the database to alpha, and what the `krippendorff` package takes once it has the
    labels: of each, the seconds and the value."""
    benchmark = Benchmark.objects.get(key=key)
    judgments = judgment_arrays(benchmark)
    n_pairs = len(judgments.codes)
    people, person = np.unique(judgments.annotators, return_inverse=True)
    table = np.zeros((n_pairs, 2))
    np.add.at(table, (judgments.pair_of, judgments.labels), 1)
    matrix = np.full((len(people), n_pairs), np.nan)
    matrix[person, judgments.pair_of] = judgments.labels
    nominal = partial(krippendorff.alpha, level_of_measurement="nominal")
    return {
        "Hearth, from the database": timed(lambda: read_alpha(benchmark), 5),
        "krippendorff, value counts of all pairs": timed(partial(nominal, value_counts=table), 3),
        "krippendorff, matrix": timed(partial(nominal, reliability_data=matrix), 1),
    }


def read_alpha(benchmark: Benchmark) -> float | None:
    judgments = judgment_arrays(benchmark)
    counts = count_labels(judgments.pair_of, judgments.labels, len(judgments.codes))
    return krippendorff_alpha(counts).value


def timed(work: Callable[[], Any], repeats: int) -> tuple[float, float]:
    """Median seconds, and what was found."""
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        found = work()
        seconds.append(time.perf_counter() - began)
    return median(seconds), float(found)


def addresses(key: str, names: list[str]) -> dict[str, Any]:
    """The session of a new researcher, and by kind the addresses of what they open, by name."""
    benchmark = Benchmark.objects.get(key=key)
    pages = {
        name: reverse(name, args=[key]) for name in ("benchmark", "analyses", "results", "compare")
    }
    pages["compare, most changed"] = f"{pages['compare']}?order={CHANGED}"
    # Another seed is another result.
    pages["not computed yet"] = reverse("analysis", args=[key, "scores"]) + "?seed=7"
    files: dict[str, str] = {}
    for name in names:
        pages[name] = reverse("analysis", args=[key, name])
        files |= files_of(benchmark, name)
    session = log_in(RESEARCHER, Role.RESEARCHER)
    return {"session": session, "addresses": {"pages": pages, "downloads": files}}


def files_of(benchmark: Benchmark, name: str) -> dict[str, str]:
    """Of an analysis that is computed: its JSON, its longest table and all its charts."""
    stored = ask(KINDS[name], benchmark, {}).stored()
    if stored is None:
        raise SystemExit(f"{name} is not computed")
    at = [benchmark.key, name]
    longest = max(KINDS[name].tables(stored.result), key=lambda table: len(table.rows))
    files = {
        f"{name}, JSON": reverse("analysis-json", args=at),
        f"{name}, table {longest.name}": reverse("analysis-table", args=[*at, longest.name]),
    }
    for chart in KINDS[name].charts(stored.result):
        files[f"{name}, chart {chart.name}"] = reverse("analysis-chart", args=[*at, chart.name])
    return files


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["names"]:
            print(json.dumps({"names": list(KINDS)}))
        case ["alpha", key]:
            print(json.dumps(alpha(key)))
        case ["addresses", key, *names]:
            print(json.dumps(addresses(key, names)))
        case _:
            sys.exit(__doc__)
