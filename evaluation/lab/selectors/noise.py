"""Evidence on how often labels are wrong: the labels themselves, and answers to control pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from django.db.models import Case, Value, When

from annotation.enums import GoldUse, JudgmentState
from annotation.models import Judgment
from annotation.selectors.campaigns import confirmed_pairs
from annotation.selectors.judgments import JudgmentArrays
from evaluation.core.arrays import renumber
from evaluation.core.files.label_file import Labels
from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.noisy_labels import EachLabel, NoisyLabels
from evaluation.models import LabelSource
from evaluation.release.selectors import label_set_labels
from hearth.shared.bulk import read_columns
from pooling.core.equal_texts import text_pair_codes
from pooling.core.pool import union_codes
from pooling.models import Benchmark
from pooling.selectors.captions import first_equal_captions

Flags = npt.NDArray[np.bool_]


def noisy_labels(
    labels: Labels,
    judgments: JudgmentArrays,
    known: Judged,
    confirming: Sequence[int] = (),
    everywhere: JudgmentArrays | None = None,
) -> NoisyLabels:
    """Return the pairs of a label set as evidence on how often labels are wrong.

    known: the original positives that count as relevant; none if only the labels count.

    confirming: primary keys of the campaigns that selected pairs because of their earlier labels,
    for example to confirm positives. The labels from these campaigns are left out, because the
    correction needs pairs whose further labels do not depend on the first label.

    everywhere: the judgments, with each one repeated for every caption with an equal text. None if
    judgments are not repeated.

    The judgments of a pair are used only if their number equals the number of labels that the label
    set has for the pair. The counts of each pair include repeated judgments. The field `each`
    contains each judgment once.
    """
    positives, _ = known.positives()
    codes = union_codes([labels.codes, positives])
    n_labels, relevant = np.zeros((2, len(codes)), np.int64)
    ruled = np.full(len(codes), -1, np.int8)
    place = np.searchsorted(codes, labels.codes)
    n_labels[place], relevant[place] = labels.judgments, labels.relevant
    ruled[place] = np.where(labels.adjudicated, labels.labels >= 1, -1)
    in_all = n_labels.copy()
    everywhere = judgments if everywhere is None else everywhere
    kept, pair_of = _kept_labels(everywhere, codes, in_all, confirming)
    is_relevant = (everywhere.labels[kept] >= 1).astype(np.int64)
    kept_of_pair = np.bincount(pair_of, minlength=len(codes))
    counted = kept_of_pair > 0
    n_labels[counted] = kept_of_pair[counted]
    relevant[counted] = np.bincount(pair_of, weights=is_relevant, minlength=len(codes))[counted]
    own, own_pair_of = _kept_labels(judgments, codes, in_all, confirming)
    people = renumber(judgments.annotators[own])
    own_labels = (judgments.labels[own] >= 1).astype(np.int64)
    return NoisyLabels(
        codes=codes,
        space=known.space,
        n_labels=n_labels,
        relevant=relevant,
        ruled=ruled,
        is_known=np.isin(codes, positives),
        n_all_labels=in_all,
        each=EachLabel(own_pair_of, people, own_labels),
        is_copy=np.isin(codes, everywhere.codes) & ~np.isin(codes, judgments.codes),
    )


def labels_of_set(source: LabelSource, known: Judged) -> NoisyLabels:
    """Return the pairs of a label set as evidence, without reading single judgments.

    known: the original positives that count as relevant; none if only the labels count.

    A pair whose second label was requested because its first label was relevant has only its first
    label here, as in `noisy_labels`. A caption with an equal text, whose pair is labelled too, is
    taken for a copy.
    """
    benchmark = source.benchmark
    labels = label_set_labels(source)
    first_equal, space = first_equal_captions(benchmark), benchmark.pair_space
    positives, _ = known.positives()
    codes = union_codes([labels.codes, positives])
    place = np.searchsorted(codes, labels.codes)
    n_labels, relevant = np.zeros((2, len(codes)), np.int64)
    ruled = np.full(len(codes), -1, np.int8)
    n_labels[place], relevant[place] = labels.judgments, labels.relevant
    ruled[place] = np.where(labels.adjudicated, labels.labels >= 1, -1)
    in_all = n_labels.copy()
    text_pairs = text_pair_codes(codes, first_equal, space)
    confirmed = text_pair_codes(confirmed_pairs(benchmark), first_equal, space)
    is_confirmed = np.isin(text_pairs, confirmed) & (n_labels > 0)
    n_labels[is_confirmed] = relevant[is_confirmed] = 1
    return NoisyLabels(
        codes=codes,
        space=known.space,
        n_labels=n_labels,
        relevant=relevant,
        ruled=ruled,
        is_known=np.isin(codes, positives),
        n_all_labels=in_all,
        is_copy=(text_pairs != codes) & np.isin(text_pairs, labels.codes),
    )


def _kept_labels(
    judgments: JudgmentArrays,
    codes: npt.NDArray[np.int64],
    n_labels: npt.NDArray[np.int64],
    confirming: Sequence[int],
) -> tuple[Flags, npt.NDArray[np.int64]]:
    """Return which judgments are used, [n_judgments], and the positions of their pairs in `codes`.

    n_labels: the number of labels of each pair in the label set.
    """
    if not len(codes):
        return np.zeros(len(judgments.labels), np.bool_), np.zeros(0, np.int64)
    place = np.minimum(np.searchsorted(codes, judgments.codes), len(codes) - 1)
    sizes = np.bincount(judgments.pair_of, minlength=len(judgments.codes))
    same = (codes[place] == judgments.codes) & (n_labels[place] == sizes)
    kept = same[judgments.pair_of] & ~np.isin(judgments.campaigns, confirming)
    return kept, place[judgments.pair_of[kept]]


def gold_answers(benchmark: Benchmark, annotators: npt.NDArray[np.int64]) -> tuple[Flags, Flags]:
    """Return two flags for each answer of these annotators to a control pair.

    The flags are whether the pair is relevant and whether the answer is wrong. annotators: primary
    keys of the annotators who have labels. The answers of annotators whose labels were all
    withdrawn are therefore left out.

    Answers to retired items are left out. Answers to training items are also left out, because
    annotators learn from them.
    """
    answers = Judgment.objects.filter(
        task__campaign__benchmark=benchmark,
        task__gold__use=GoldUse.CONTROL,
        task__gold__query__isnull=False,
        task__gold__retired_at=None,
        state=JudgmentState.GOLD,
    ).annotate(
        relevant=Case(When(task__gold__is_relevant=True, then=Value(1)), default=Value(0)),
        wrong=Case(When(is_right=False, then=Value(1)), default=Value(0)),
    )
    annotator, relevant, wrong = read_columns(answers, "annotator_id", "relevant", "wrong")
    kept = np.isin(annotator, annotators)
    return relevant[kept] == 1, wrong[kept] == 1
