"""Positives that a second label can confirm: the sole positives of a run, or all positives.

C@k of a run depends on its sole positives. AP, R@k and nDCG depend on all positives.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated

import numpy as np
import numpy.typing as npt

from annotation.selectors.campaigns import confirmed_pairs
from evaluation.core.relevance.deciding import sole_positives
from evaluation.core.relevance.judged import with_positives
from evaluation.models import LabelSource
from evaluation.release.selectors.labels import (
    LATEST,
    label_set_judged,
    label_set_labels,
    original_judged,
)
from hearth.shared.caches import process_cache as cache
from hearth.shared.errors import InvalidInput
from hearth.shared.options import Option, OptionFault, Seed
from pooling.core.equal_texts import text_pair_codes
from pooling.models import Run
from pooling.selectors.captions import first_equal_captions
from pooling.selectors.runs import ranked_lists

Int64Array = npt.NDArray[np.int64]

CUTOFFS = (1, 5, 10)
# Neither runs nor label sets change, so the counts never become outdated. They expire only to free
# memory.
CACHE_SECONDS = 24 * 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmOptions:
    """The positives for which a campaign requests second labels.

    run: The run whose sole positives are confirmed.
    all: Confirm all positives of the label set, on which AP, R@k and nDCG depend.
    cutoff: With a run: the k of C@k; by default, 10.
    labels: The version of the label set; by default, the newest.
    name: The name of the campaign, which annotators see; by default, the key and a number.
    seed: The seed of the task order.
    """

    run: Annotated[str, Option("Run", metavar="NAME", is_alternative=True)] = ""
    all: Annotated[bool, Option("All", is_alternative=True)] = False
    cutoff: Annotated[int | None, Option("Cutoff", low=1, metavar="K")] = None
    labels: Annotated[str, Option("Labels", metavar="LABELS")] = LATEST
    name: Annotated[str, Option("Name", length=200)] = ""
    seed: Seed = 0

    def check(self) -> None:
        """Raise `OptionFault` unless there is a run, or all positives are chosen."""
        if self.all == bool(self.run) or (self.all and self.cutoff is not None):
            raise OptionFault(
                "",
                "Send `run`, with or without `cutoff`, for sole positives, or `all` for all "
                "positives.",
            )


@dataclass(frozen=True, slots=True)
class PositiveCounts:
    """Counts of the sole positives of a run in the top `cutoff`, or of all positives.

    cutoff: None for all positives. count: number of these positives. with_one_label: number of
    these that have one label. tasks: number of tasks of a new campaign that requests second labels
    for those with one label. Text pairs for which an earlier campaign requested second labels are
    not counted.
    """

    cutoff: int | None
    count: int
    with_one_label: int
    tasks: int


def positives_to_confirm(
    label_set: LabelSource | None, run: Run | None, cutoff: int
) -> tuple[int, Int64Array]:
    """Return the number of positives, and the pair codes of those with one label, int64 [n].

    run: the positives are the sole positives in its top `cutoff`. If it is None, they are all
    positives of the label set. Raises `InvalidInput` if there is no label set, or if the cutoff is
    not between 1 and the depth of the run.
    """
    if label_set is None:
        raise InvalidInput(
            "Original positives are certain and need no second label. Publish or choose a label "
            "set first: second labels are requested for its positives."
        )
    if run is None:
        return unconfirmed_positives(label_set)
    if not 1 <= cutoff <= run.depth:
        raise InvalidInput(f"The cutoff must be between 1 and the depth of the run, {run.depth}.")
    return unconfirmed_sole_positives(run, label_set, cutoff)


def unconfirmed_positives(source: LabelSource) -> tuple[int, Int64Array]:
    """Return the number of all positives, and the pair codes of those with one label, int64 [n].

    Original positives are certain, so they are not counted.
    """
    labels = label_set_labels(source)
    certain, _ = original_judged(source.benchmark, source).positives()
    is_positive = (labels.labels >= 1) & ~np.isin(labels.codes, certain)
    return int(is_positive.sum()), labels.codes[is_positive & (labels.judgments == 1)]


def unconfirmed_sole_positives(
    run: Run, source: LabelSource, cutoff: int
) -> tuple[int, Int64Array]:
    """Return the number of sole positives in the top `cutoff`, and the codes of some of them.

    A sole positive is the only positive in the top `cutoff` of its caption, or of its video in the
    direction from video to text. Original positives are certain, so they are not counted. The
    codes, int64 [n], are those of the sole positives with one label. The analysis `label-noise`
    counts in the same way.
    """
    original = original_judged(run.benchmark, source)
    judged = with_positives(label_set_judged(source), original)
    codes = sole_positives(
        ranked_lists(run, cutoff),
        judged.facing(run.facing),
        cutoff,
        certain=original.facing(run.facing),
    )
    codes = run.facing.benchmark_codes(codes, run.benchmark.pair_space)
    labels = label_set_labels(source)
    # A positive that is not an original one has a label, so each code is among those of the labels.
    has_one_label = labels.judgments[np.searchsorted(labels.codes, codes)] == 1
    return len(codes), codes[has_one_label]


def positive_counts(run: Run, source: LabelSource) -> list[PositiveCounts]:
    """Return the counts for each cutoff up to the depth of the run, and for all positives."""
    benchmark = run.benchmark
    key = f"positives-{run.sha256}-{run.pk}-{source.sha256}-{source.original_grade}"
    cached = cache.get_or_set(key, lambda: _pairs_by_cutoff(run, source), CACHE_SECONDS) or {}
    text_pairs = partial(
        text_pair_codes, first_equal=first_equal_captions(benchmark), space=benchmark.pair_space
    )
    confirmed = text_pairs(confirmed_pairs(benchmark))
    return [
        PositiveCounts(
            cutoff, count, len(codes), tasks=len(np.setdiff1d(text_pairs(codes), confirmed))
        )
        for cutoff, (count, codes) in cached.items()
    ]


def _pairs_by_cutoff(run: Run, source: LabelSource) -> dict[int | None, tuple[int, Int64Array]]:
    found: dict[int | None, tuple[int, Int64Array]] = {
        cutoff: unconfirmed_sole_positives(run, source, cutoff)
        for cutoff in CUTOFFS
        if cutoff <= run.depth
    }
    found[None] = unconfirmed_positives(source)
    return found
