"""The rules for captions with equal texts."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooling.core.equal_texts import EXACT, FOLDED, OFF, first_equal, folded
from pooling.enums import EqualTexts


def test_rules_are_those_of_the_setting() -> None:
    assert {FOLDED, EXACT, OFF} == set(EqualTexts.values)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (FOLDED, [0, 0, 0, 3, 0, 5]),
        (EXACT, [0, 1, 2, 3, 0, 5]),
        (OFF, [0, 1, 2, 3, 4, 5]),
    ],
)
def test_first_equal_follows_the_rule(rule: str, expected: list[int]) -> None:
    texts = [
        "a man runs",
        "A man  runs.",
        " a man runs !\n",
        "a man ran",
        "a man runs",
        "a-man runs",
    ]
    assert first_equal(texts, rule).tolist() == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Cafe\u0301.", "caf\u00e9"),  # NFC joins the accent
        ("STRASSE", "strasse"),
        ("Stra\u00dfe", "strasse"),  # case folding, not lower case
        ("who? me?!", "who? me"),  # only the end is stripped
        ("a\u3000b\u00a0c", "a b c"),  # every Unicode space
        ("he said \u201cgo\u201d\u2026", "he said \u201cgo"),
        ("?!", "?!"),  # kept, because nothing else would be left
        ("", ""),
    ],
)
def test_folded_form(text: str, expected: str) -> None:
    assert folded(text) == expected


@given(st.text(max_size=30))
def test_folding_twice_changes_nothing(text: str) -> None:
    assert folded(folded(text)) == folded(text)


@given(st.text(st.characters(codec="ascii"), max_size=10))
def test_ascii_is_folded_like_other_texts(text: str) -> None:
    assert folded(f"\u00e9{text}") == f"\u00e9{folded(f'x{text}')[1:]}"


@given(st.text(max_size=30))
def test_folding_ignores_case_spaces_and_composition(text: str) -> None:
    assert folded(unicodedata.normalize("NFD", text)) == folded(text)
    assert folded(f"  {text}\n") == folded(text)
    assert folded(text.casefold()) == folded(text)
