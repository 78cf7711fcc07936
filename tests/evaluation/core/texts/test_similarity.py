"""Similar captions, compared with results by hand, scikit-learn and the plain definitions."""

from __future__ import annotations

from collections import Counter
from math import log, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.arrays import FloatArray
from evaluation.core.relevance.judged import Judged
from evaluation.core.texts import similarity as module
from evaluation.core.texts.similarity import (
    NONE,
    match_captions,
    normalise,
    overlap_with_others,
    overlap_with_train,
    score_matches,
)
from hearth.shared.errors import Cancelled

CAPTIONS = [
    "a man plays with a trained dog",
    "a man is playing the guitar",
    "a boy playing with dog",
    "the man plays the guitar",
    "a woman is slicing onions",
]
# The products of all rows of TfidfVectorizer(analyzer="char", ngram_range=(5, 5)) of scikit-learn
# 1.9.1.
AS_SCIKIT_LEARN = [
    [1.0, 0.0743427606, 0.088534671, 0.2246465028, 0.0],
    [0.0743427606, 1.0, 0.1841452701, 0.3428758589, 0.107525879],
    [0.088534671, 0.1841452701, 1.0, 0.0213071548, 0.0],
    [0.2246465028, 0.3428758589, 0.0213071548, 1.0, 0.0],
    [0.0, 0.107525879, 0.0, 0.0, 1.0],
]


# --- plain Python ---------------------------------------------------------------------------------


def grams_of(text: str) -> Counter[str]:
    """Count the grams, which are five characters each. A shorter text is one gram."""
    if 0 < len(text) < 5:
        return Counter([text])
    return Counter(text[start : start + 5] for start in range(len(text) - 4))


def similarities(rows: list[str], others: list[str], counted: list[str]) -> list[list[float]]:
    """Return the cosines of all rows with all others. `df` counts the texts in `counted`."""
    df = Counter(gram for text in counted for gram in set(grams_of(text)))
    n = len(counted)

    def weigh(text: str) -> dict[str, float]:
        weights = {g: c * (log((1 + n) / (1 + df[g])) + 1) for g, c in grams_of(text).items()}
        length = sqrt(sum(weight**2 for weight in weights.values()))
        return {gram: weight / length for gram, weight in weights.items()}

    columns = [weigh(text) for text in others]
    return [
        [sum(w * column.get(gram, 0.0) for gram, w in weigh(text).items()) for column in columns]
        for text in rows
    ]


def mean_of_highest(values: list[float], count: int) -> float:
    highest = sorted(values, reverse=True)[:count]
    return sum(highest) / len(highest)


# Texts have few letters, so that they share grams. Some of them are short or empty.
TEXTS = st.lists(st.text("ab ", max_size=12).map(lambda text: " ".join(text.split())), max_size=8)
NEAREST = st.integers(1, 4)


# --- normalised texts -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  A Man’s\tT-shirt!\n", "a man s t shirt"),
        ("$5 + 3…", "5 3"),
        # Vowel signs are not letters, but not punctuation either.
        ("कुत्ता।", "कुत्ता"),
        ("ÄRGER, Straße", "ärger straße"),
        ("?!", ""),
        ("", ""),
    ],
)
def test_normalise(text: str, expected: str) -> None:
    assert normalise([text]) == [expected]
    assert normalise([expected, "ABC"]) == [expected, "abc"]


def test_normalise_no_texts() -> None:
    assert normalise([]) == []


# --- overlap --------------------------------------------------------------------------------------


