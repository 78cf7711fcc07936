"""The meaning of captions, and whether captions are true of a scene written by hand."""

from __future__ import annotations

import random

import pytest

from evaluation.demo.captions import (
    MAX_LEVEL,
    Meaning,
    Phrase,
    demands_met,
    draw_meaning,
    is_true,
    write,
)
from evaluation.demo.reading import read, vocabulary
from evaluation.demo.shapes import (
    Background,
    Colour,
    Figure,
    Form,
    Motion,
    Relation,
    Scene,
    Size,
    draw_scene,
    holds,
)
from evaluation.demo.wording import WORDINGS, Author

# A large red circle moves left through the top row. A small blue square stands in the middle, and
# a small red star spins in the lower right corner.
CIRCLE = Figure(Form.CIRCLE, Colour.RED, Size.LARGE, Motion.LEFT, column=0, row=0)
SQUARE = Figure(Form.SQUARE, Colour.BLUE, Size.SMALL, Motion.STILL, column=1, row=1)
STAR = Figure(Form.STAR, Colour.RED, Size.SMALL, Motion.SPINS, column=2, row=2)
SCENE = Scene((CIRCLE, SQUARE, STAR), Background.GREY)


@pytest.mark.parametrize(
    ("text", "true"),
    [
        ("a red shape", True),
        ("a green shape", False),
        ("a large red circle moves left above a small blue square", True),
        ("a large red circle moves right above a small blue square", False),
        ("a large red circle moves left below a small blue square", False),
        ("a small blue square above a large red circle", False),
        ("a tiny azure box beneath a huge crimson ball that goes from right to left", True),
        ("a small red circle", False),  # the red circle is large
        ("a red circle and a red star", True),
        ("a red circle and a red circle", False),  # there is only one
        ("a red shape and a red shape", True),
        ("a red shape, a red shape and a red shape", False),
        ("a square to the left of a star", True),
        ("a star on the right side of a square", True),
        (
            "a circle to the right of a star",
            False,
        ),  # only at the beginning, in the upper right corner
        ("a star to the right of a circle", False),  # only at the end
        ("a circle above a star", True),
        ("a circle on a grey background", True),
        ("a circle on a black background", False),
        ("a star spins in front of a gray wall", True),
        ("a star stands still", False),
        ("a square does not move", True),
    ],
)
def test_a_caption_is_true_or_false(text: str, true: bool) -> None:
    assert is_true(read(text, vocabulary(3)), SCENE) is true


def test_the_number_of_shapes_must_be_exact() -> None:
    assert [is_true(Meaning(count=count), SCENE) for count in (1, 2, 3)] == [False, False, True]


def test_met_demands_are_counted_for_the_best_assignment() -> None:
    # In the best assignment, the first phrase gets the star and the second the square. Five
    # demands are met: both figures exist, the first is a star and is red, and the second is a
    # square. Three are not met: green, the star above the square, and a white background.
    phrases = (Phrase(Form.STAR, Colour.RED), Phrase(Form.SQUARE, Colour.GREEN))
    meaning = Meaning(phrases, Relation.ABOVE, Background.WHITE)

    assert meaning.demands() == 8
    assert demands_met(meaning, SCENE) == 5


@pytest.mark.parametrize("count", [1, 2, 3])
def test_more_phrases_than_figures_are_never_true(count: int) -> None:
    scene = Scene(SCENE.figures[:count], Background.WHITE)

    assert is_true(Meaning((Phrase(),) * count), scene)
    assert not is_true(Meaning((Phrase(),) * (count + 1)), scene)


def test_every_caption_has_its_meaning_and_is_true_of_its_scene() -> None:
    rng, known = random.Random(7), vocabulary(3)
    for _ in range(300):
        scene, author = draw_scene(rng), Author(rng)
        for level in range(MAX_LEVEL + 1):
            meaning = draw_meaning(rng, scene, level)
            text = write(meaning, author)
            assert is_true(meaning, scene), text
            if meaning.count is None:
                assert read(text, known) == meaning, text


def test_every_wording_has_one_meaning() -> None:
    wordings = [wording for choices in WORDINGS.values() for wording in choices]

    assert len(set(wordings)) == len(wordings)


def test_opposite_relations_contradict_in_a_scene() -> None:
    rng = random.Random(3)
    for _ in range(300):
        for first in (figures := draw_scene(rng).figures):
            for second in figures:
                if first is second:
                    continue
                above, below, left, right = (holds(r, first, second) for r in Relation)
                assert not (above and below)
                assert not (left and right)
                assert above == holds(Relation.BELOW, second, first)
                assert left == holds(Relation.RIGHT_OF, second, first)
