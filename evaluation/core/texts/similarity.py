"""How alike captions are, by the runs of five characters that they share.

Captions that repeat those of the train split can be answered from memory: figure 8 and table 7 of
the FIRE study draw scores against `overlap_with_train`. And a caption that reads like one of
another video's captions is likely to match that video, too: `match_captions` makes labels of that,
which `score_matches` compares with people's.

==========  =======================================================================================
normalised  lower case; punctuation and symbols (Unicode categories P and S) become blanks; white
            space is one blank, and none at the ends
gram        five characters in a row, blanks included; a shorter text is one gram by itself, an
            empty one has none
weight      how often the text has the gram, times ln((1 + n) / (1 + df)) + 1, where df of the n
            texts counted have it (Salton and Buckley 1988; smoothed as scikit-learn does by
            default)
similarity  cosine of the weights of two texts: 0 if they share no gram, 1 if they are equal once
            normalised. Only texts that hold the same grams equally often reach 1 otherwise.
==========  =======================================================================================
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse  # type: ignore[import-untyped]

from config.shared.progress import Progress, no_progress
from evaluation.core.arrays import FloatArray, IntArray, whole_numbers
from evaluation.core.relevance.judged import Judged

Vectors: TypeAlias = Any
"""scipy's `csr_array` of float64, a row for each text; scipy carries no types."""

NONE: Final = -1

THRESHOLDS: Final[FloatArray] = np.arange(1, 51) / 50

_GRAM: Final = 5
# Makes a gram of a text that is shorter. No caption holds this character.
_FILLER: Final = "\0"
_HIGHEST_KEY: Final = 1 << 62
# 48 MB of similarities at a time; scipy needs about twice as much to compute them.
_BLOCK_CELLS: Final = 6 << 20
# So many stripes for each neighbour that is looked for: then hardly two of them share a stripe.
_STRIPES: Final = 32


def normalise(texts: Sequence[str]) -> list[str]:
    """The texts in lower case, without punctuation and symbols, in single blanks."""
    lowered = [text.lower() for text in texts]
    used = set().union(*lowered)
    blanks = {ord(sign): " " for sign in used if unicodedata.category(sign)[0] in "PS"}
    return [" ".join(text.translate(blanks).split()) for text in lowered]


# --- overlap --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class TextOverlap:
    """How similar each text is to those of a collection that are most similar to it.

    mean: mean similarity to the nearest ones, float64 [n]. closest: place in the collection of the
    most similar text, the first of several, int64 [n]; NONE where no text shares a gram.
    similarity: that of the closest one, float64 [n].
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
    """Overlap of each test text with the train texts most similar to it: [n_test].

    df counts the train texts, so that a test text's overlap does not depend on what else is
    tested; a gram that only test texts have weighs most of all. Of fewer train texts than
    `nearest`, the mean of all. Raises ValueError without any, and for nearest < 1.

    Memory: 48 MB of similarities at a time, and the grams of all texts, some 2 kB a caption.
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
    """Overlap of each text with those most similar to it in other groups: [n].

    Stands in for `overlap_with_train` where the train texts are not at hand. groups: int64 [n], not
    negative, mostly the video that a caption was written for: its other captions are no sign of
    overlap. df counts all texts. Where the other groups hold fewer texts than `nearest`, the mean
    of all. Raises ValueError for less than two groups, and for nearest < 1.
    """
    group = whole_numbers(groups, "groups", None)
    if len(group) != len(texts):
        raise ValueError("texts and groups must be of the same length")
    if len(group) == 0 or group.min() == group.max():
        raise ValueError("there are less than two groups")
    vectors = _unit_vectors(texts, len(texts))
    return _overlap(vectors, vectors, nearest, group, progress)


def _overlap(
    rows: Vectors, others: Vectors, nearest: int, group: IntArray | None, progress: Progress
) -> TextOverlap:
    """Each row beside those of `others` with the highest products; of its own group with none."""
    if nearest < 1:
        raise ValueError("nearest must be at least 1")
    n_rows, n_others = rows.shape[0], others.shape[0]
    available = n_others if group is None else n_others - np.bincount(group)[group]
    # Filled up with empty texts, which are similar to none, to whole stripes.
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
    return TextOverlap(_tidy(sums / np.minimum(nearest, available)), closest, _tidy(similarity))


def _sum_highest(cells: FloatArray, count: int) -> FloatArray:
    """Sum of the `count` highest cells of each row, for cells [B, any, stripes >= count]: [B].

    The bar is the count-th highest of the maxima of the stripes. So many cells reach it, and those
    above it are few: only they are sorted. Ten times as fast as partitioning whole rows.
    """
    peaks = np.partition(cells.max(axis=1), -count, axis=1)
    bar = peaks[:, -count]
    above = np.flatnonzero(cells > bar[:, None, None])
    row, value = above // (cells.size // len(cells)), cells.reshape(-1)[above]
    order = np.lexsort((-value, row))
    kept = order[np.arange(len(row)) - np.searchsorted(row, row) < count]
    found = np.bincount(row[kept], minlength=len(cells))
    total = np.bincount(row[kept], weights=value[kept], minlength=len(cells))
    return np.asarray(total + (count - found) * bar)


