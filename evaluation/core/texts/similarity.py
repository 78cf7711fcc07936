"""The similarity of captions, computed from common sequences of five characters.

A system can answer a test caption from memory if a caption of the train split is similar.
`overlap_with_train` computes this similarity. Figure 8 and table 7 of the FIRE study show scores of
captions by this similarity. A caption that is similar to a caption of another video is also likely
to match that video. `match_captions` computes the similarity of a caption to the captions of a
video. `score_matches` derives labels from it and compares them with the labels of annotators.

==========  =======================================================================================
normalised  in lower case; punctuation and symbols (Unicode categories P and S) are replaced by
            spaces; white space is a single space, and there is none at the ends
gram        five consecutive characters, spaces included; a shorter text is one gram, and an empty
            text has none
weight      number of times that the text contains the gram * (ln((1 + n) / (1 + df)) + 1); n is the
            number of counted texts, and df the number of those that contain the gram (Salton and
            Buckley 1988; smoothed as by default in scikit-learn)
similarity  cosine of the weights of two texts: 0 if they have no common gram, 1 if they are equal
            after normalisation. Other texts have 1 only if they contain the same grams in the same
            proportions.
==========  =======================================================================================
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from evaluation.core.arrays import FloatArray, IntArray, whole_numbers
from evaluation.core.graded.calibration import AtThresholds
from evaluation.core.relevance.judged import Judged
from hearth.shared.progress import Progress, no_progress

Vectors: TypeAlias = Any
"""A scipy `csr_array` of float64 with one row for each text. scipy has no type annotations."""

NONE: Final = -1

THRESHOLDS: Final[FloatArray] = np.arange(1, 51) / 50

_GRAM: Final = 5
# Fills texts that are shorter than a gram. No caption contains this character.
_FILLER: Final = "\0"
_HIGHEST_KEY: Final = 1 << 62
# A block of similarities has 48 MB. scipy needs about twice as much to compute it.
_BLOCK_CELLS: Final = 6 << 20
# The columns of similarities are divided into n stripes: column c is in stripe c modulo n. n is
# this number times the number of nearest texts, so that two nearest texts rarely share a stripe.
_STRIPES: Final = 32


def normalise(texts: Sequence[str]) -> list[str]:
    """Return the texts in lower case, without punctuation and symbols, and with single spaces."""
    lowered = [text.lower() for text in texts]
    characters = set().union(*lowered)
    spaces = {
        ord(character): " "
        for character in characters
        if unicodedata.category(character)[0] in "PS"
    }
    return [" ".join(text.translate(spaces).split()) for text in lowered]


# --- overlap --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class TextOverlap:
    """The similarity of n texts to their nearest texts in a collection.

    mean: mean similarity to the nearest texts, float64 [n].
    closest: index of the most similar text in the collection, int64 [n]. If several are equally
    similar, it is the first. It is NONE if no text has a common gram.
    similarity: similarity to the closest text, float64 [n].
    """

    mean: FloatArray
    closest: IntArray
    similarity: FloatArray


def overlap_with_train(
    test: Sequence[str],
    train: Sequence[str],
    nearest: int = 10,
    progress: Progress = no_progress,
) -> TextOverlap:
    """Return the overlap of each test text with the `nearest` most similar train texts, [n_test].

    df counts only train texts, so that the overlap of a test text does not depend on the other test
    texts. A gram that occurs only in test texts has the highest weight. If there are fewer train
    texts than `nearest`, the mean is over all of them. Raises ValueError if there are no train
    texts or `nearest` is below 1.

    Memory: 48 MB of similarities at a time, and about 2 kB of grams for each caption.
    """
    if not train:
        raise ValueError("there are no train texts")
    vectors = _unit_vectors([*train, *test], len(train))
    return _overlap(vectors[len(train) :], vectors[: len(train)], nearest, None, progress)


def overlap_with_others(
    texts: Sequence[str],
    groups: npt.ArrayLike,
    nearest: int = 10,
    progress: Progress = no_progress,
) -> TextOverlap:
    """Return the overlap of each text with the `nearest` most similar texts of other groups, [n].

    It replaces `overlap_with_train` if the train texts are not available. groups: integers [n], not
    negative; usually the video of the caption, because the captions of one video are similar
    anyway. df counts all texts. If the other groups have fewer texts than `nearest`, the mean is
    over all of them. Raises ValueError if there are fewer than two groups or `nearest` is below 1.
    """
    group = whole_numbers(groups, "groups", None)
    if len(group) != len(texts):
        raise ValueError("texts and groups must be of the same length")
    if len(group) == 0 or group.min() == group.max():
        raise ValueError("there are fewer than two groups")
    vectors = _unit_vectors(texts, len(texts))
    return _overlap(vectors, vectors, nearest, group, progress)


def _overlap(
    rows: Vectors, others: Vectors, nearest: int, group: IntArray | None, progress: Progress
) -> TextOverlap:
    """Compare each row with the rows of `others` that have the highest products with it.

    If `group` is not None, rows of the same group are not compared.
    """
    if nearest < 1:
        raise ValueError("nearest must be at least 1")
    n_rows, n_others = rows.shape[0], others.shape[0]
    available = n_others if group is None else n_others - np.bincount(group)[group]
    # Columns of empty texts, which are similar to no text, make the width a multiple of `stripes`.
    stripes = nearest * _STRIPES
    width = -(-n_others // stripes) * stripes
    columns = others.T.tocsr()
    columns.resize(columns.shape[0], width)
    sums, similarity = np.empty(n_rows), np.empty(n_rows)
    closest = np.empty(n_rows, dtype=np.int64)
    block = max(1, _BLOCK_CELLS // width)
    for start in range(0, n_rows, block):
        progress(start, n_rows)
        part = slice(start, start + block)
        cells = (rows[part] @ columns).toarray()
        if group is not None:
            cells[:, :n_others] *= group[part, None] != group
        place = closest[part] = cells.argmax(axis=1)
        similarity[part] = cells[np.arange(len(cells)), place]
        sums[part] = _sum_highest(cells.reshape(len(cells), -1, stripes), nearest)
    closest[similarity == 0] = NONE
    return TextOverlap(
        _without_rounding_errors(sums / np.minimum(nearest, available)),
        closest,
        _without_rounding_errors(similarity),
    )


def _sum_highest(cells: FloatArray, count: int) -> FloatArray:
    """Return the sum of the `count` highest cells of each row, [B].

    cells: [B, any, n_stripes] with n_stripes >= count. The limit is the count-th highest of the
    stripes' maxima. At least `count` cells reach the limit, and only a few are above it, so only
    these are sorted. This is ten times as fast as partitioning whole rows.
    """
    peaks = np.partition(cells.max(axis=1), -count, axis=1)
    limit = peaks[:, -count]
    above = np.flatnonzero(cells > limit[:, None, None])
    row, value = above // (cells.size // len(cells)), cells.reshape(-1)[above]
    order = np.lexsort((-value, row))
    kept = order[np.arange(len(row)) - np.searchsorted(row, row) < count]
    n_kept = np.bincount(row[kept], minlength=len(cells))
    total = np.bincount(row[kept], weights=value[kept], minlength=len(cells))
    return np.asarray(total + (count - n_kept) * limit)


# --- labels from captions -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class MatchQuality:
    """The agreement of labels from captions with the labels of annotators, on judged pairs.

    A pair is labelled relevant if its similarity is at least the threshold. Arrays are [T], one
    value for each threshold.

    judged, relevant: number of compared pairs, and of those that annotators judged relevant.
    labelled: number of pairs that are labelled relevant. correct: number of those that annotators
    judged relevant.

    precision = correct / labelled, recall = correct / relevant, and f1 is their harmonic mean
    2 * correct / (labelled + relevant). Each is 0 if its divisor is 0. alpha: Krippendorff's alpha
    of both kinds of labels, as of two annotators.

    best: index of the threshold with the highest alpha (`AtThresholds.best`). The scores of this
    threshold are too high on the pairs on which it was chosen. Report them on other pairs.
    """

    thresholds: FloatArray
    judged: int
    relevant: int
    labelled: IntArray
    correct: IntArray
    precision: FloatArray
    recall: FloatArray
    f1: FloatArray
    alpha: FloatArray
    best: int


def match_captions(texts: Sequence[str], original: Judged, codes: npt.ArrayLike) -> FloatArray:
    """Return the similarity of each pair's query to the most similar caption of its video, [P].

    The captions of a video are the queries that have it as an original positive. A query is never
    compared with itself. The similarity is 1 for equal texts, and 0 if the video has no other
    caption. df counts all texts.

    texts: one for each query of `original`. codes: int64 [P], pair codes in any order. Raises
    ValueError if the number of texts differs from that of queries, or a code is out of bounds. The
    function processes one video after another, so the time is proportional to P times the number of
    captions of a video.
    """
    if len(texts) != original.n_queries:
        raise ValueError(f"{len(texts)} texts for {original.n_queries} queries")
    space, n_videos = original.space, original.n_videos
    code = whole_numbers(codes, "codes", space.n_pairs - 1)
    query, video = space.decode(code)
    caption, of_video = space.decode(original.positives()[0])
    vectors = _unit_vectors(texts, len(texts))
    similarity = np.zeros(len(code), dtype=np.float64)
    captions = _split(of_video, n_videos)
    for pairs, known in zip(_split(video, n_videos), captions, strict=True):
        block = max(1, _BLOCK_CELLS // max(1, len(known)))
        for start in range(0, len(pairs) if len(known) else 0, block):
            part = pairs[start : start + block]
            similarity[part] = _similarity_to_nearest(vectors, query[part], caption[known])
    return _without_rounding_errors(similarity)


def _split(video: IntArray, n_videos: int) -> list[IntArray]:
    """Return the indices in `video` at which each number from 0 to n_videos - 1 occurs."""
    edges = np.cumsum(np.bincount(video, minlength=n_videos))
    return np.split(np.argsort(video, kind="stable"), edges[:-1]) if n_videos else []


def _similarity_to_nearest(vectors: Vectors, query: IntArray, caption: IntArray) -> FloatArray:
    cells = (vectors[query] @ vectors[caption].T).toarray()
    cells[query[:, None] == caption] = 0
    return np.asarray(cells.max(axis=1))


def score_matches(
    codes: npt.ArrayLike,
    similarity: FloatArray,
    judged: Judged,
    thresholds: npt.ArrayLike = THRESHOLDS,
    rel: int = 1,
) -> MatchQuality:
    """Compare labels from `match_captions` with the labels of annotators, at each threshold.

    codes: int64 [P], each once. similarity: [P]. Only pairs that are both in `codes` and in
    `judged` are compared. rel: the lowest gain of a relevant pair. Pass codes without original
    positives, because these pairs are known to be relevant without a label.

    Raises ValueError if a code occurs twice or is out of bounds, or the lengths differ.
    """
    code = whole_numbers(codes, "codes", judged.space.n_pairs - 1)
    if code.shape != similarity.shape:
        raise ValueError("codes and similarity must be of the same length")
    order = np.argsort(code, kind="stable")
    code, similarity = code[order], similarity[order]
    if np.any(code[1:] == code[:-1]):
        raise ValueError("a pair occurs twice")
    place = np.searchsorted(judged.codes, code)
    known = np.isin(code, judged.codes, assume_unique=True, kind="sort")
    relevant = judged.gains[place[known]] >= rel
    limits = np.asarray(thresholds, dtype=np.float64)
    labelled = _count_reaching(similarity[known], limits)
    correct = _count_reaching(similarity[known][relevant], limits)
    n_relevant = int(np.count_nonzero(relevant))
    at = AtThresholds.of_one_sample(correct, labelled, n_relevant, len(relevant))
    return MatchQuality(
        thresholds=limits,
        judged=len(relevant),
        relevant=n_relevant,
        labelled=labelled,
        correct=correct,
        precision=correct / np.maximum(1, labelled),
        recall=correct / max(1, n_relevant),
        f1=at.f1()[:, 0],
        alpha=at.alpha()[:, 0],
        best=int(at.best()[0]),
    )


def _count_reaching(values: FloatArray, limits: FloatArray) -> IntArray:
    """Return the number of values that are at least as high as each limit."""
    return np.asarray(len(values) - np.searchsorted(np.sort(values), limits), dtype=np.int64)


def _without_rounding_errors(similarity: FloatArray) -> FloatArray:
    """Round away the last digits, which are rounding errors, so that equal texts have exactly 1."""
    return np.asarray(similarity.round(12))


# --- texts as vectors -----------------------------------------------------------------------------


def _unit_vectors(texts: Sequence[str], n_counted: int) -> Vectors:
    """Return the weights of the grams of each text, as rows of Euclidean length 1.

    df counts the first `n_counted` texts.
    """
    vectors = _count_grams(texts)
    df = np.bincount(vectors[:n_counted].indices, minlength=vectors.shape[1])
    vectors.data *= (np.log((1 + n_counted) / (1 + df)) + 1)[vectors.indices]
    row = np.repeat(np.arange(len(texts)), np.diff(vectors.indptr))
    vectors.data /= np.sqrt(np.bincount(row, weights=vectors.data**2))[row]
    return vectors


def _count_grams(texts: Sequence[str]) -> Vectors:
    """Return the number of times that each text contains each gram, [n, distinct grams]."""
    from scipy import sparse  # type: ignore[import-untyped]  # slow to import

    padded = [text and text.ljust(_GRAM, _FILLER) for text in normalise(texts)]
    lengths = np.array([len(text) for text in padded], dtype=np.int64)
    text = np.repeat(np.arange(len(padded)), lengths)
    # Skip grams that begin in one text and end in the next.
    begins = np.flatnonzero(text[: 1 - _GRAM] == text[_GRAM - 1 :])
    distinct, gram = np.unique(_number_grams("".join(padded))[begins], return_inverse=True)
    ones, shape = np.ones(len(gram), dtype=np.float64), (len(padded), len(distinct))
    # 32-bit indices halve the memory that every product reads.
    cells = (text[begins].astype(np.int32), gram.astype(np.int32))
    return sparse.csr_array((ones, cells), shape=shape)


def _number_grams(text: str) -> IntArray:
    """Return a number for the gram that begins at each character except the last four.

    Two numbers are equal if and only if the grams are equal.
    """
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    alphabet, character = np.unique(points, return_inverse=True)
    count = max(0, len(character) + 1 - _GRAM)
    number = character[:count]
    for place in range(1, _GRAM):
        # With a large alphabet, such as that of Chinese, five characters do not fit into 63 bits.
        if number.max(initial=0) >= _HIGHEST_KEY // max(1, len(alphabet)):
            number = np.unique(number, return_inverse=True)[1]
        number = number * len(alphabet) + character[place : place + count]
    return np.asarray(number)