def test_overlap_with_train_by_hand() -> None:
    # One of the two grams of "abcdef" is in one of the two train texts, and the other is in none.
    known, unknown = log(3 / 2) + 1, log(3) + 1
    expected = known / sqrt(known**2 + unknown**2) / 2
    overlap = overlap_with_train(["abcdef", "Abcde!", "abcdf", "vwxyz", ""], ["abcde", "abcdf"])
    assert overlap.mean.dtype == np.float64
    assert overlap.closest.tolist() == [0, 0, 1, NONE, NONE]
    assert overlap.similarity.tolist() == pytest.approx([2 * expected, 1, 1, 0, 0], abs=1e-12)
    assert overlap.mean.tolist() == pytest.approx([expected, 0.5, 0.5, 0, 0], abs=1e-12)


def test_a_text_below_five_characters_is_one_gram() -> None:
    assert overlap_with_train(["dog", "dogs", "a dog"], ["Dog"]).mean.tolist() == [1, 0, 0]


def test_equal_texts_each_count_among_the_nearest() -> None:
    train = ["a man sings", "a man sings", "zzzzz"]
    assert overlap_with_train(["a man sings"], train, nearest=1).mean.tolist() == [1]
    assert overlap_with_train(["a man sings"], train, nearest=2).mean.tolist() == [1]
    assert overlap_with_train(["a man sings"], train, nearest=3).mean.tolist() == pytest.approx(
        [2 / 3]
    )


def test_overlap_with_others_excludes_the_own_group() -> None:
    texts = ["a dog runs", "a dog runs", "a dog runs", "onions"]
    # For each text, two texts are in the other group. For the first two texts, these are a copy and
    # "onions". For the third text, they are two copies.
    assert overlap_with_others(texts, [0, 0, 7, 7]).mean.tolist() == [0.5, 0.5, 1, 0]
    assert overlap_with_others(texts, [0, 0, 0, 1]).mean.tolist() == [0, 0, 0, 0]


def test_overlap_refuses_bad_input() -> None:
    with pytest.raises(ValueError, match="no train texts"):
        overlap_with_train(["a"], [])
    with pytest.raises(ValueError, match="nearest must be at least 1"):
        overlap_with_train(["a"], ["a"], 0)
    with pytest.raises(ValueError, match="the same length"):
        overlap_with_others(["a"], [0, 1])
    for groups in ([], [3, 3]):
        with pytest.raises(ValueError, match="fewer than two groups"):
            overlap_with_others(["a"] * len(groups), groups)


def test_overlap_without_test_texts() -> None:
    assert overlap_with_train([], ["a dog"]).mean.shape == (0,)


@given(TEXTS, TEXTS.filter(bool), NEAREST)
def test_overlap_with_train_equals_its_definition(
    test: list[str], train: list[str], nearest: int
) -> None:
    rows = similarities(test, train, train)
    overlap = overlap_with_train(test, train, nearest)
    expected = [mean_of_highest(row, nearest) for row in rows]
    assert overlap.mean.tolist() == pytest.approx(expected, abs=1e-11)
    assert np.all((overlap.mean >= 0) & (overlap.mean <= 1))
    assert overlap.similarity.tolist() == pytest.approx([max(row) for row in rows], abs=1e-11)
    for row, place in zip(rows, overlap.closest.tolist(), strict=True):
        assert (place == NONE) == (max(row) == 0)
        assert place == NONE or row[place] == pytest.approx(max(row), abs=1e-11)


@given(TEXTS.filter(lambda texts: len(texts) > 1), st.data(), NEAREST)
def test_overlap_with_others_equals_its_definition(
    texts: list[str], data: st.DataObject, nearest: int
) -> None:
    size = {"min_size": len(texts), "max_size": len(texts)}
    two_or_more = st.lists(st.integers(0, 2), **size).filter(lambda numbers: len(set(numbers)) > 1)
    groups = data.draw(two_or_more)
    expected = [
        mean_of_highest([s for s, g in zip(row, groups, strict=True) if g != own], nearest)
        for row, own in zip(similarities(texts, texts, texts), groups, strict=True)
    ]
    overlap = overlap_with_others(texts, groups, nearest)
    assert all(groups[c] != own for c, own in zip(overlap.closest, groups, strict=True) if c >= 0)
    assert overlap.mean.tolist() == pytest.approx(expected, abs=1e-11)


