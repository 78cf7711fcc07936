"""Label sets, drafts and current labels, as arrays."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from annotation.core.consensus import NO_LABEL, count_values, resolve
from annotation.models import Campaign
from annotation.selectors.campaigns import campaigns_of
from annotation.selectors.judgments import (
    JudgmentArrays,
    Rulings,
    adjudicated,
    by_pair,
    judgment_arrays,
)
from annotation.selectors.labels import labels_fingerprint
from annotation.selectors.tasks import OWN_CAPTION
from evaluation.core.files.label_file import LABEL_COLUMNS, Labels, parse_labels
from evaluation.core.files.packed import unpack
from evaluation.core.files.versions import parse_version
from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.strata import Strata
from evaluation.core.texts.equal_captions import share_positives
from evaluation.models import Draft, LabelArrays, LabelSet, LabelSource
from hearth.shared.bulk import snapshot
from hearth.shared.errors import InvalidInput, NotFound
from pooling.core.equal_texts import OFF, expand_text_pairs, first_equal
from pooling.core.pair_space import PairSpace
from pooling.core.pool import union_codes
from pooling.models import Benchmark
from pooling.selectors.arrays import original_positives, query_numbers, query_texts, video_numbers
from pooling.selectors.captions import first_equal_captions
from pooling.selectors.pools import pool_with_strata, strata_of

Int64Array = npt.NDArray[np.int64]

LATEST, ORIGINAL = "latest", "original"
# The columns of `JudgmentArrays` that have one value per judgment.
JUDGMENT_COLUMNS = (
    "annotators",
    "labels",
    "ids",
    "campaigns",
    "positions",
    "is_first",
    "waits",
    "units",
)


def find_label_set(benchmark: Benchmark, which: str) -> LabelSet | None:
    """Return a label set, or None for the original positives.

    which: `latest`, a version number such as 1.2.0, or `original`. Raises `InvalidInput` if it is
    another text, or if the label set does not exist.
    """
    if which == ORIGINAL:
        return None
    sets = LabelSet.objects.filter(benchmark=benchmark)
    if which == LATEST:
        found = sets.first()
        if found is None:
            raise InvalidInput(
                f"The benchmark {benchmark.key} has no label set yet. Publish one with "
                "publish_labels, or select the original positives (labels: original)."
            )
        return found
    version = parse_version(which)
    if version is None:
        raise InvalidInput(
            f"The labels must be latest, original or a version number, not {which!r}."
        )
    found = sets.filter(**version._asdict()).first()
    if found is None:
        known = ", ".join(label_set.version for label_set in sets) or "none"
        raise InvalidInput(
            f"The benchmark {benchmark.key} has no label set {which}. Its label sets: {known}."
        )
    return found


def get_label_set(benchmark: Benchmark, version: str) -> LabelSet:
    """Return the label set with this version number. Raises `NotFound` if there is none."""
    number = parse_version(version)
    sets = LabelSet.objects.select_related("benchmark", "created_by").filter(benchmark=benchmark)
    found = sets.filter(**number._asdict()).first() if number else None
    if found is None:
        raise NotFound(f"The benchmark {benchmark.key} has no such label set.")
    return found


def get_published(benchmark: Benchmark, which: str) -> LabelSet:
    """Return a label set. Raises `InvalidInput` as `find_label_set` does, and for `original`."""
    label_set = find_label_set(benchmark, which)
    if label_set is None:
        raise InvalidInput(f"{ORIGINAL} is not a label set. Choose a version number or latest.")
    return label_set


def live_labels(benchmark: Benchmark) -> tuple[JudgmentArrays, Labels]:
    """Return the counted judgments of all campaigns and the outcome of each pair.

    Judgments and rulings are read in one snapshot.
    """
    with snapshot():
        judgments, rulings = judgment_arrays(benchmark), adjudicated(benchmark)
    first_equal = first_equal_captions(benchmark)
    return judgments, resolve_pairs(judgments, rulings, first_equal, benchmark.pair_space)


def resolve_pairs(
    judgments: JudgmentArrays, rulings: Rulings, first_equal: Int64Array, space: PairSpace
) -> Labels:
    """Return the outcome of each pair, equal captions included; see `for_equal_captions`."""
    return _resolve(*for_equal_captions(judgments, rulings, first_equal, space))


def judgments_of_captions(benchmark: Benchmark, judgments: JudgmentArrays) -> JudgmentArrays:
    """Return the judgments, repeated for each caption to which they apply."""
    first_equal, rulings = first_equal_captions(benchmark), adjudicated(benchmark)
    return for_equal_captions(judgments, rulings, first_equal, benchmark.pair_space)[0]


def for_equal_captions(
    judgments: JudgmentArrays, rulings: Rulings, first_equal: Int64Array, space: PairSpace
) -> tuple[JudgmentArrays, Rulings]:
    """Repeat the judgments and rulings of each text pair for all captions with that text.

    A pair can also have its own judgments or rulings, from a task that equal captions do not share.
    It then gets those of a shared task only if that task shows this very pair. first_equal: int64
    [n_queries], as returned by `first_equal_captions`.
    """
    is_own = judgments.units == OWN_CAPTION
    is_own_ruling = rulings.units == OWN_CAPTION
    if is_own.all() and is_own_ruling.all():
        return judgments, rulings
    codes = judgments.codes[judgments.pair_of]
    own = union_codes([codes[is_own], rulings.codes[is_own_ruling]])
    codes, rows = _repeat(codes, judgments.units, own, first_equal, space)
    columns = {name: getattr(judgments, name)[rows] for name in JUDGMENT_COLUMNS}
    ruled_codes, ruled = _repeat(rulings.codes, rulings.units, own, first_equal, space)
    return (
        by_pair(codes, n_grades=judgments.n_grades, **columns),
        Rulings(ruled_codes, rulings.labels[ruled], rulings.units[ruled], rulings.ids[ruled]),
    )


def _repeat(
    codes: Int64Array, units: Int64Array, own: Int64Array, first_equal: Int64Array, space: PairSpace
) -> tuple[Int64Array, Int64Array]:
    """Repeat each row of judgments or rulings for all pairs to which it applies.

    Returns the codes of these pairs and, for each pair, the index of the repeated row. The indexes
    ascend. own: codes of pairs with their own rows. A shared row applies to such a pair only if its
    task shows that pair.
    """
    shared = np.flatnonzero(units != OWN_CAPTION)
    place, pairs = expand_text_pairs(units[shared], first_equal, space)
    is_free = ~np.isin(pairs, own) | (pairs == codes[shared[place]])
    single = np.flatnonzero(units == OWN_CAPTION)
    rows = np.concatenate([single, shared[place[is_free]]])
    order = np.argsort(rows, kind="stable")
    return np.concatenate([codes[single], pairs[is_free]])[order], rows[order]


def _resolve(judgments: JudgmentArrays, rulings: Rulings) -> Labels:
    """Return the outcome of each pair by the labels of all campaigns and the last ruling.

    A pair is pending while one of its tasks needs a label or a ruling.
    """
    codes = union_codes([judgments.codes, rulings.codes])
    n_pairs = len(codes)
    pair_of = np.searchsorted(codes, judgments.codes)[judgments.pair_of]
    width = int(judgments.labels.max(initial=1)) + 1
    counts = count_values(pair_of, judgments.labels, n_pairs, width)
    n_labels = counts.sum(axis=1)
    is_awaited = np.bincount(pair_of[judgments.waits], minlength=n_pairs) > 0
    ruled = np.full(n_pairs, NO_LABEL, np.int64)
    ruled[np.searchsorted(codes, rulings.codes)] = rulings.labels
    outcomes = resolve(counts, n_labels + is_awaited, ruled, labels_max=n_labels)
    return Labels(
        codes=codes,
        labels=outcomes.labels.astype(np.int64),
        states=outcomes.states,
        judgments=n_labels,
        relevant=counts[:, 1:].sum(axis=1),
    )


def original_grade(benchmark: Benchmark, campaigns: Int64Array) -> int:
    """Return the grade that original positives get when combined with labels of these campaigns.

    It is the highest `grade_of_originals` of these campaigns. campaigns: primary keys, which may
    repeat.
    """
    labelled = Campaign.objects.filter(benchmark=benchmark, pk__in=np.unique(campaigns).tolist())
    return max((campaign.grade_of_originals for campaign in labelled), default=1)


def original_judged(benchmark: Benchmark, source: LabelSource | None = None) -> Judged:
    """Return only the original positives, with the grade that they have in `source`."""
    queries, videos = original_positives(benchmark)
    grade = 1 if source is None else source.original_grade
    return Judged.from_pairs(
        queries,
        videos,
        np.full(len(queries), grade, np.int8),
        n_queries=benchmark.n_queries,
        n_videos=benchmark.n_videos,
    )


def originals_with_equal_captions(
    benchmark: Benchmark, rule: str, source: LabelSource | None = None
) -> Judged:
    """Return the original positives, shared by captions with equal texts.

    rule: a rule of `pooling.core.equal_texts`; `OFF` shares nothing. source: as in
    `original_judged`.
    """
    original = original_judged(benchmark, source)
    if rule == OFF:
        return original
    return share_positives(original, first_equal(query_texts(benchmark), rule))


def latest_draft(benchmark: Benchmark) -> Draft | None:
    """Return the latest draft. Its text is loaded only if it is used."""
    return Draft.objects.filter(benchmark=benchmark).defer("text").first()


@dataclass(frozen=True, slots=True)
class DraftState:
    """The latest draft and the current labels.

    fingerprint: the fingerprint of the current labels. published: the newest label set if its
    labels are those of the draft, otherwise None.
    """

    draft: Draft | None
    fingerprint: list[int]
    published: LabelSet | None

    @property
    def has_labels(self) -> bool:
        last_label, rulings = self.fingerprint[:2]
        return last_label > 0 or rulings > 0

    @property
    def is_current(self) -> bool:
        return self.draft is not None and self.draft.moment == self.fingerprint


def draft_state(benchmark: Benchmark) -> DraftState:
    draft, newest = latest_draft(benchmark), LabelSet.objects.filter(benchmark=benchmark).first()
    is_same = draft is not None and newest is not None and draft.sha256 == newest.sha256
    return DraftState(draft, labels_fingerprint(benchmark).as_list(), newest if is_same else None)


def label_text(source: LabelSource) -> bytes:
    """Return the text of a label file, uncompressed. See `evaluation.core.files.label_file`."""
    if isinstance(source, Draft):
        return gzip.decompress(source.text)
    with source.file.open("rb") as stream:
        return gzip.decompress(stream.read())


def label_set_judged(source: LabelSource) -> Judged:
    """Return the labels of a label set or draft, without original positives.

    A pair that is pending or in conflict counts as unjudged.
    """
    labels = label_set_labels(source)
    is_labelled = labels.labels != NO_LABEL
    benchmark = source.benchmark
    return Judged(
        labels.codes[is_labelled],
        labels.labels[is_labelled].astype(np.int8),
        benchmark.n_queries,
        benchmark.n_videos,
    )


def strata_of_labels(
    benchmark: Benchmark, source: LabelSource | None, *, labels_only: bool = False
) -> Strata | None:
    """Return the strata of the newest pool with strata that the labels can have judged, or None.

    Original positives belong to no stratum, unless only the labels count. Without labels, there are
    no strata.
    """
    if source is None:
        return None
    pool = pool_with_strata(benchmark, source.created_at)
    if pool is None:
        return None
    known = original_judged(benchmark, source).codes
    return Strata.of(strata_of(pool), known[:0] if labels_only else known)


def label_set_labels(source: LabelSource) -> Labels:
    """Return the outcome and the number of judgments of each pair of a label set or draft."""
    return _labels_of(source, source.sha256)


@lru_cache(maxsize=4)
def _labels_of(source: LabelSource, sha256: str) -> Labels:
    """Cache the labels in the process, because label sets and drafts do not change.

    The hash is part of the cache key, because a new row can get the primary key of a rolled-back
    row.
    """
    benchmark = source.benchmark
    stored = LabelArrays.objects.filter(benchmark=benchmark, sha256=sha256).first()
    if stored is not None:
        columns = (unpack(bytes(getattr(stored, name))) for name in LABEL_COLUMNS)
        codes, labels, states, judgments, relevant = columns
        return Labels(codes, labels, states.astype(np.int8), judgments, relevant)
    return parse_labels(label_text(source), query_numbers(benchmark), video_numbers(benchmark))


def highest_grade(benchmark: Benchmark) -> int:
    """Return the highest label on the scales of the benchmark's campaigns, or 1 without any."""
    scales = (campaign.labels for campaign in campaigns_of(benchmark))
    return max(map(max, scales), default=1)
