"""Explanations: why a caption is true of a video, or which of its demands are not met."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from enum import StrEnum

from evaluation.demo.captions import Meaning, Phrase, Roles, best_roles, is_true, write
from evaluation.demo.shapes import Figure, Scene, holds
from evaluation.demo.wording import WORDINGS, Author, with_article

NUMBERS = {1: "one shape", 2: "two shapes", 3: "three shapes"}


class PlainAuthor(Author):
    """An author who always uses the most common word."""

    def __init__(self) -> None:
        super().__init__(random.Random(0))

    def word(self, meaning: StrEnum) -> str:
        return WORDINGS[meaning][0]

    def pick(self, choices: tuple[str, ...]) -> str:
        return choices[0]


def explain(meaning: Meaning, scene: Scene) -> str:
    """Return an explanation that names all unmet demands, for the roles that meet the most."""
    if is_true(meaning, scene):
        return f"Everything is there: {write(meaning, PlainAuthor())}."
    wrong = "; ".join(_faults(meaning, scene, best_roles(meaning, scene)))
    return f"{wrong[0].upper()}{wrong[1:]}."


def _faults(meaning: Meaning, scene: Scene, roles: Roles) -> Iterator[str]:
    for phrase, figure in zip(meaning.phrases, roles, strict=True):
        if figure is None:
            yield f"the {_phrase_text(phrase)} is missing"
        else:
            yield from _differences(phrase, figure, scene.figures)
    yield from _misplaced(meaning, scene, roles)
    if meaning.background not in (None, scene.background):
        yield f"the background is {scene.background}, the caption says {meaning.background}"
    if meaning.count not in (None, len(scene.figures)):
        shown, described = NUMBERS[len(scene.figures)], NUMBERS[meaning.count or 0]
        verb = "is" if len(scene.figures) == 1 else "are"
        yield f"there {verb} {shown}, the caption says {described}"


def _misplaced(meaning: Meaning, scene: Scene, roles: Roles) -> Iterator[str]:
    if meaning.relation is None or roles[0] is None or roles[1] is None:
        return
    if not holds(meaning.relation, roles[0], roles[1]):
        first, second = (_name(figure, scene.figures) for figure in (roles[0], roles[1]))
        yield f"the {first} is not always {WORDINGS[meaning.relation][0]} the {second}"


def _differences(phrase: Phrase, figure: Figure, others: Sequence[Figure]) -> Iterator[str]:
    """Yield the described attributes that the figure does not have."""
    name = _name(figure, others)
    if phrase.form not in (None, figure.form):
        form = with_article(figure.form)
        yield f"the {figure.colour} shape is {form}, the caption says {phrase.form}"
    if phrase.colour not in (None, figure.colour):
        alike = [other for other in others if other.form is figure.form]
        which = "the" if len(alike) == 1 else "one"
        yield f"{which} {figure.form} is {figure.colour}, the caption says {phrase.colour}"
    if phrase.size not in (None, figure.size):
        yield f"the {name} is {figure.size}, the caption says {phrase.size}"
    if phrase.motion not in (None, figure.motion):
        yield f"the {name} {figure.motion}, the caption says that it {phrase.motion}"


def _name(figure: Figure, others: Sequence[Figure]) -> str:
    """Return the form, with the colour if several figures have this form."""
    alike = [other for other in others if other.form is figure.form]
    return str(figure.form) if len(alike) == 1 else f"{figure.colour} {figure.form}"


def _phrase_text(phrase: Phrase) -> str:
    words = [str(value) for value in (phrase.size, phrase.colour) if value]
    return " ".join([*words, str(phrase.form or "shape")])
