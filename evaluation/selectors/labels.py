"""Reading label sets, labels as arrays, and stored scores."""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
import numpy.typing as npt
from django.core.cache import cache
from django.db.models import Exists, OuterRef, Sum

from annotation.core.consensus import majority_labels
from annotation.enums import JudgmentState
from annotation.models import Judgment
from annotation.selectors import JudgmentArrays, adjudicated, judgment_arrays, labels_moment
from config.shared.bulk import WholeThousandths, read_columns, snapshot
from config.shared.errors import InvalidInput
from evaluation.core.label_file import NO_LABEL, Labels, parse_labels
from evaluation.core.pace import answer_times
from evaluation.core.relevance import Judged
from evaluation.models import AgreementReport, Draft, Evaluation, LabelSet, LabelSource
from pooling.core.pool import union_codes
from pooling.models import Benchmark, Pair, Pool, Query
from pooling.selectors import original_positives, query_numbers, video_numbers

Int64Array = npt.NDArray[np.int64]

LATEST, ORIGINAL = "latest", "original"
# No benchmark has more releases, and Python reads no number of some thousand digits.
_VERSION = re.compile(r"[0-9]{1,18}")


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
    if not _VERSION.fullmatch(which):
        raise InvalidInput(f"labels are latest, original or a version number, not {which!r}")
    found = sets.filter(version=int(which)).first()
    if found is None:
        known = ", ".join(str(v) for v in sets.values_list("version", flat=True)) or "none"
        raise InvalidInput(f"{benchmark.key} has no label set {which}; there are: {known}")
    return found


def live_labels(benchmark: Benchmark) -> tuple[JudgmentArrays, Labels]:
    """The live judgments of all campaigns, and what they come to, as of one moment."""
    with snapshot():
        judgments = judgment_arrays(benchmark)
        return judgments, _resolve(benchmark, judgments)


def _resolve(benchmark: Benchmark, judgments: JudgmentArrays) -> Labels:
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


def latest_draft(benchmark: Benchmark) -> Draft | None:
    """Without its text, which few ask for."""
    return Draft.objects.filter(benchmark=benchmark).defer("text").first()


@dataclass(frozen=True, slots=True)
class DraftState:
    """The latest draft, if there is one, beside the labels of now; and the newest label set, if it
    holds the same."""

    draft: Draft | None
    moment: list[int]
    published: LabelSet | None

    @property
    def has_labels(self) -> bool:
        last_label, rulings = self.moment[:2]
        return last_label > 0 or rulings > 0

    @property
    def is_current(self) -> bool:
        return self.draft is not None and self.draft.moment == self.moment


def draft_state(benchmark: Benchmark) -> DraftState:
    draft, newest = latest_draft(benchmark), LabelSet.objects.filter(benchmark=benchmark).first()
    is_same = draft is not None and newest is not None and draft.sha256 == newest.sha256
    return DraftState(draft, labels_moment(benchmark), newest if is_same else None)


def label_text(source: LabelSource) -> bytes:
    """What `evaluation.core.label_file` wrote."""
    if isinstance(source, Draft):
        return gzip.decompress(source.text)
    with source.file.open("rb") as stream:
        return gzip.decompress(stream.read())


def label_set_judged(source: LabelSource) -> Judged:
    """The labels of a label set or draft alone; a pair in conflict counts as unjudged."""
    found = label_set_labels(source)
    kept = found.labels != NO_LABEL
    benchmark = source.benchmark
    return Judged(
        found.codes[kept],
        found.labels[kept].astype(np.int8),
        benchmark.n_queries,
        benchmark.n_videos,
    )


def label_set_labels(source: LabelSource) -> Labels:
    """The outcome of each of its pairs, and of how many judgments."""
    return _labels_of(source, source.sha256)


@lru_cache(maxsize=4)
def _labels_of(source: LabelSource, sha256: str) -> Labels:
    """Kept for the process: neither ever changes. By the hash, too, because a key that was rolled
    back is given again."""
    benchmark = source.benchmark
    return parse_labels(label_text(source), query_numbers(benchmark), video_numbers(benchmark))


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


# So many answers tell how fast people are now; where few have a time, finding them takes a while.
NEWEST = 10_000
RATES_FOR_SECONDS = 300


def measured_rates(benchmark: Benchmark) -> dict[str, float]:
    """What judging this benchmark takes: pooled `pairs` a caption, the share of pairs labelled
    several times whose labels differ (`disagreement`), and the median `seconds` of an answer.

    What was not measured is left out.
    """
    found = {}
    pairs = Pool.objects.filter(benchmark=benchmark).aggregate(n=Sum("n_new_pairs"))["n"]
    if pairs:  # of the captions that were pooled: a pool may be a sample of them
        has_pairs = Exists(Pair.objects.filter(query=OuterRef("pk")))
        found["pairs"] = pairs / Query.objects.filter(has_pairs, benchmark=benchmark).count()
    report = latest_agreement(benchmark)
    if report is not None and report.result["agreement"] is not None:
        found["disagreement"] = 1 - report.result["agreement"]
    seconds = cache.get_or_set(
        f"seconds-{benchmark.pk}", partial(_median_seconds, benchmark), RATES_FOR_SECONDS
    )
    # To a tenth: what rests on it stays the same for more than some answers.
    return found | ({"seconds": max(0.1, round(seconds, 1))} if seconds else {})


def _median_seconds(benchmark: Benchmark) -> float:
    """Of the newest answers whose time is known; 0 where there are none."""
    timed = Judgment.objects.filter(
        task__campaign__benchmark=benchmark, state=JudgmentState.LIVE, seconds__isnull=False
    )
    newest = timed.annotate(ms=WholeThousandths("seconds")).order_by("-pk")[:NEWEST]
    quantiles = answer_times(read_columns(newest, "ms")[0]).quantiles
    return quantiles[1] if quantiles else 0.0
