"""Sole positives of a run, for which a second label is most useful."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from annotation.selectors.campaigns import confirmed_pairs
from config.shared.caches import process_cache as cache
from evaluation.core.relevance.deciding import sole_positives
from evaluation.core.relevance.judged import with_positives
from evaluation.models import LabelSource
from evaluation.release.selectors.labels import label_set_judged, label_set_labels, original_judged
from pooling.core.equal_texts import text_pair_codes
from pooling.models import Run
from pooling.selectors import first_equal_captions, ranked_matrix

Int64Array = npt.NDArray[np.int64]

CUTOFFS = (1, 5, 10)
# Neither runs nor label sets change, so the counts could be cached permanently.
CACHE_SECONDS = 24 * 3600


@dataclass(frozen=True, slots=True)
class SolePositives:
    """Counts of the sole positives of a run in the top `cutoff`.

    deciding: number of captions with a sole positive. to_confirm: number of tasks that would
    confirm those sole positives that have one label and no original positive.
    """

    cutoff: int
    deciding: int
    to_confirm: int


def unconfirmed_sole_positives(
    run: Run, source: LabelSource, cutoff: int
) -> tuple[int, Int64Array]:
    """Return the number of captions with a sole positive in the top `cutoff`, and pair codes.

    The codes, int64 [n], are of the sole positives with one label. Original positives are certain
    and are not among them.
    """
    original = original_judged(run.benchmark, source)
    judged = with_positives(label_set_judged(source), original)
    ranked = ranked_matrix(run, cutoff)
    codes = sole_positives(ranked, judged, cutoff)
    uncertain = sole_positives(ranked, judged, cutoff, certain=original)
    labels = label_set_labels(source)
    place = np.minimum(np.searchsorted(labels.codes, uncertain), max(0, len(labels.codes) - 1))
    is_single = (
        labels.judgments[place] == 1 if len(labels.codes) else np.zeros(len(uncertain), bool)
    )
    return len(codes), uncertain[is_single]


def sole_positive_counts(run: Run, source: LabelSource) -> list[SolePositives]:
    """Return the counts for each cutoff up to the depth of the run.

    `to_confirm` does not include pairs of earlier confirmations.
    """
    benchmark = run.benchmark
    key = f"deciding-{run.sha256}-{run.pk}-{source.sha256}-{source.original_grade}"
    cached = cache.get_or_set(key, lambda: _pairs_by_cutoff(run, source), CACHE_SECONDS) or {}
    text_pairs = partial(
        text_pair_codes, first_equal=first_equal_captions(benchmark), space=benchmark.pair_space
    )
    confirmed = text_pairs(confirmed_pairs(benchmark))
    return [
        SolePositives(cutoff, deciding, len(np.setdiff1d(text_pairs(codes), confirmed)))
        for cutoff, (deciding, codes) in cached.items()
    ]


def _pairs_by_cutoff(run: Run, source: LabelSource) -> dict[int, tuple[int, Int64Array]]:
    cutoffs = [cutoff for cutoff in CUTOFFS if cutoff <= run.depth]
    return {cutoff: unconfirmed_sole_positives(run, source, cutoff) for cutoff in cutoffs}
