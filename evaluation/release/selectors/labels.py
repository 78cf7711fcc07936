"""Reading label sets, labels as arrays, and stored scores."""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from annotation.core.consensus import NO_LABEL, count_values, resolve
from annotation.models import Campaign
from annotation.selectors.judgments import (
    JudgmentArrays,
    Rulings,
    adjudicated,
    by_pair,
    judgment_arrays,
)
from annotation.selectors.labels import labels_fingerprint
from annotation.selectors.tasks import OWN_CAPTION
from config.shared.bulk import snapshot
from config.shared.errors import InvalidInput
from evaluation.core.files.label_file import Labels, parse_labels
from evaluation.core.relevance.judged import Judged
from evaluation.core.texts.twins import share_positives
from evaluation.models import Draft, LabelSet, LabelSource
from pooling.core.equal_texts import OFF, first_equal, pairs_of_units
from pooling.core.pool import union_codes
from pooling.models import Benchmark
from pooling.selectors import (
    first_equal_captions,
    original_positives,
    query_numbers,
    query_texts,
    video_numbers,
)

Int64Array = npt.NDArray[np.int64]

LATEST, ORIGINAL = "latest", "original"
# All columns of `JudgmentArrays`, which are one value for each judgment.
JUDGMENT_COLUMNS = ("annotators", "labels", "ids", "campaigns", "is_first", "waits", "units")
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
    """The live judgments of all campaigns and the outcome of each pair, read in one snapshot."""
    with snapshot():
        judgments, rulings = judgment_arrays(benchmark), adjudicated(benchmark)
    first_equal = first_equal_captions(benchmark)
    everywhere = for_equal_captions(judgments, rulings, first_equal, benchmark.n_videos)
    return judgments, _resolve(*everywhere)


def judgments_of_captions(benchmark: Benchmark, judgments: JudgmentArrays) -> JudgmentArrays:
    """The judgments, repeated for each caption for which they hold."""
    first_equal, rulings = first_equal_captions(benchmark), adjudicated(benchmark)
    return for_equal_captions(judgments, rulings, first_equal, benchmark.n_videos)[0]


def for_equal_captions(
    judgments: JudgmentArrays, rulings: Rulings, first_equal: Int64Array, n_videos: int
) -> tuple[JudgmentArrays, Rulings]:
    """Repeat what was said of a text and a video for each caption with that text.

    A pair that was judged for its own caption alone keeps its own judgments and rulings; it gets
    those of a shared task only if the task shows this very pair. first_equal: int64 [n_queries], as
    `first_equal_captions` returns it.
    """
    alone = judgments.units == OWN_CAPTION
    alone_ruled = rulings.units == OWN_CAPTION
    if alone.all() and alone_ruled.all():
        return judgments, rulings
    codes = judgments.codes[judgments.pair_of]
    own = union_codes([codes[alone], rulings.codes[alone_ruled]])
    codes, rows = _repeated(codes, judgments.units, own, first_equal, n_videos)
    columns = {name: getattr(judgments, name)[rows] for name in JUDGMENT_COLUMNS}
    ruled_codes, ruled = _repeated(rulings.codes, rulings.units, own, first_equal, n_videos)
    return (
        by_pair(codes, n_grades=judgments.n_grades, **columns),
        Rulings(ruled_codes, rulings.labels[ruled], rulings.units[ruled]),
    )


def _repeated(
    codes: Int64Array, units: Int64Array, own: Int64Array, first_equal: Int64Array, n_videos: int
) -> tuple[Int64Array, Int64Array]:
    """Return the codes of the pairs that rows hold for, in order, and the number of each row.

    own: codes of pairs that have rows of their own and take no others.
    """
    shared = np.flatnonzero(units != OWN_CAPTION)
    place, pairs = pairs_of_units(units[shared], first_equal, n_videos)
    is_free = ~np.isin(pairs, own) | (pairs == codes[shared[place]])
    alone = np.flatnonzero(units == OWN_CAPTION)
    rows = np.concatenate([alone, shared[place[is_free]]])
    order = np.argsort(rows, kind="stable")
    return np.concatenate([codes[alone], pairs[is_free]])[order], rows[order]


def _resolve(judgments: JudgmentArrays, rulings: Rulings) -> Labels:
    """The outcome of each pair by the labels of all campaigns, and by a lead's last ruling on it.

    A pair is pending while one of its tasks waits for a further label or for a lead.
    """
    codes = union_codes([judgments.codes, rulings.codes])
    n_pairs = len(codes)
    pair_of = np.searchsorted(codes, judgments.codes)[judgments.pair_of]
    width = int(judgments.labels.max(initial=1)) + 1
    counts = count_values(pair_of, judgments.labels, n_pairs, width)
    given = counts.sum(axis=1)
    awaited = np.bincount(pair_of[judgments.waits], minlength=n_pairs) > 0
    ruled = np.full(n_pairs, NO_LABEL, np.int64)
    ruled[np.searchsorted(codes, rulings.codes)] = rulings.labels
    found = resolve(counts, given + awaited, ruled, labels_max=given)
    return Labels(
        codes=codes,
        labels=found.labels.astype(np.int64),
        states=found.states,
        judgments=given,
        relevant=counts[:, 1:].sum(axis=1),
    )


def original_grade(benchmark: Benchmark, campaigns: Int64Array) -> int:
    """Return the grade of an original positive beside the labels of these campaigns.

    It is the highest grade that one of them gives. campaigns: primary keys, which may repeat.
    """
    of_labels = Campaign.objects.filter(benchmark=benchmark, pk__in=np.unique(campaigns).tolist())
    return max((campaign.grade_of_originals for campaign in of_labels), default=1)


def original_judged(benchmark: Benchmark, source: LabelSource | None = None) -> Judged:
    """Return the original positives alone, with the grade that they have beside the labels of
    `source`."""
    queries, videos = original_positives(benchmark)
    grade = 1 if source is None else source.original_grade
    return Judged.from_pairs(
        queries,
        videos,
        np.full(len(queries), grade, np.int8),
        n_queries=benchmark.n_queries,
        n_videos=benchmark.n_videos,
    )


def original_with_twins(
    benchmark: Benchmark, rule: str, source: LabelSource | None = None
) -> Judged:
    """Return the original positives, shared by captions with equal texts.

    source: as in `original_judged`.

    rule: when texts are equal, as in `pooling.core.equal_texts`; with `OFF` nothing is shared.
    """
    original = original_judged(benchmark, source)
    if rule == OFF:
        return original
    return share_positives(original, first_equal(query_texts(benchmark), rule))


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
    return DraftState(draft, labels_fingerprint(benchmark).as_list(), newest if is_same else None)


def label_text(source: LabelSource) -> bytes:
    """What `evaluation.core.files.label_file` wrote."""
    if isinstance(source, Draft):
        return gzip.decompress(source.text)
    with source.file.open("rb") as stream:
        return gzip.decompress(stream.read())


def label_set_judged(source: LabelSource) -> Judged:
    """The labels of a label set or draft alone.

    A pair that is pending or in conflict counts as unjudged.
    """
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


def highest_grade(benchmark: Benchmark) -> int:
    """Return the highest label that a campaign of the benchmark offers, 1 without campaigns."""
    campaigns = Campaign.objects.filter(benchmark=benchmark)
    return max((max(campaign.labels) for campaign in campaigns), default=1)
