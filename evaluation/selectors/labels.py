"""Reading label sets, labels as arrays, and stored scores."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
import numpy.typing as npt
from django.core.cache import cache
from django.db.models import Sum

from annotation.core.consensus import majority_labels
from annotation.enums import JudgmentState
from annotation.models import Judgment
from annotation.selectors import JudgmentArrays, adjudicated
from config.shared.bulk import WholeThousandths, read_columns
from config.shared.errors import InvalidInput
from evaluation.core.label_file import NO_LABEL, Labels, parse_counts, parse_labels
from evaluation.core.pace import answer_times
from evaluation.core.relevance import Judged
from evaluation.models import AgreementReport, Evaluation, LabelSet
from pooling.core.pool import union_codes
from pooling.models import Benchmark, Pool
from pooling.selectors import original_positives, query_numbers, video_numbers

Int64Array = npt.NDArray[np.int64]

LATEST, ORIGINAL = "latest", "original"


def find_label_set(benchmark: Benchmark, which: str) -> LabelSet | None:
    """`latest`, a version number, or `original` (None: no label set, the original positives)."""
    if which == ORIGINAL:
        return None
    sets = LabelSet.objects.filter(benchmark=benchmark)
    if which == LATEST:
        found = sets.first()
        if found is None:
            raise InvalidInput(
                f"{benchmark.key} has no label set yet; publish_labels makes one, "
                "and --labels original scores by the original positives"
            )
        return found
    if not which.isascii() or not which.isdigit():
        raise InvalidInput(f"labels are latest, original or a version number, not {which!r}")
    found = sets.filter(version=int(which)).first()
    if found is None:
        known = ", ".join(str(v) for v in sets.values_list("version", flat=True)) or "none"
        raise InvalidInput(f"{benchmark.key} has no label set {which}; there are: {known}")
    return found


def resolve_labels(benchmark: Benchmark, judgments: JudgmentArrays) -> Labels:
    """What the live judgments of all campaigns come to, pair by pair.

    A lead's ruling decides, also on a pair that nobody has labelled; else the label of more than
    half; else it is a conflict.
    """
    ruled_codes, rulings = adjudicated(benchmark)
    codes = union_codes([judgments.codes, ruled_codes])
    n_pairs = len(codes)
    pair_of = np.searchsorted(codes, judgments.codes)[judgments.pair_of]
    width = int(judgments.labels.max(initial=1)) + 1
    counts = np.bincount(pair_of * width + judgments.labels, minlength=n_pairs * width).reshape(
        n_pairs, width
    )
    labels = majority_labels(counts).astype(np.int64)
    ruled = np.zeros(n_pairs, dtype=bool)
    place = np.searchsorted(codes, ruled_codes)
    labels[place], ruled[place] = rulings, True
    return Labels(
        codes=codes,
        labels=labels,
        adjudicated=ruled,
        judgments=counts.sum(axis=1),
        relevant=counts[:, 1:].sum(axis=1),
    )


def original_judged(benchmark: Benchmark) -> Judged:
    """The original positives alone."""
    queries, videos = original_positives(benchmark)
    return Judged.from_pairs(
        queries,
        videos,
        np.ones(len(queries), np.int8),
        n_queries=benchmark.n_queries,
        n_videos=benchmark.n_videos,
    )


def label_set_judged(label_set: LabelSet) -> Judged:
    """The label set's own labels; a pair in conflict counts as unjudged."""
    return _judged_of(label_set.pk, label_set.sha256)


@lru_cache(maxsize=4)
def _judged_of(pk: int, sha256: str) -> Judged:
    """Kept for the process: a label set never changes. By its hash, too, because a key that was
    rolled back is given again."""
    label_set = LabelSet.objects.select_related("benchmark").get(pk=pk)
    benchmark = label_set.benchmark
    with label_set.file.open("rb") as stream:
        text = gzip.decompress(stream.read())
    codes, labels = parse_labels(text, query_numbers(benchmark), video_numbers(benchmark))
    kept = labels != NO_LABEL
    return Judged(
        codes[kept], labels[kept].astype(np.int8), benchmark.n_queries, benchmark.n_videos
    )


@dataclass(frozen=True, slots=True, eq=False)
class LabelCounts:
    """What a label set says of each pair, and of how many judgments: int64 [n] each."""

    labels: Int64Array
    judgments: Int64Array
    relevant: Int64Array


def label_set_counts(label_set: LabelSet) -> LabelCounts:
    """In the order of the file; a pair in conflict has the label -1."""
    with label_set.file.open("rb") as stream:
        return LabelCounts(*parse_counts(gzip.decompress(stream.read())))


def latest_agreement(benchmark: Benchmark) -> AgreementReport | None:
    return AgreementReport.objects.filter(benchmark=benchmark).first()


def stored_scores(
    benchmark: Benchmark, label_set: LabelSet | None, *, labels_only: bool = False
) -> dict[int, Evaluation]:
    """Evaluations by run, under a label set or (None) the original positives."""
    found = Evaluation.objects.filter(
        run__benchmark=benchmark, label_set=label_set, labels_only=labels_only
    )
    return {evaluation.run_id: evaluation for evaluation in found}


# Before anything was measured: as in the study, 1.2 s at the least and some thought.
# So many answers tell how fast people are now; where few have a time, finding them takes a while.
NEWEST = 10_000
RATES_FOR_SECONDS = 300
USUAL = {"pairs": 20.0, "disagreement": 0.05, "seconds": 4.0}


def measured_rates(benchmark: Benchmark) -> dict[str, float]:
    """What judging this benchmark takes: pooled `pairs` a caption, the share of pairs labelled
    several times whose labels differ (`disagreement`), and the median `seconds` of an answer.

    Where nothing was measured the usual stands.
    """
    found = dict(USUAL)
    pooled = Pool.objects.filter(benchmark=benchmark).aggregate(Sum("n_new_pairs"))
    if pooled["n_new_pairs__sum"] and benchmark.n_queries:
        found["pairs"] = pooled["n_new_pairs__sum"] / benchmark.n_queries
    report = latest_agreement(benchmark)
    if report is not None and report.result["agreement"] is not None:
        found["disagreement"] = 1 - report.result["agreement"]
    seconds = cache.get_or_set(
        f"seconds-{benchmark.pk}", partial(_median_seconds, benchmark), RATES_FOR_SECONDS
    )
    return found | ({"seconds": seconds} if seconds else {})


def _median_seconds(benchmark: Benchmark) -> float:
    """Of the newest answers whose time is known; 0 where there are none."""
    timed = Judgment.objects.filter(
        task__campaign__benchmark=benchmark, state=JudgmentState.LIVE, seconds__isnull=False
    )
    newest = timed.annotate(ms=WholeThousandths("seconds")).order_by("-pk")[:NEWEST]
    quantiles = answer_times(read_columns(newest, "ms")[0]).quantiles
    return quantiles[1] if quantiles else 0.0
