"""METEOR of all pairs, compared with NLTK's function for one pair."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.translate.meteor_score import single_meteor_score

from hearth.shared.errors import Cancelled
from pooling.core.proxies import meteor
from pooling.core.proxies.compute import METEOR, compute
from pooling.core.proxies.meteor import Synonyms
from tests.pooling.core.proxies.made_wordnet import SYNSETS

WORDS = sorted(
    {word for synsets in SYNSETS.values() for words, _ in synsets for word in words.split()}
    | set("The the a A cars machines automobiles plates hands washing running dying sky".split())
)
CAPTIONS = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)


def by_nltk(reference: str, hypothesis: str, reader: object) -> float:
    return single_meteor_score(reference.split(), hypothesis.split(), wordnet=reader)


def matrix(rows, columns, wordnet, synonyms=Synonyms.OF_STEMS):
    out = np.zeros((len(rows), len(columns)))
    return compute(METEOR(wordnet, synonyms), rows, columns, out=out)


@given(st.lists(CAPTIONS, min_size=1, max_size=6), st.lists(CAPTIONS, min_size=1, max_size=6))
@settings(max_examples=150, deadline=None)
def test_each_pair_has_the_score_of_nltk(wordnet, nltk_wordnet, rows, columns) -> None:
    found = matrix([[row] for row in rows], [[column] for column in columns], wordnet)
    expected = [[by_nltk(row, column, nltk_wordnet) for column in columns] for row in rows]
    assert found.tolist() == expected


def test_long_captions_have_the_score_of_nltk(wordnet, nltk_wordnet) -> None:
    """Captions of up to 63 words fit into the bits of an integer, and longer ones do not."""
    rng = random.Random(1)
    texts = [" ".join(rng.choices(WORDS[:25], k=k)) for k in (5, 62, 63, 64, 65, 150)]
    found = matrix([[row] for row in texts], [[column] for column in texts], wordnet)
    expected = [[by_nltk(row, column, nltk_wordnet) for column in texts] for row in texts]
    assert found.tolist() == expected


def test_many_columns_are_written_in_blocks(wordnet, nltk_wordnet, monkeypatch) -> None:
    monkeypatch.setattr(meteor, "_BLOCK_COLUMNS", 2)
    texts = ["take plate", "take a plate", "take plate", "wash hands", "", "wash a hand"]
    found = matrix([[row] for row in texts], [[column] for column in texts], wordnet)
    expected = [[by_nltk(row, column, nltk_wordnet) for column in texts] for row in texts]
    assert found.tolist() == expected


def test_a_caption_against_itself(wordnet) -> None:
    """A caption of n words has the score 1 - 0.5 / n³ with itself, never 1."""
    for n, expected in [(1, 0.5), (2, 0.9375), (3, 1 - 0.5 / 27)]:
        text = " ".join(["stir", "the", "soup"][:n])
        assert matrix([[text]], [[text]], wordnet)[0, 0] == pytest.approx(expected, abs=1e-15)


def test_synonyms_are_lost_by_stemming(wordnet) -> None:
    """NLTK looks up the stem "automobil", which has no synonyms."""
    rows, columns = [["automobile"]], [["car"], ["automobiles"]]
    assert matrix(rows, columns, wordnet).tolist() == [[0.0, 0.5]]
    assert matrix(rows, columns, wordnet, Synonyms.OF_WORDS).tolist() == [[0.5, 0.5]]


def test_rows_and_columns_are_not_symmetric(wordnet) -> None:
    texts = ["take plate", "put down plate"]
    found = matrix([[text] for text in texts], [[text] for text in texts], wordnet)
    assert found.round(4).tolist() == [[0.9375, 0.2381], [0.1724, 0.9815]]


def test_groups_of_captions_are_compared_by_the_match_kernel(wordnet, nltk_wordnet) -> None:
    """`fill_meteor` describes the match kernel."""
    rows = [["take plate", "take a plate", "wash hands"], [], ["run"], ["run", "run"]]
    columns = [["take the plate", "run"], ["wash a hand"], [], ["wash a hand"]]
    expected = np.zeros((4, 4))
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            if row and column:
                pairs = np.array([[by_nltk(a, b, nltk_wordnet) for b in column] for a in row])
                expected[i, j] = (pairs.max(axis=1).mean() + pairs.max(axis=0).mean()) / 2
    assert matrix(rows, columns, wordnet) == pytest.approx(expected, abs=1e-15)


def test_progress_can_cancel(wordnet) -> None:
    def cancel(done: int, total: int | None, phase: str = "") -> None:
        raise Cancelled(f"{done} of {total} {phase}")

    with pytest.raises(Cancelled, match="0 of 1 comparing captions"):
        compute(METEOR(wordnet), [["a"]], [["b"]], progress=cancel)


def test_options(wordnet) -> None:
    from nltk import __version__

    assert METEOR(wordnet).options == {
        "method": "METEOR",
        "synonyms": "of stems (as NLTK), WordNet 3.0",
        "stems": f"NLTK {__version__}",
    }
