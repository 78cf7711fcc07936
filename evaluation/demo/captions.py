"""Meanings of captions, their truth in a scene, and their wording.

A caption is true of a scene if each phrase describes a different figure, the first two figures are
in the described relation, and background and number of figures match. A relation must hold from
the first frame to the last.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import permutations

from evaluation.demo import shapes, wording


@dataclass(frozen=True, slots=True)
class Phrase:
    """The description of one figure in a caption. An attribute is None if it is not described."""

    form: shapes.Form | None = None
    colour: shapes.Colour | None = None
    size: shapes.Size | None = None
    motion: shapes.Motion | None = None

    def described(self) -> tuple[StrEnum, ...]:
        """Return the described attributes."""
        every = (self.form, self.colour, self.size, self.motion)
        return tuple(value for value in every if value is not None)

    def agreeing(self, figure: shapes.Figure) -> int:
        """Return the number of described attributes that the figure has."""
        return (
            (self.form is figure.form)
            + (self.colour is figure.colour)
            + (self.size is figure.size)
            + (self.motion is figure.motion)
        )


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of a caption. `relation` is between its first two phrases."""

    phrases: tuple[Phrase, ...] = ()
    relation: shapes.Relation | None = None
    background: shapes.Background | None = None
    count: int | None = None

    def described(self) -> Iterator[StrEnum]:
        """Yield all described attributes, the relation and the background."""
        for phrase in self.phrases:
            yield from phrase.described()
        yield from (value for value in (self.relation, self.background) if value is not None)

    def demands(self) -> int:
        """Return the number of demands of the caption on a scene.

        Each phrase, each described attribute, the relation, the background and the number of
        figures count as one demand each.
        """
        return len(self.phrases) + sum(1 for _ in self.described()) + (self.count is not None)


Roles = tuple[shapes.Figure | None, ...]
"""The figure for each phrase; None if the scene has too few figures."""


def demands_met(meaning: Meaning, scene: shapes.Scene) -> int:
    """Return the largest number of demands that the scene meets, 0 to `meaning.demands()`."""
    whole = (meaning.background is scene.background) + (meaning.count == len(scene.figures))
    return whole + max(_met(meaning, roles) for roles in _possible_roles(meaning, scene))


def best_roles(meaning: Meaning, scene: shapes.Scene) -> Roles:
    """Return the roles that meet the most demands. If several do, return the first."""
    return max(_possible_roles(meaning, scene), key=lambda roles: _met(meaning, roles))


def _possible_roles(meaning: Meaning, scene: shapes.Scene) -> Iterator[Roles]:
    missing = max(len(meaning.phrases) - len(scene.figures), 0)
    figures: Roles = scene.figures + (None,) * missing
    return permutations(figures, len(meaning.phrases))


def _met(meaning: Meaning, roles: Sequence[shapes.Figure | None]) -> int:
    met = sum(
        1 + phrase.agreeing(figure)
        for phrase, figure in zip(meaning.phrases, roles, strict=True)
        if figure is not None
    )
    if meaning.relation is None or roles[0] is None or roles[1] is None:
        return met
    return met + shapes.holds(meaning.relation, roles[0], roles[1])


def is_true(meaning: Meaning, scene: shapes.Scene) -> bool:
    """Return whether the scene meets all demands of the caption."""
    return demands_met(meaning, scene) == meaning.demands()


# The numbers of attributes described for each figure, by level of detail from the most general to
# the most specific. Some captions of level 0 describe only the number of shapes.
_LEVELS: tuple[tuple[tuple[int, ...], ...], ...] = (
    ((1,),),
    ((2,),),
    ((2,), (3,), (1, 1)),
    ((3,), (2, 1), (2, 2)),
    ((4,), (2, 3), (2, 2, 1)),
    ((4,), (3, 4), (3, 3, 2)),
)
MAX_LEVEL = len(_LEVELS) - 1
# The weights with which attributes are drawn. The values below are probabilities.
_ATTRIBUTES = {"form": 0.95, "colour": 0.8, "motion": 0.65, "size": 0.3}
_RELATED, _WITH_BACKGROUND, _COUNTED = 0.75, 0.2, 0.1
_JUST_COUNTED = 0.06


def draw_meaning(rng: random.Random, scene: shapes.Scene, level: int) -> Meaning:
    """Return a random meaning that is true of the scene.

    level: level of detail, from 0 (most general) to `MAX_LEVEL` (most specific).
    """
    if level == 0 and rng.random() < _JUST_COUNTED:
        return Meaning(background=scene.background, count=len(scene.figures))
    plans = [plan for plan in _LEVELS[level] if len(plan) <= len(scene.figures)]
    plan = rng.choice(plans)
    figures = rng.sample(scene.figures, len(plan))
    return Meaning(
        phrases=tuple(_describe(rng, figure, n) for figure, n in zip(figures, plan, strict=True)),
        relation=_relate(rng, figures),
        background=scene.background if level and rng.random() < _WITH_BACKGROUND else None,
        count=len(scene.figures) if level > 1 and rng.random() < _COUNTED else None,
    )


def _describe(rng: random.Random, figure: shapes.Figure, count: int) -> Phrase:
    # Weighted choice without replacement: the attributes with the greatest u^(1/weight), where u is
    # drawn from [0, 1). Size is never the only described attribute, because such a caption would be
    # true of nearly every video.
    weights = {name: w for name, w in _ATTRIBUTES.items() if count > 1 or name != "size"}
    by_chance = {name: rng.random() ** (1 / weight) for name, weight in weights.items()}
    described = set(sorted(by_chance, key=by_chance.__getitem__)[-count:])
    return Phrase(
        form=figure.form if "form" in described else None,
        colour=figure.colour if "colour" in described else None,
        size=figure.size if "size" in described else None,
        motion=figure.motion if "motion" in described else None,
    )


def _relate(rng: random.Random, figures: Sequence[shapes.Figure]) -> shapes.Relation | None:
    if len(figures) < 2 or rng.random() > _RELATED:
        return None
    true = [
        relation for relation in shapes.Relation if shapes.holds(relation, figures[0], figures[1])
    ]
    return rng.choice(true) if true else None


def write(meaning: Meaning, author: wording.Author) -> str:
    """Return the meaning as an English caption in lower case."""
    parts = [_main_clause(meaning, author)]
    if meaning.background is not None:
        parts.append(author.word(meaning.background))
    if meaning.count is not None and meaning.phrases:
        parts.append(author.pick(wording.COUNT_ENDINGS[meaning.count]))
    return " ".join(parts)


def _main_clause(meaning: Meaning, author: wording.Author) -> str:
    phrases = meaning.phrases
    if not phrases:
        return author.pick(wording.COUNT_WORDINGS[meaning.count or 0])
    if meaning.relation is None:
        return _join([_clause(phrase, author) for phrase in phrases])
    related = f"{_clause(phrases[0], author)} {author.word(meaning.relation)}"
    others = [_clause(phrase, author, link="that ") for phrase in phrases[1:]]
    return f"{related} {_join(others)}"


def _clause(phrase: Phrase, author: wording.Author, link: str = "") -> str:
    noun = author.word(phrase.form) if phrase.form else author.pick(wording.SHAPE_WORDS)
    adjectives = [author.word(value) for value in (phrase.size, phrase.colour) if value]
    named = wording.with_article(" ".join([*adjectives, noun]))
    return f"{named} {link}{author.word(phrase.motion)}" if phrase.motion else named


def _join(clauses: Sequence[str]) -> str:
    *first, last = clauses
    return f"{', '.join(first)} and {last}" if first else last
