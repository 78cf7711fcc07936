"""The pairs on which proxies and people are compared: one for each text and video."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annotation.core.consensus import NO_LABEL, State
from evaluation.core.arrays import BoolArray, IntArray
from evaluation.core.files.label_file import Labels
from evaluation.lab.analyses.inputs import Inputs
from evaluation.release.selectors import label_set_labels
from pooling.core.equal_texts import text_pair_codes
from pooling.core.pair_space import PairSpace
from pooling.selectors.captions import first_equal_captions


@dataclass(frozen=True, slots=True, eq=False)
class JudgedTexts:
    """The judged text pairs that are not original positives, ascending by code.

    labels: int64 [n], the grade. conflicted, pending: codes of the text pairs without a label.
    """

    codes: IntArray
    labels: IntArray
    conflicted: IntArray
    pending: IntArray

    @property
    def relevant(self) -> BoolArray:
        return np.asarray(self.labels >= 1)


@dataclass(frozen=True, slots=True, eq=False)
class TextPairs:
    """The pairs of texts and videos. The code of a text pair is that of the text's first caption.

    first_equal: int64 [n_queries], the first caption with the text of each caption. known: codes of
    the text pairs that are original positives, ascending; none if these do not count. judged: the
    labels of all others, or None if no label set is selected.
    """

    space: PairSpace
    first_equal: IntArray
    known: IntArray
    judged: JudgedTexts | None


def text_pairs(inputs: Inputs) -> TextPairs:
    """Return the text pairs of a benchmark, by the benchmark's rule for equal texts.

    Captions with equal texts share their labels, so each label counts once.
    """
    benchmark = inputs.benchmark
    space, first_equal = benchmark.pair_space, first_equal_captions(benchmark)
    known = np.unique(text_pair_codes(inputs.counted_originals.codes, first_equal, space))
    labels = labels_or_none(inputs)
    judged = None if labels is None else _judged(labels, first_equal, known, space)
    return TextPairs(space, first_equal, known, judged)


def labels_or_none(inputs: Inputs) -> Labels | None:
    """Return the outcomes of the selected labels, or None for the original positives."""
    return None if inputs.label_set is None else label_set_labels(inputs.label_set)


def _judged(
    labels: Labels, first_equal: IntArray, known: IntArray, space: PairSpace
) -> JudgedTexts:
    # The first place of a text pair in `labels` is that of its first judged caption.
    codes, places = np.unique(text_pair_codes(labels.codes, first_equal, space), return_index=True)
    is_new = ~np.isin(codes, known, assume_unique=True)
    codes, places = codes[is_new], places[is_new]
    found, states = labels.labels[places], labels.states[places]
    has_label = found != NO_LABEL
    return JudgedTexts(
        codes=codes[has_label],
        labels=found[has_label],
        conflicted=codes[~has_label & (states != State.PENDING)],
        pending=codes[~has_label & (states == State.PENDING)],
    )
