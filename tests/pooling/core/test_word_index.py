"""The word index compared with a search in the texts themselves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooling.core.word_index import WordIndex

TEXTS = ["A Man plays Guitar k#1", "a woman sings", "GUITARS, straße", "", "a man a man k#2"]


@pytest.mark.parametrize(
    ("search", "numbers"),
    [
        ("guitar", [0, 2]),
        ("GUITAR man", [0]),
        ("man", [0, 1, 4]),
        ("STRASSE", [2]),
        ("k#2", [4]),
        ("nothing", []),
        ("", [0, 1, 2, 3, 4]),
        ("  ", [0, 1, 2, 3, 4]),
    ],
)
def test_texts_that_contain_all_parts(search: str, numbers: list[int]) -> None:
    assert WordIndex.of(TEXTS).containing(search).tolist() == numbers


def test_an_index_without_texts_finds_nothing() -> None:
    assert WordIndex.of([]).containing("a").tolist() == []


words = st.text(alphabet="abAB \n", max_size=12)


@given(texts=st.lists(words, max_size=8), search=words)
def test_the_index_equals_a_search_in_the_texts(texts: list[str], search: str) -> None:
    expected = [
        number
        for number, text in enumerate(texts)
        if all(
            any(part in word for word in text.casefold().split())
            for part in search.casefold().split()
        )
    ]
    assert WordIndex.of(texts).containing(search).tolist() == expected
