"""Positives that decide the score of a run alone, which most need a second label."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
from django.core.cache import cache

from annotation.selectors.campaigns import confirmed_pairs
from evaluation.core.relevance.deciding import sole_positives
from evaluation.core.relevance.judged import with_positives
from evaluation.models import LabelSource
from evaluation.release.selectors.labels import label_set_judged, label_set_labels, original_judged
from pooling.core.equal_texts import text_pair_codes
from pooling.models import Run
from pooling.selectors import first_equal_captions, ranked_matrix

Int64Array = npt.NDArray[np.int64]

CUTOFFS = (1, 5, 10)
KEPT_FOR = 24 * 3600  # seconds; neither a run nor a label set ever changes


@dataclass(frozen=True, slots=True)
class Deciding:
    """Captions of a run whose C@`cutoff` rests on one positive, and how many tasks it takes to
    confirm those positives that people gave a single label."""

    cutoff: int
    deciding: int
    to_confirm: int


def deciding_pairs(run: Run, source: LabelSource, cutoff: int) -> tuple[int, Int64Array]:
    """Return the number of captions with a single positive in the top `cutoff`, and codes.

    The codes, int64 [n], are of those among these positives that have a single label by people.
    Original positives are certain and have no code here.
    """
    original = original_judged(run.benchmark, source)
    judged = with_positives(label_set_judged(source), original)
    ranked = ranked_matrix(run, cutoff)
    codes = sole_positives(ranked, judged, cutoff)
    unsure = sole_positives(ranked, judged, cutoff, certain=original)
    labels = label_set_labels(source)
    place = np.minimum(np.searchsorted(labels.codes, unsure), max(0, len(labels.codes) - 1))
    is_single = labels.judgments[place] == 1 if len(labels.codes) else np.zeros(len(unsure), bool)
    return len(codes), unsure[is_single]


def deciding_counts(run: Run, source: LabelSource) -> list[Deciding]:
    """The counts for each cutoff that the run reaches. Pairs that are being confirmed, or were, are
    left out."""
    benchmark = run.benchmark
    key = f"deciding-{run.sha256}-{run.pk}-{source.sha256}-{source.original_grade}"
    found = cache.get_or_set(key, lambda: _pairs_by_cutoff(run, source), KEPT_FOR) or {}
    units = partial(
        text_pair_codes, first_equal=first_equal_captions(benchmark), space=benchmark.pair_space
    )
    confirmed = units(confirmed_pairs(benchmark))
    return [
        Deciding(cutoff, deciding, len(np.setdiff1d(units(codes), confirmed)))
        for cutoff, (deciding, codes) in found.items()
    ]


def _pairs_by_cutoff(run: Run, source: LabelSource) -> dict[int, tuple[int, Int64Array]]:
    cutoffs = [cutoff for cutoff in CUTOFFS if cutoff <= run.depth]
    return {cutoff: deciding_pairs(run, source, cutoff) for cutoff in cutoffs}
