"""Positions of gold items among pairs."""

from __future__ import annotations

from itertools import cycle, groupby
from operator import itemgetter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.core.mixing import Mixed, mix_gold, planned_gold


def mixed(captions: str, gold: str, *, due: str = "", **options: Any) -> str:
    """Return the captions in the order shown, with those of gold items in capitals.

    `captions` has a letter per pair, and `gold` has one per gold item. `due` has a digit per place,
    the number of gold items that become due there, by default as many zeros as there are items.
    """
    found = mix_gold(
        captions,  # type: ignore[arg-type]
        gold,  # type: ignore[arg-type]
        due=[int(digit) for digit in due or "0" * (len(captions) + len(gold))],
        **{"owed": 0, "last": None, "grouped": True} | options,
    )
    return shown(found, captions, gold)


def shown(found: Mixed, captions: str, gold: str) -> str:
    return "".join(
        gold[item.index].upper() if item.is_gold else captions[item.index] for item in found.items
    )


@pytest.mark.parametrize(
    ("captions", "gold", "options", "expected"),
    [
        # Gold of another caption comes at the next change of caption.
        ("aaabbb", "g", {"due": "0100000"}, "aaaGbbb"),
        ("aaabbb", "g", {"owed": 1, "last": "a"}, "aaaGbbb"),
        ("aaabbb", "g", {"owed": 1, "last": "c"}, "Gaaabbb"),
        ("aaabbb", "g", {"owed": 1}, "Gaaabbb"),
        # Only pairs show whether the caption changes, so none comes after the last pair.
        ("aaa", "g", {"due": "0100"}, "aaa"),
        ("", "g", {"owed": 1}, ""),
        # Gold of the caption on the screen comes at once, even after its last pair.
        ("aaabbb", "a", {"due": "0100000"}, "aAaabbb"),
        ("bbb", "a", {"owed": 1, "last": "a"}, "Abbb"),
        # Gold of the following caption is next to its pairs, after all other gold.
        ("bbb", "gb", {"owed": 1, "last": "a"}, "Bbbb"),
        ("bbb", "bg", {"owed": 2, "last": "a"}, "GBbbb"),
        ("bbb", "gbx", {"owed": 2, "last": "a"}, "GBbbb"),
        ("bbb", "bagx", {"owed": 4, "last": "a"}, "AGXBbbb"),
        # All that is due is given at the next change.
        ("aabb", "uvwxyz", {"due": "0110000", "owed": 2, "last": "a"}, "aaUVWXb"),
        # In shuffled campaigns, gold comes as soon as it is due.
        ("aaa", "gh", {"due": "01020", "grouped": False}, "aGaHa"),
    ],
)
def test_gold_among_pairs(captions: str, gold: str, options: dict[str, Any], expected: str) -> None:
    assert mixed(captions, gold, **options) == expected


def test_gold_that_is_used_up_is_not_owed() -> None:
    found = mix_gold([1, 2], [9], due=[3, 3, 3], owed=5, last=None, grouped=True)
    assert (len(found.items), found.owed) == (3, 0)
    assert mix_gold([1, 1], [9, 9], due=[0], owed=5, last=1, grouped=True).owed == 2


# The sizes of the groups of captions, of claims, the captions of gold items, and the share.
QUEUES = st.tuples(
    st.lists(st.integers(1, 20), min_size=1, max_size=8),
    st.lists(st.integers(1, 20), min_size=1, max_size=20),
    st.lists(st.integers(0, 10), max_size=10),
    st.sampled_from([0.01, 0.1, 0.3, 0.5]),
    st.integers(0, 2**32),
)


@settings(max_examples=40, deadline=None)
@given(QUEUES)
def test_sizes_of_claims_change_nothing(queue: Any) -> None:
    """However an annotator claims, the items are the same and as many are gold as planned."""
    groups, claims, of_gold, share, seed = queue
    pairs = [caption for caption, size in enumerate(groups) for _ in range(size)]
    # Gold of other captions is never used up.
    gold = [*of_gold, *range(1000, 1000 + 2 * len(pairs))]
    at_once = walk(pairs, gold, [len(pairs) + len(gold)], share, seed)
    assert walk(pairs, gold, claims, share, seed) == at_once
    assert walk(pairs, gold, [1], share, seed) == at_once

    bound = 2 + share * max(groups)
    n_gold = np.cumsum([is_gold for _, is_gold in at_once])
    planned = share * np.arange(1, len(at_once) + 1)
    assert np.abs(n_gold - planned).max() <= bound

    # Nothing comes between two pairs of a caption, except gold of this caption.
    runs = [(caption, list(run)) for caption, run in groupby(at_once, key=itemgetter(0))]
    with_pairs = [caption for caption, run in runs if not all(is_gold for _, is_gold in run)]
    assert with_pairs == list(range(len(groups)))


def walk(
    pairs: list[int], gold: list[int], claims: list[int], share: float, seed: int
) -> list[tuple[int, bool]]:
    """Claim until no pair is left, with the sizes of `claims` again and again.

    Return the caption of each item, and whether it is gold.
    """
    given: list[tuple[int, bool]] = []
    owed = 0
    for count in cycle(claims):
        if not pairs:
            return given
        places = len(given) + np.arange(count + 1)
        found = mix_gold(
            pairs[:count],
            gold,
            due=np.diff(planned_gold(places, 5, share, seed)).tolist(),
            owed=owed,
            last=given[-1][0] if given else None,
            grouped=True,
        )
        owed = found.owed
        given += [
            ((gold if item.is_gold else pairs)[item.index], item.is_gold) for item in found.items
        ]
        taken = {item.index for item in found.items if item.is_gold}
        gold = [caption for index, caption in enumerate(gold) if index not in taken]
        pairs = pairs[len(found.items) - len(taken) :]
    raise AssertionError


def test_gold_is_due_at_its_share_and_at_different_places_for_each_annotator() -> None:
    places = np.arange(20_001)
    due = {annotator: np.diff(planned_gold(places, annotator, 0.03, 5)) for annotator in (1, 2)}
    assert [int(found.sum()) for found in due.values()] == [600, 600]
    assert max(int(found.max()) for found in due.values()) == 1
    # By chance, about 20,000 × 0.03² = 18 positions have gold for both.
    assert int((due[1] & due[2]).sum()) == 21
    for length in (1, 10, 33, 1000):
        in_a_row = np.lib.stride_tricks.sliding_window_view(due[1], length).sum(axis=1)
        assert np.abs(in_a_row - 0.03 * length).max() < 2
    # Gold is as likely at each place of its section, and the first section can end at any place.
    firsts = [int(np.argmax(np.diff(planned_gold(places[:200], n, 0.1, 5)))) for n in range(2000)]
    assert np.bincount(firsts, minlength=20)[:3].min() > 150
    assert np.diff(planned_gold(places, 1, 0.0, 5)).tolist() == [0] * 20_000
    assert np.diff(planned_gold(places, 1, 1.0, 5)).sum() in range(19_998, 20_003)
