"""What each annotator's labels of sentences say about paragraphs."""

from __future__ import annotations

import numpy as np

from evaluation.core.arrays import IntArray
from evaluation.core.paragraphs.outcomes import SHARE, paragraph_outcomes
from evaluation.core.people.agreement_figures import Opinions


def paragraph_opinions(
    opinions: Opinions, groups: IntArray, sentences: IntArray, share: float = SHARE
) -> Opinions:
    """Return the label of each annotator for each paragraph on a video that they judged completely.

    Labels of some of its sentences are left out, even if they settle it: most of them can settle it
    only as not relevant, which would bias the agreement.

    opinions: the labels of the sentences, above 0 for relevant. groups: int64 [n_labels], the
    number of the paragraph and the video of each label. sentences: int64 [n_labels], the number of
    sentences of that paragraph. A label of a paragraph is one of the planned labels if all of its
    sentences' labels are.
    """
    keys = np.stack([groups, opinions.annotators])
    (pairs, annotators), first, of = np.unique(keys, axis=1, return_index=True, return_inverse=True)
    of = of.reshape(-1)
    is_relevant = opinions.labels > 0
    found, rejected, planned = (
        np.bincount(of[rows], minlength=len(pairs))
        for rows in (is_relevant, ~is_relevant, opinions.is_first)
    )
    outcomes = paragraph_outcomes(sentences[first], found, rejected, share)
    every = Opinions(pairs, annotators, outcomes, planned == found + rejected)
    return every.only(found + rejected == sentences[first])