# --- labels from captions -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class MatchQuality:
    """Labels from captions beside people's labels, for the pairs that people judged.

    A pair is labelled relevant if its similarity reaches the threshold; arrays are [T], by
    threshold. labelled: pairs so labelled; correct: those of them that people found relevant.
    judged, relevant: pairs compared, and those of them that people found relevant.

    precision = correct / labelled, recall = correct / relevant, f1 = their harmonic mean
    2 * correct / (labelled + relevant); each is 0 where the divisor is.
    """

    thresholds: FloatArray
    judged: int
    relevant: int
    labelled: IntArray
    correct: IntArray
    precision: FloatArray
    recall: FloatArray
    f1: FloatArray

    @property
    def best(self) -> int:
        """Return the place of the threshold with the highest F1, the first of several.

        Its figures are too high on these pairs: report them on others (`halves`).
        """
        return int(self.f1.argmax())


def match_captions(texts: Sequence[str], original: Judged, codes: npt.ArrayLike) -> FloatArray:
    """How similar each pair's query is to the caption of its video that is most similar: [P].

    texts: one for each query of `original`, the positives that came with the dataset: the captions
    of a video are the queries that it is an original positive of. The query itself is no caption to
    compare with, even if it is one of the video's. codes: int64 [P], codes of pairs, in
    any order. 0 where the video has no other caption; 1 for equal texts. df counts all texts.

    Raises ValueError for texts that do not fit `original`, and for a code out of bounds.
    Pairs are taken video by video, so that time grows with P times the captions of a video.
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
    return _tidy(similarity)


def _split(video: IntArray, n_videos: int) -> list[IntArray]:
    """Places in `video` of each video's number, by video."""
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
    """Compare labels from `match_captions` with people's, at each threshold.

    codes [P], each once, with their similarity [P]. Pairs that people have not judged are left out,
    and so are judged pairs that are not among `codes`. rel: the gain from which on a pair is
    relevant. Leave the original positives out of `codes`: these are known without a label.
    """
    code = whole_numbers(codes, "codes", judged.space.n_pairs - 1)
    if code.shape != similarity.shape:
        raise ValueError("codes and similarity must be of the same length")
    order = np.argsort(code, kind="stable")
    code, similarity = code[order], similarity[order]
    if np.any(code[1:] == code[:-1]):
        raise ValueError("a pair is given twice")
    place = np.searchsorted(judged.codes, code)
    known = np.isin(code, judged.codes, assume_unique=True, kind="sort")
    relevant = judged.gains[place[known]] >= rel
    bars = np.asarray(thresholds, dtype=np.float64)
    labelled = _count_reaching(similarity[known], bars)
    correct = _count_reaching(similarity[known][relevant], bars)
    n_relevant = int(np.count_nonzero(relevant))
    return MatchQuality(
        thresholds=bars,
        judged=len(relevant),
        relevant=n_relevant,
        labelled=labelled,
        correct=correct,
        precision=correct / np.maximum(1, labelled),
        recall=correct / max(1, n_relevant),
        f1=2 * correct / np.maximum(1, labelled + n_relevant),
    )


def _count_reaching(values: FloatArray, bars: FloatArray) -> IntArray:
    """How many values are as high as each bar or higher."""
    return np.asarray(len(values) - np.searchsorted(np.sort(values), bars), dtype=np.int64)


def _tidy(similarity: FloatArray) -> FloatArray:
    """Without the last digits, which are rounding errors: equal texts have 1 exactly."""
    return np.asarray(similarity.round(12))


# --- texts as vectors -----------------------------------------------------------------------------


def _unit_vectors(texts: Sequence[str], n_counted: int) -> Vectors:
    """Weights of the grams in each text, as rows of length 1; df counts the first `n_counted`."""
    vectors = _count_grams(texts)
    df = np.bincount(vectors[:n_counted].indices, minlength=vectors.shape[1])
    vectors.data *= (np.log((1 + n_counted) / (1 + df)) + 1)[vectors.indices]
    row = np.repeat(np.arange(len(texts)), np.diff(vectors.indptr))
    vectors.data /= np.sqrt(np.bincount(row, weights=vectors.data**2))[row]
    return vectors


def _count_grams(texts: Sequence[str]) -> Vectors:
    """How often each text has each gram: [n, distinct grams]."""
    padded = [text and text.ljust(_GRAM, _FILLER) for text in normalise(texts)]
    lengths = np.array([len(text) for text in padded], dtype=np.int64)
    text = np.repeat(np.arange(len(padded)), lengths)
    # A gram that begins in one text and ends in the next is none.
    begins = np.flatnonzero(text[: 1 - _GRAM] == text[_GRAM - 1 :])
    distinct, gram = np.unique(_number_grams("".join(padded))[begins], return_inverse=True)
    ones, shape = np.ones(len(gram), dtype=np.float64), (len(padded), len(distinct))
    # Short indices save half of the memory that every product reads.
    cells = (text[begins].astype(np.int32), gram.astype(np.int32))
    return sparse.csr_array((ones, cells), shape=shape)


def _number_grams(text: str) -> IntArray:
    """A number for the gram that begins at each character but the last four; equal if they are."""
    signs = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    alphabet, sign = np.unique(signs, return_inverse=True)
    count = max(0, len(sign) + 1 - _GRAM)
    number = sign[:count]
    for place in range(1, _GRAM):
        # Chinese has more characters than five of them fit into 63 bits.
        if number.max(initial=0) >= _HIGHEST_KEY // max(1, len(alphabet)):
            number = np.unique(number, return_inverse=True)[1]
        number = number * len(alphabet) + sign[place : place + count]
    return np.asarray(number)
