"""Finding potentially relevant pairs and storing them with their proxy."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypedDict

import numpy as np
from django.core.files import File

from hearth.accounts.actors import Actor
from hearth.shared.progress import Progress, no_progress
from pooling.core.arrays import Int64s
from pooling.core.lines import sha256_of_file
from pooling.core.proxies.proxy_file import new_matrix
from pooling.core.sentences import model_name
from pooling.enums import PoolingAct, ProxyMethod
from pooling.models import Benchmark, Proxy, proxy_storage
from pooling.policies import check_can_add_proxy
from pooling.relevant_pairs.core.detection import (
    ROW,
    Detected,
    detect,
    fill_confidence,
    with_equal_texts,
)
from pooling.relevant_pairs.core.request import RelevantPairsRequest
from pooling.relevant_pairs.models import RelevantPairs
from pooling.relevant_pairs.selectors import parts_of_benchmark
from pooling.selectors.arrays import original_positives
from pooling.services.proxies import new_proxy, store_proxy


class PairsReport(TypedDict):
    """Found pairs in the result of a job and in the output of `--json`."""

    proxy: str
    detector: str
    threshold: float
    captions: int
    parts: int
    pairs: int
    candidates: int
    sha256: str
    created: bool


@dataclass(frozen=True, slots=True)
class FoundPairs:
    """Potentially relevant pairs. created: False if they were already stored."""

    pairs: RelevantPairs
    created: bool

    def report(self) -> PairsReport:
        pairs = self.pairs
        return {
            "proxy": pairs.proxy.name,
            "detector": pairs.detector,
            "threshold": pairs.threshold,
            "captions": pairs.proxy.benchmark.n_queries,
            "parts": pairs.n_parts,
            "pairs": pairs.n_pairs,
            "candidates": pairs.n_candidates,
            "sha256": pairs.sha256,
            "created": self.created,
        }


def find_relevant_pairs(
    *,
    benchmark: Benchmark,
    request: RelevantPairsRequest,
    by: Actor,
    progress: Progress = no_progress,
) -> FoundPairs:
    """Compare all captions with each other, and store the pairs and their proxy.

    Raises `NotPermitted` if `by` may not add proxies, `InvalidInput` if a file or the name is
    invalid, and `Outdated` if the captions have changed in the meantime.
    """
    check_can_add_proxy(by, benchmark)
    request.check()
    name = request.name or f"{request.detector} {request.threshold:g}"
    proxy = new_proxy(benchmark, ProxyMethod.EMBEDDINGS, name, by)
    parts, equal = parts_of_benchmark(benchmark, request.detector, progress)
    vectors = request.vectors_of(parts.texts, progress)
    found = with_equal_texts(detect(parts, vectors, request.threshold, progress), equal)
    proxy.options = _options(request, vectors.shape[1])
    proxy.source = "" if request.embeddings is None else Path(request.embeddings.source).name[:255]
    pairs = RelevantPairs(
        detector=request.detector,
        threshold=request.threshold,
        n_parts=len(parts.texts),
        n_pairs=len(found),
        n_candidates=_count_candidates(found, equal),
    )
    _store_file(pairs, found)

    def store_pairs(proxy: Proxy) -> None:
        pairs.proxy = proxy
        pairs.save()

    with new_matrix(benchmark.n_queries, benchmark.n_videos) as (path, matrix):
        fill_confidence(matrix, found, equal, original_positives(benchmark), progress)
        done = store_proxy(proxy, path, PoolingAct.PROXY_COMPUTED, by, progress, store_pairs)
    return FoundPairs(done.proxy.relevant_pairs, done.created)


def _options(request: RelevantPairsRequest, width: int) -> dict[str, str]:
    """Return the options for the page and the export of the proxy."""
    return {
        "method": "confidence of potentially relevant pairs",
        "detector": str(request.detector),
        "threshold": f"{request.threshold:g}",
        "embeddings": model_name() if request.embeddings is None else "uploaded",
        "numbers per embedding": f"{width:,}",
        "tagger": "HanTa",
        "own captions": "as computed",
    }


def _count_candidates(found: Detected, equal: Int64s) -> int:
    sizes = np.bincount(equal, minlength=len(equal))
    is_double = found.first == found.second
    others = np.where(is_double, sizes[found.second] - 1, 2 * sizes[found.second])
    return int((sizes[found.first] * others).sum())


def _store_file(pairs: RelevantPairs, found: Detected) -> None:
    """Store the file of the pairs. Housekeeping removes it if it gets no row."""
    rows = np.empty(len(found), ROW)
    rows["caption"], rows["other"] = found.first, found.second
    rows["similarity"], rows["confidence"] = found.similarity, found.confidence
    with TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.npy"
        np.save(path, rows)
        pairs.sha256 = sha256_of_file(path, str(path))
        with path.open("rb") as file:
            pairs.file.name = proxy_storage().save(f"{uuid.uuid4().hex}.npy", File(file))