@pytest.fixture
def many_captions() -> list[str]:
    rng = np.random.default_rng(5)
    words = "a man woman dog is plays rides guitar horse the with on 人 狗".split()
    return [" ".join(rng.choice(words, rng.integers(1, 9))) for _ in range(300)]


def test_blocks_stripes_and_large_alphabets_change_nothing(
    many_captions: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = np.arange(300) % 90
    overlap = overlap_with_others(many_captions, groups)
    rows = similarities(*[normalise(many_captions)] * 3)
    by_hand = [
        mean_of_highest([s for other, s in enumerate(row) if other % 90 != own % 90], 10)
        for own, row in enumerate(rows)
    ]
    assert overlap.mean.tolist() == pytest.approx(by_hand, abs=1e-11)
    for name, value in (("_BLOCK_CELLS", 3_000), ("_STRIPES", 1), ("_HIGHEST_KEY", 1)):
        monkeypatch.setattr(module, name, value)
        again = overlap_with_others(many_captions, groups)
        assert again.mean.tolist() == overlap.mean.tolist()
        assert again.closest.tolist() == overlap.closest.tolist()


def test_overlap_reports_progress_and_can_be_cancelled(
    many_captions: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BLOCK_CELLS", 320 * 120)
    reports: list[tuple[int, int | None]] = []

    def progress(done: int, total: int | None, phase: str = "") -> None:
        reports.append((done, total))
        if done == 240:
            raise Cancelled

    overlap_with_train(many_captions[:240], many_captions, progress=progress)
    assert reports == [(0, 240), (120, 240)]
    with pytest.raises(Cancelled):
        overlap_with_train(many_captions, many_captions, progress=progress)


@given(st.integers(1, 5), st.integers(1, 4), st.integers(1, 6), st.randoms(use_true_random=False))
def test_sum_of_the_highest_equals_sorting(n: int, deep: int, stripes: int, random: Any) -> None:
    values = [random.choice([0.0, 0.25, 0.5, random.random()]) for _ in range(n * deep * stripes)]
    cells = np.array(values).reshape(n, deep, stripes)
    for count in range(1, stripes + 1):
        expected = np.sort(cells.reshape(n, -1), axis=1)[:, -count:].sum(axis=1)
        found = module._sum_highest(cells, count)
        assert found.tolist() == pytest.approx(expected.tolist())


# --- labels from captions -------------------------------------------------------------------------


def original_positives(pairs: list[tuple[int, int]], n_queries: int, n_videos: int) -> Judged:
    queries, videos = [q for q, _ in pairs], [v for _, v in pairs]
    ones = [1] * len(pairs)
    return Judged.from_pairs(queries, videos, ones, n_queries=n_queries, n_videos=n_videos)


def all_matches(texts: list[str], original: Judged) -> FloatArray:
    codes = np.arange(original.n_queries * original.n_videos)
    return match_captions(texts, original, codes).reshape(original.n_queries, original.n_videos)


def test_matches_equal_scikit_learn() -> None:
    original = original_positives([(query, query) for query in range(5)], 5, 6)
    # A caption is not compared with itself, and the sixth video has no caption.
    expected = np.array(AS_SCIKIT_LEARN) * (1 - np.eye(5))
    matches = all_matches(CAPTIONS, original)
    assert matches[:, :5].tolist() == [pytest.approx(row, abs=1e-9) for row in expected.tolist()]
    assert matches[:, 5].tolist() == [0] * 5


def test_equal_captions_match_in_full() -> None:
    texts = ["A dog runs.", "a  DOG runs", "a dog ran", "?"]
    original = original_positives([(0, 0), (1, 1), (2, 1), (3, 2)], 4, 3)
    matches = all_matches(texts, original)
    assert matches[0, 1] == matches[1, 0] == 1
    # The other caption of video 1 is less similar to caption 1.
    assert 0 < matches[1, 1] < 1
    assert matches[:, 2].tolist() == [0] * 4


def test_pairs_can_be_in_any_order_and_occur_twice() -> None:
    original = original_positives([(query, query % 3) for query in range(5)], 5, 3)
    expected = all_matches(CAPTIONS, original).reshape(-1)
    codes = [14, 0, 3, 3, 7, 1, 0]
    assert match_captions(CAPTIONS, original, codes).tolist() == expected[codes].tolist()
    assert match_captions(CAPTIONS, original, []).shape == (0,)


def test_match_captions_refuses_bad_input() -> None:
    original = original_positives([(0, 0)], 2, 3)
    with pytest.raises(ValueError, match="1 texts for 2 queries"):
        match_captions(["a"], original, [0])
    with pytest.raises(ValueError, match="codes: a number is outside of 0 to 5"):
        match_captions(["a", "b"], original, [6])
    nothing = Judged.from_pairs([], [], [], n_queries=0, n_videos=0)
    assert match_captions([], nothing, []).shape == (0,)


@st.composite
def captioned(draw: st.DrawFn) -> tuple[list[str], list[tuple[int, int]], int]:
    """Draw texts, original positives (any number for a query) and the number of videos."""
    texts = draw(TEXTS.filter(bool))
    n_videos = draw(st.integers(1, 4))
    pairs = st.tuples(st.integers(0, len(texts) - 1), st.integers(0, n_videos - 1))
    return texts, draw(st.lists(pairs, unique=True)), n_videos


@given(captioned())
def test_matches_equal_their_definition(
    case: tuple[list[str], list[tuple[int, int]], int],
) -> None:
    texts, pairs, n_videos = case
    rows = similarities(texts, texts, texts)
    expected = [
        [
            max([0.0, *(row[c] for c, of in pairs if of == video and c != query)])
            for video in range(n_videos)
        ]
        for query, row in enumerate(rows)
    ]
    matches = all_matches(texts, original_positives(pairs, len(texts), n_videos))
    assert matches.tolist() == [pytest.approx(row, abs=1e-11) for row in expected]


@given(TEXTS.filter(bool))
def test_similarity_is_symmetric_and_bounded(texts: list[str]) -> None:
    pairs = [(query, query) for query in range(len(texts))]
    matches = all_matches(texts, original_positives(pairs, len(texts), len(texts)))
    assert matches.tolist() == matches.T.tolist()
    assert np.all((matches >= 0) & (matches <= 1))
    for first, text in enumerate(texts):
        for second, other in enumerate(texts):
            assert matches[first, second] == 1 or text != other or text == "" or first == second


def test_blocks_of_pairs_change_nothing(
    many_captions: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    original = original_positives([(query, query % 20) for query in range(300)], 300, 20)
    expected = all_matches(many_captions, original)
    monkeypatch.setattr(module, "_BLOCK_CELLS", 1_000)
    assert all_matches(many_captions, original).tolist() == expected.tolist()


# --- quality of matches ---------------------------------------------------------------------------


def test_score_matches_by_hand() -> None:
    # Pairs 0 to 5 are judged, and 1, 4 and 5 are relevant. Pair 5 has no similarity, and pair 7 is
    # unjudged.
    judged = Judged.from_pairs([0] * 6, range(6), [0, 1, 0, 0, 2, 1], n_queries=1, n_videos=8)
    codes, similarity = [4, 7, 0, 1, 2, 3], np.array([0.9, 1.0, 0.9, 0.5, 0.4, 0.0])
    quality = score_matches(codes, similarity, judged, [0.0, 0.5, 0.9, 1.0])
    assert (quality.judged, quality.relevant) == (5, 2)
    assert quality.labelled.tolist() == [5, 3, 2, 0]
    assert quality.correct.tolist() == [2, 2, 1, 0]
    assert quality.precision.tolist() == [2 / 5, 2 / 3, 1 / 2, 0]
    assert quality.recall.tolist() == [1, 1, 1 / 2, 0]
    assert quality.f1.tolist() == [4 / 7, 4 / 5, 2 / 4, 0]
    # Alpha is 1 - d (2 n - 1) / (N1 N0), for d pairs that differ and n = 5.
    alpha = [1 - 3 * 9 / (7 * 3), 1 - 1 * 9 / (5 * 5), 1 - 2 * 9 / (4 * 6), 1 - 2 * 9 / (2 * 8)]
    assert quality.alpha == pytest.approx(alpha)
    assert quality.best == 1
    graded = score_matches(codes, similarity, judged, [0.5], rel=2)
    assert (graded.relevant, graded.correct.tolist()) == (1, [1])


def test_the_best_threshold_does_not_match_all_pairs_if_captions_say_nothing() -> None:
    rng = np.random.default_rng(0)
    labels, similarity = (rng.random(4000) < 0.15).astype(np.int64), rng.random(4000)
    judged = Judged.from_pairs([0] * 4000, range(4000), labels, n_queries=1, n_videos=4000)
    quality = score_matches(np.arange(4000), similarity, judged)
    # F1 is highest where nearly all pairs match. Alpha is about 0 where few do.
    assert quality.f1.argmax() == 0
    assert quality.labelled[quality.best] < 2000
    assert quality.alpha[quality.best] > quality.alpha[0] + 0.2


def test_score_matches_without_judgments() -> None:
    judged = Judged.from_pairs([], [], [], n_queries=1, n_videos=8)
    quality = score_matches([3], np.array([1.0]), judged)
    assert (quality.judged, quality.relevant, len(quality.thresholds)) == (0, 0, 50)
    for values in (quality.precision, quality.recall, quality.f1):
        assert values.tolist() == [0] * 50


def test_score_matches_refuses_bad_input() -> None:
    judged = Judged.from_pairs([0], [1], [1], n_queries=1, n_videos=2)
    with pytest.raises(ValueError, match="the same length"):
        score_matches([0, 1], np.array([1.0]), judged)
    with pytest.raises(ValueError, match="a pair occurs twice"):
        score_matches([1, 1], np.array([1.0, 0.5]), judged)
    with pytest.raises(ValueError, match="codes: a number is outside of 0 to 1"):
        score_matches([2], np.array([1.0]), judged)


LABELLED = st.dictionaries(
    st.integers(0, 11), st.tuples(st.sampled_from([0, 0.3, 0.5, 1]), st.integers(-1, 2))
)


@given(LABELLED)
def test_score_matches_equals_counting(labels: dict[int, tuple[float, int]]) -> None:
    """`labels` contains similarity and gain by code. The gain is -1 for an unjudged pair."""
    known = {code: gain for code, (_, gain) in labels.items() if gain >= 0}
    judged = Judged.from_pairs(
        [0] * len(known), [*known], [*known.values()], n_queries=1, n_videos=12
    )
    similarity = np.array([alike for alike, _ in labels.values()])
    thresholds = [0, 0.3, 0.4, 0.5, 1]
    quality = score_matches([*labels], similarity, judged, thresholds)
    relevant = {code for code, gain in known.items() if gain >= 1}
    for place, threshold in enumerate(thresholds):
        labelled = {code for code in known if labels[code][0] >= threshold}
        assert quality.labelled[place] == len(labelled)
        assert quality.correct[place] == len(labelled & relevant)
        precision, recall = quality.precision[place], quality.recall[place]
        assert precision == (len(labelled & relevant) / len(labelled) if labelled else 0)
        assert recall == (len(labelled & relevant) / len(relevant) if relevant else 0)
        mean = 2 * precision * recall / (precision + recall) if precision + recall else 0
        assert quality.f1[place] == pytest.approx(mean)
