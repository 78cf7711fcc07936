"""Prepare the requests of `tests.benchmarks.pages`. Runs in its own process.

    python -m tests.benchmarks.pages_world names
    python -m tests.benchmarks.pages_world alpha KEY
    python -m tests.benchmarks.pages_world addresses KEY ANALYSIS...

Each command prints one JSON object.
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
from evaluation.core.people.agreement import count_labels  # noqa: E402
from evaluation.core.people.alpha import krippendorff_alpha  # noqa: E402
from evaluation.core.relevance.compare import CHANGED  # noqa: E402
from evaluation.lab.analyses import ANALYSES  # noqa: E402
from evaluation.lab.analyses.question import build_question  # noqa: E402
from hearth.accounts.roles import Role  # noqa: E402
from pooling.models import Benchmark  # noqa: E402
from tests.benchmarks.judging_world import log_in  # noqa: E402

RESEARCHER = "researcher-of-the-bench"


def alpha(key: str) -> dict[str, Any]:
    """Return seconds and value of alpha, computed by Hearth and by the `krippendorff` package.

    The time of Hearth includes reading the labels from the database. The package gets them as
    arrays.
    """
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
    """Return the median of the seconds, and the result of `work`."""
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - began)
    return median(seconds), float(result)


def addresses(key: str, names: list[str]) -> dict[str, Any]:
    """Return the session of a new researcher, and the addresses of pages and downloads by name."""
    benchmark = Benchmark.objects.get(key=key)
    pages = {
        name: reverse(name, args=[key]) for name in ("benchmark", "analyses", "results", "compare")
    }
    pages["compare, most changed"] = f"{pages['compare']}?order={CHANGED}"
    # A result with this seed is not stored.
    pages["not computed yet"] = reverse("analysis", args=[key, "scores"]) + "?seed=7"
    files: dict[str, str] = {}
    for name in names:
        pages[name] = reverse("analysis", args=[key, name])
        files |= files_of(benchmark, name)
    session = log_in(RESEARCHER, Role.RESEARCHER)
    return {"session": session, "addresses": {"pages": pages, "downloads": files}}


def names_without_studies() -> list[str]:
    """Return the analyses that need no ordering study. No command can answer such a study."""
    return [name for name, analysis in ANALYSES.items() if not analysis.needs_studies]


def files_of(benchmark: Benchmark, name: str) -> dict[str, str]:
    """Return the addresses of a computed analysis: its JSON, longest table and all charts."""
    stored = build_question(ANALYSES[name], benchmark, {}).stored_result()
    if stored is None:
        raise SystemExit(f"{name} is not computed")
    at = [benchmark.key, name]
    longest = max(ANALYSES[name].tables(stored.result), key=lambda table: len(table.rows))
    files = {
        f"{name}, JSON": reverse("analysis-json", args=at),
        f"{name}, table {longest.name}": reverse("analysis-table", args=[*at, longest.name]),
    }
    for chart in ANALYSES[name].charts(stored.result):
        files[f"{name}, chart {chart.name}"] = reverse("analysis-chart", args=[*at, chart.name])
    return files


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["names"]:
            print(json.dumps({"names": names_without_studies()}))
        case ["alpha", key]:
            print(json.dumps(alpha(key)))
        case ["addresses", key, *names]:
            print(json.dumps(addresses(key, names)))
        case _:
            sys.exit(__doc__)
