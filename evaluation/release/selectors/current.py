"""The current labels of a benchmark, read in one snapshot."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotation.selectors.judgments import JudgmentArrays, Rulings, adjudicated, judgment_arrays
from annotation.selectors.labels import labels_fingerprint
from evaluation.core.files.label_file import Labels
from evaluation.release.selectors.labels import original_grade, resolve_pairs
from hearth.shared.bulk import snapshot
from hearth.shared.errors import InvalidInput
from pooling.models import Benchmark
from pooling.selectors.arrays import query_keys, video_keys
from pooling.selectors.captions import first_equal_captions


@dataclass(frozen=True, slots=True, eq=False)
class CurrentLabels:
    """The counted judgments, the rulings in force, and the outcome of each pair.

    first_equal: see `pooling.selectors.captions.first_equal_captions`. fingerprint: see
    `annotation.selectors.labels.labels_fingerprint`. original_grade: see
    `evaluation.release.selectors.labels.original_grade`. query_keys, video_keys: the keys in the
    order of the numbers.
    """

    judgments: JudgmentArrays
    rulings: Rulings
    first_equal: npt.NDArray[np.int64]
    labels: Labels
    fingerprint: list[int]
    original_grade: int
    query_keys: list[str]
    video_keys: list[str]


def current_labels(benchmark: Benchmark) -> CurrentLabels:
    """Return the current labels. Raises `InvalidInput` if there are none."""
    with snapshot():
        # The rule for equal texts may have changed since the benchmark was loaded.
        benchmark.refresh_from_db(fields=["equal_texts"])
        fingerprint = labels_fingerprint(benchmark).as_list()
        judgments, rulings = judgment_arrays(benchmark), adjudicated(benchmark)
        first_equal = first_equal_captions(benchmark)
        grade = original_grade(benchmark, judgments.campaigns)
        queries, videos = query_keys(benchmark), video_keys(benchmark)
    labels = resolve_pairs(judgments, rulings, first_equal, benchmark.pair_space)
    if not len(labels.codes):
        raise InvalidInput(
            f"The benchmark {benchmark.key} has no judgments yet. Judge pairs in a campaign, or "
            "import judgments."
        )
    return CurrentLabels(
        judgments, rulings, first_equal, labels, fingerprint, grade, queries, videos
    )
