"""The elements of a caption."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.core.elements import split_elements

WORDS = (
    "a the man woman is are red three falls down up in front of next to without not swimming "
    "pool , . — 🐱 👨\u200d👩\u200d👧 كلب बच्चा 一个男人 isn't 50% - ' & above left Into he she"
).split()

captions = st.one_of(
    st.text(),
    st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join),
    st.lists(st.sampled_from([*WORDS, " ", "  ", "\n"]), max_size=40).map("".join),
)


def places(caption: str, elements: list[str]) -> list[int]:
    """Return the position of each element in the caption, after the previous element."""
    found, at = [], 0
    for element in elements:
        at = caption.index(element, at)
        found.append(at)
        at += len(element)
    return found


def split(caption: str) -> str:
    return " | ".join(split_elements(caption))


@pytest.mark.parametrize(
    ("caption", "expected"),
    [
        (
            "a large red circle moves left above a small blue square",
            "large | red | circle | moves | left | above | small | blue | square",
        ),
        ("a man is playing a guitar", "man | playing | guitar"),
        ("Three men, in a field, are FIGHTING.", "Three | men | field | FIGHTING"),
        ("a man opens a can of chili paste", "man | opens | can | chili | paste"),
        ("several people are riding the bus", "several | people | riding | bus"),
        ("one dog jumps into a pool", "one | dog | jumps | into | pool"),
        ("it is a fantastic knockout", "fantastic | knockout"),
        # Spatial phrases of several words, and words that belong to the verb before them.
        ("a cat sits on  top of a box", "cat | sits | on  top of | box"),
        ("in front of a house", "in front of | house"),
        ("a girl stands next to her toy", "girl | stands | next to | toy"),
        ("a boy falls down and gets up", "boy | falls down | gets up"),
        ("it goes up, down and up again", "goes up | down | up | again"),
        # A word that ends in -ing and a noun such as "pool" directly after it are one element.
        ("a dog drinks from a swimming pool", "dog | drinks | swimming pool"),
        ("a man is riding a machine", "man | riding | machine"),
        ("a king pool", "king pool"),
        # Negations, up to the word that they negate.
        ("a man without a shirt isn't moving", "man | without a shirt | isn't moving"),
        ("a dog is not the cat", "dog | not the cat"),
        ("never, a man says no", "never | man | says | no"),
        # A pronoun is an element only if no person has been named before.
        ("he is riding his horse", "he | riding | horse"),
        ("They're dancing", "They're | dancing"),
        ("a man sings while he walks", "man | sings | walks"),
        ("someone is doing something", "someone"),
        # Signs, numbers and hyphens.
        ("a 50% off sign costs $3,50", "50% off | sign | costs | $3 | 50"),
        ("black & white + well-known dogs' toys", "black | white | well-known | dogs | toys"),
        ("the boys\u2019 rock\u2019n\u2019roll", "boys | rock\u2019n\u2019roll"),
        ("cat,dog/horse — a bird", "cat | dog | horse | bird"),
        # Other scripts.
        ("一个男人在弹吉他，旁边有一只猫", "一个男人在弹吉他 | 旁边有一只猫"),
        ("\u200fكلب بني، يجري في الحديقة", "كلب | بني | يجري | في | الحديقة"),
        ("एक किताब पढ़ रहा है।", "एक | किताब | पढ़ | रहा | है"),
        ("👨\u200d👩\u200d👧 dance 🐱🐱", "👨\u200d👩\u200d👧 | dance | 🐱🐱"),
        ("می\u200cخواهد", "می\u200cخواهد"),
        # No word names an element, so the element is the whole caption.
        ("this is it ", "this is it"),
        (" ... ", "..."),
        ("&", "&"),
        ("\u200b\u2066a\u2069", "a"),
        ("", ""),
        (" \n\u200b\u00a0", ""),
    ],
)
def test_elements_of_a_caption(caption: str, expected: str) -> None:
    assert split(caption) == expected


def test_words_of_one_phrase_are_joined_first_above_the_limit() -> None:
    caption = (
        "a large white dog sniffs a small yellow duck who then pecks the dog, wet and happy, "
        "on his face"
    )

    assert split_elements(caption, 12) == (
        "large white dog sniffs small yellow duck pecks dog wet happy face".split()
    )
    assert split(caption) == (
        "large white | dog sniffs | small yellow | duck | pecks | dog | wet | happy | face"
    )
    assert split_elements(caption, 8) == [
        "large white",
        "dog sniffs",
        "small yellow",
        "duck",
        "pecks the dog",
        "wet",
        "happy",
        "face",
    ]
    assert split_elements(caption, 6) == [
        "large white",
        "dog sniffs",
        "small yellow",
        "duck who then pecks",
        "dog, wet",
        "happy, on his face",
    ]


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (4, "b c | d e f | g h | j k l"),
        (3, "b c d | e f g | h j k l"),
        (1, "b c d e f g h j k l"),
        (9, "b c | d | e | f | g | h | j | k | l"),
        (10, "b | c | d | e | f | g | h | j | k | l"),
    ],
)
def test_groups_are_even_far_above_the_limit(limit: int, expected: str) -> None:
    assert " | ".join(split_elements("b c d e f g h j k l", limit)) == expected


@given(captions, st.integers(1, 12))
def test_elements_are_parts_of_the_caption_in_order(caption: str, limit: int) -> None:
    elements = split_elements(caption, limit)

    assert len(elements) <= limit
    assert len(places(caption, elements)) == len(elements)
    assert all(element.strip() == element != "" for element in elements)
    assert split_elements(caption, limit) == elements
    assert bool(elements) == any(c.isprintable() and not c.isspace() for c in caption)


@given(captions, st.integers(1, 12))
def test_a_lower_limit_only_joins_elements(caption: str, limit: int) -> None:
    fine = split_elements(caption, 10_000)
    coarse = split_elements(caption, limit)

    assert len(coarse) == min(len(fine), limit)
    assert len(places("\n".join(coarse), fine)) == len(fine)


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(limit: int) -> None:
    with pytest.raises(ValueError, match="limit must be at least 1"):
        split_elements("a cat", limit)


@pytest.mark.parametrize(
    "piece",
    [
        "a man falls down, ",
        "x",
        "-a",
        "in ",
        "in  front ",
        "not ",
        "'",
        "🐱",
        "猫",
        "\u0301",
        "on\t",
    ],
)
def test_time_grows_linearly_with_the_length(piece: str) -> None:
    def seconds(length: int) -> float:
        caption = (piece * length)[:length]
        best = float("inf")
        for _ in range(3):
            begin = time.process_time()  # not affected by other programs
            split_elements(caption)
            best = min(best, time.process_time() - begin)
        return best

    # For ten times the length, quadratic time would be a hundred times as long.
    assert seconds(100_000) < 40 * seconds(10_000) + 0.05
