"""The parts of captions, and the pairs that detectors find (Maeoki et al., equations 5 to 8)."""

from __future__ import annotations

import numpy as np
import pytest

from pooling.core.equal_texts import EXACT, first_equal
from pooling.core.proxies.embeddings import unit_vectors
from pooling.core.proxies.parsing import Tagger
from pooling.relevant_pairs.core import detection
from pooling.relevant_pairs.core.detection import (
    candidates_of,
    detect,
    fill_confidence,
    maxima,
    with_equal_texts,
)
from pooling.relevant_pairs.core.phrases import Detector, Parts, parts_of, parts_of_captions

PARTS = {
    "man and woman start dancing": (
        ["start dancing", "dancing"],
        ["man start dancing", "woman start dancing", "man dancing", "woman dancing"],
    ),
    "person turn a light on.": (["turn a light on"], ["person turn a light on"]),
    "person close the door.": (["close the door"], ["person close the door"]),
    "a person undresses, then takes a towel and begins to wash": (
        ["undresses", "takes a towel", "begins to wash", "wash"],
        [f"person {phrase}" for phrase in ("undresses", "takes a towel", "begins to wash", "wash")],
    ),
    "a man sits while a woman dances": (["sits", "dances"], ["man sits", "woman dances"]),
    "a dog can be seen running to the left.": (
        ["can be seen running to the left", "running to the left"],
        ["dog can be seen running to the left", "dog running to the left"],
    ),
    "he was smiling": (["was smiling"], []),
    "upon awakening.": ([], []),
}


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger()


@pytest.mark.parametrize("caption", PARTS)
def test_parts_are_verb_phrases_or_nouns_with_verb_phrases(tagger: Tagger, caption: str) -> None:
    phrases, with_nouns = PARTS[caption]
    assert parts_of(caption, Detector.SENT, tagger) == [caption]
    assert parts_of(caption, Detector.VP, tagger) == [caption, *phrases]
    assert parts_of(caption, Detector.NP_VP, tagger) == [caption, *with_nouns]


def test_equal_parts_are_embedded_once() -> None:
    found = parts_of_captions(["person opens a door", "the person opens a door"], Detector.VP)
    assert found.texts == ["person opens a door", "opens a door", "the person opens a door"]
    assert (found.of.tolist(), found.starts.tolist()) == ([0, 1, 2, 1], [0, 2])


def test_worked_example() -> None:
    cosines = np.array([[0.42, 0.38, 0.55], [0.61, 0.72, 0.30]])
    assert maxima(cosines, np.array([0]), np.array([0])).tolist() == [[0.72]]
    rest = np.sqrt(1 - (cosines**2).sum(axis=0))
    vectors = np.vstack([np.eye(2, 5), np.column_stack([cosines.T, np.diag(rest)])])
    parts = Parts(["a0", "a1", "b0", "b1", "b2"], np.arange(5), np.array([0, 2]))
    found = detect(parts, vectors.astype(np.float32), 0.7)
    assert (found.first.tolist(), found.second.tolist()) == ([0], [1])
    assert found.similarity.tolist() == pytest.approx([0.72])
    assert found.confidence.tolist() == pytest.approx([0.42])
    assert len(found.at_least(0.8)) == len(detect(parts, vectors.astype(np.float32), 0.8)) == 0


@pytest.mark.parametrize("cells", [1, 50, 10**6])
def test_blocks_give_what_all_pairs_give(cells: int) -> None:
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 4, size=12)
    starts, of = np.cumsum(sizes) - sizes, rng.integers(15, size=sizes.sum())
    vectors = unit_vectors(rng.normal(size=(15, 4)))
    found = detect(Parts([""] * 15, of, starts), vectors, 0.6, cells=cells)
    expected = []
    groups = np.split(vectors[of], starts[1:])
    for first in range(12):
        for second in range(first + 1, 12):
            highest = (groups[first] @ groups[second].T).max()
            if highest >= np.float32(0.6):
                own = max(float(groups[first][0] @ groups[second][0]), 0)
                expected.append((first, second, float(highest), own))
    found_rows = zip(found.first, found.second, found.similarity, found.confidence, strict=True)
    assert len(found) == len(expected) > 10
    for row, wanted in zip(found_rows, expected, strict=True):
        assert row == pytest.approx(wanted, abs=1e-6)


def test_candidates_are_the_moments_of_other_captions() -> None:
    """Captions 0, 2 and 3 share a text, which is detected with that of caption 1."""
    captions = ["closes a door", "shuts a door", "closes a door", "closes a door"]
    equal = first_equal(captions, EXACT)
    one = (np.array([0]), np.array([1]))
    values = (np.array([0.9], np.float32), np.array([0.8], np.float32))
    found = with_equal_texts(detection.Detected(*one, *values), equal)
    assert (found.first.tolist(), found.second.tolist()) == ([0, 0], [0, 1])
    pairs = candidates_of(found, equal, np.array([2, 1]))
    assert list(zip(pairs.query.tolist(), pairs.other.tolist(), strict=True)) == [
        (2, 0), (2, 1), (2, 3), (1, 0), (1, 2), (1, 3),
    ]  # fmt: skip
    assert found.confidence[pairs.index].tolist() == pytest.approx([1, 0.8, 1, 0.8, 0.8, 0.8])
    matrix = np.zeros((4, 3), np.float32)
    fill_confidence(matrix, found, equal, (np.arange(4), np.array([0, 1, 1, 2])))
    assert matrix.tolist() == pytest.approx(
        np.array([[0, 1, 1], [0.8, 0.8, 0.8], [1, 0.8, 1], [1, 1, 0]])
    )


def test_without_detected_pairs_nothing_is_a_candidate() -> None:
    found = with_equal_texts(
        detect(Parts(["a", "b"], np.arange(2), np.arange(2)), np.eye(2, dtype=np.float32), 0.5),
        np.arange(2),
    )
    assert len(candidates_of(found, np.arange(2), np.arange(2)).query) == 0
