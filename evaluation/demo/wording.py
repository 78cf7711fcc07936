"""The words of the demo captions: several wordings for each meaning.

The first wording is the most common one. All wordings of a meaning are exact synonyms. Whether a
caption is true of a video is therefore decidable, although comparing words is not enough.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from evaluation.demo.shapes import Background, Colour, Form, Motion, Relation, Size

SHAPE_WORDS = ("shape", "object", "thing")
"""Nouns for a figure whose form is not described."""

WORDINGS: Mapping[StrEnum, tuple[str, ...]] = {
    Form.CIRCLE: ("circle", "disc", "ball"),
    Form.SQUARE: ("square", "box", "block"),
    Form.TRIANGLE: ("triangle", "pyramid"),
    Form.STAR: ("star", "five-pointed star"),
    Colour.RED: ("red", "crimson", "scarlet"),
    Colour.BLUE: ("blue", "azure"),
    Colour.GREEN: ("green", "emerald"),
    Colour.YELLOW: ("yellow", "golden"),
    Colour.PURPLE: ("purple", "violet"),
    Colour.ORANGE: ("orange", "tangerine"),
    Size.SMALL: ("small", "little", "tiny"),
    Size.LARGE: ("large", "big", "huge"),
    Motion.LEFT: ("moves left", "slides left", "goes from right to left"),
    Motion.RIGHT: ("moves right", "slides right", "goes from left to right"),
    Motion.UP: ("moves up", "rises", "climbs from the bottom to the top"),
    Motion.DOWN: ("moves down", "falls", "sinks from the top to the bottom"),
    Motion.SPINS: ("spins", "rotates", "turns around itself"),
    Motion.GROWS: ("grows", "gets bigger", "expands"),
    Motion.BOUNCES: ("bounces", "hops up and down", "jumps up and down"),
    Motion.STILL: ("stands still", "does not move", "stays in place"),
    Background.WHITE: ("on a white background", "in front of a white wall"),
    Background.BLACK: ("on a black background", "in front of a black wall"),
    Background.GREY: ("on a grey background", "in front of a gray wall"),
    Relation.ABOVE: ("above", "higher up than"),
    Relation.BELOW: ("below", "under", "beneath"),
    Relation.LEFT_OF: ("to the left of", "on the left side of"),
    Relation.RIGHT_OF: ("to the right of", "on the right side of"),
}

COUNT_WORDINGS: Mapping[int, tuple[str, ...]] = {
    1: ("just one shape", "a single shape"),
    2: ("just two shapes", "exactly two shapes"),
    3: ("three shapes", "three shapes together"),
}
COUNT_ENDINGS: Mapping[int, tuple[str, ...]] = {
    1: ("all alone", "with nothing else around"),
    2: ("in a video of just two shapes", "with just one other shape in the picture"),
    3: ("in a video of three shapes", "with two other shapes in the picture"),
}

# Probability that an author uses the favourite wording. Otherwise all wordings are equally likely.
_HABIT = 0.8
# Probability that the first wording becomes the favourite. Otherwise all are equally likely.
_COMMON = 0.6


@dataclass(slots=True)
class Author:
    """The author of the captions of one video, who prefers some words, as people do.

    Captioning data sets have the same pattern: captions of one video by one author resemble each
    other more than captions with the same meaning by other authors.
    """

    rng: random.Random
    favourites: dict[StrEnum, str] = field(default_factory=dict)

    def word(self, meaning: StrEnum) -> str:
        """Return a wording of `meaning`, usually the author's favourite."""
        choices = WORDINGS[meaning]
        if meaning not in self.favourites:
            common = self.rng.random() < _COMMON
            self.favourites[meaning] = choices[0] if common else self.rng.choice(choices)
        if self.rng.random() < _HABIT:
            return self.favourites[meaning]
        return self.rng.choice(choices)

    def pick(self, choices: tuple[str, ...]) -> str:
        """Return one of the choices at random, without a favourite."""
        return self.rng.choice(choices)


def with_article(noun: str) -> str:
    """Return the noun with "a" or "an" before it."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
