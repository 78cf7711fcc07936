"""Positions of gold items among pairs."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from operator import itemgetter
from typing import Any

import pytest

from annotation.core.mixing import places_for_gold
from annotation.core.plan import is_gold_due


def places(captions: str, gold: str, *, following: str | None = "z", **options: Any) -> Any:
    """Return the positions of gold items among pairs. Each letter stands for a caption.

    `captions` has a letter per pair, and `gold` has one per gold item. `following` is the caption
    of the next pair. The primary keys of the gold items are consecutive from `key`, 1 by default.
    """
    found = places_for_gold(
        [ord(letter) for letter in captions],
        [(key, ord(letter)) for key, letter in enumerate(gold, start=options.pop("key", 1))],
        following=following and ord(following),
        **{"grouped": True, "seed": 7} | options,
    )
    return found and [place for place, _ in found]


def mixed(captions: str, gold: str, **options: Any) -> str:
    """Return the captions in the order shown, with those of gold items in capitals."""
    found = places_for_gold(
        [ord(letter) for letter in captions],
        [(key, ord(letter)) for key, letter in enumerate(gold, start=options.pop("key"))],
        following=ord("z"),
        grouped=True,
        seed=7,
    )
    assert found is not None
    shown = list(captions)
    for (place, _), letter in sorted(zip(found, gold, strict=True), key=itemgetter(0))[::-1]:
        shown.insert(place, letter.upper())
    return "".join(shown)


@pytest.mark.parametrize(
    ("captions", "following", "free"),
    [
        # A position lies between two captions, or at the end if another caption follows.
        ("aaabbb", "c", {3, 6}),
        ("aaabbb", "b", {3}),
        ("aaabbb", None, {3, 6}),
        ("abc", "c", {1, 2}),
        # There is no position within one caption.
        ("aaaaaa", "a", None),
        ("", "a", None),
        # A gold item is placed only next to pairs of its own caption, if there are any.
        ("aaggbb", "c", {2, 3, 4}),
        ("g", "g", {0, 1}),
        ("aaab", "g", {4}),
        ("", "g", {0}),
    ],
)
def test_gold_among_grouped_pairs(captions: str, following: str, free: set[int] | None) -> None:
    found = [places(captions, "g", following=following, key=key) for key in range(200)]
    if free is None:
        assert found == [None] * 200
    else:
        assert {place for (place,) in found} == free


def test_gold_among_shuffled_pairs_is_equally_likely_anywhere() -> None:
    found = Counter(places("agab", "g", grouped=False, key=key)[0] for key in range(5000))
    assert sorted(found) == [0, 1, 2, 3, 4]
    # Gold need not be next to pairs of its caption, because shuffled pairs are not grouped.
    assert all(900 < count < 1100 for count in found.values())


def test_an_item_without_a_position_delays_all_items() -> None:
    assert places("gaaa", "gx", following="a") is not None
    assert places("gggg", "gx", following="g") is None
    assert places("gaaa", "", following="a") == []


def test_gold_never_splits_a_caption() -> None:
    for key in range(300):
        shown = mixed("aabbcc", "xbcay", key=key)
        assert len(shown) == 11
        captions = [caption for caption, _ in groupby(shown.lower())]
        assert len(captions) == len(set(captions)), shown


def test_positions_are_determined_by_pairs_and_seed() -> None:
    first = [places("aabbcc", "xyz", key=key) for key in range(50)]
    assert [places("aabbcc", "xyz", key=key) for key in range(50)] == first
    assert [places("aabbcc", "xyz", key=key, seed=8) for key in range(50)] != first


def test_gold_is_due_at_its_share_and_at_different_positions_for_each_annotator() -> None:
    drawn = {
        annotator: [place for place in range(20_000) if is_gold_due(place, annotator, 0.03, 5)]
        for annotator in (1, 2)
    }
    assert [len(found) for found in drawn.values()] == [574, 636]
    # By chance, about 20,000 × 0.03² = 18 positions have gold for both.
    assert len(set(drawn[1]) & set(drawn[2])) == 25
    assert [is_gold_due(place, 1, 0.0, 5) for place in range(100)] == [False] * 100
    assert [is_gold_due(place, 1, 1.0, 5) for place in range(100)] == [True] * 100
