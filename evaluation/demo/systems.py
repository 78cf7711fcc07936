"""Three small retrieval systems, each with a different weakness.

- `bag-of-words` compares the words of the caption with the other captions of a video. It has no
  list of synonyms, so "ball" and "disc" differ. It is good if one author wrote all these captions.
- `colour-blind` sees forms, sizes and motions, but neither colours nor relations.
- `still-frame` sees one frame from the middle of the video: no motion, and only the sizes and
  relations of that time.

No system uses the true relevance of the pairs. All matrices are float32 [captions, videos] and
depend only on the benchmark and the seed. A higher score is more relevant.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise, permutations
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from evaluation.demo import shapes
from evaluation.demo.benchmark import Caption, DemoBenchmark
from evaluation.demo.captions import Meaning
from evaluation.demo.reading import read, vocabulary

Scores = NDArray[np.float32]

_DECIMALS = 5  # further decimals of sums can differ between machines
_MIDDLE = 0.5
_Kind = TypeVar("_Kind", bound=StrEnum)


def score_systems(demo: DemoBenchmark) -> Mapping[str, Scores]:
    """Return the similarity matrix of each system by its key."""
    texts = [caption.text for caption in demo.captions]
    return {
        "bag-of-words": bag_of_words(demo.captions, len(demo.scenes)),
        "colour-blind": colour_blind(texts, demo.scenes, demo.seed),
        "still-frame": still_frame(texts, demo.scenes, demo.seed),
    }


def bag_of_words(captions: Sequence[Caption], n_videos: int) -> Scores:
    """Return the cosine of tf-idf vectors of the caption and of all other captions of the video."""
    counts = _term_counts([caption.text for caption in captions])
    weights = counts * np.log(len(captions) / np.count_nonzero(counts, axis=0))
    sources = np.array([caption.source for caption in captions])
    documents = np.zeros((n_videos, weights.shape[1]))
    np.add.at(documents, sources, weights)
    rows = np.arange(len(captions))
    products = weights @ documents.T
    squares = np.broadcast_to((documents**2).sum(axis=1), products.shape).copy()
    others = documents[sources] - weights
    products[rows, sources] = (weights * others).sum(axis=1)
    squares[rows, sources] = (others**2).sum(axis=1)
    lengths = np.sqrt(squares * (weights**2).sum(axis=1, keepdims=True))
    return _rounded(np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0))


def _term_counts(texts: Sequence[str]) -> NDArray[np.float64]:
    """Count each word and pair of neighbouring words, [texts, terms]."""
    terms: dict[str, int] = {}
    found: list[list[int]] = []
    for text in texts:
        words = text.split()
        both = words + [" ".join(pair) for pair in pairwise(words)]
        found.append([terms.setdefault(term, len(terms)) for term in both])
    counts = np.zeros((len(texts), len(terms)))
    for row, numbers in enumerate(found):
        np.add.at(counts[row], numbers, 1)
    return counts


def colour_blind(texts: Sequence[str], scenes: Sequence[shapes.Scene], seed: int) -> Scores:
    """Return scores from forms, sizes and motions in the whole video, with mistakes."""
    rng = random.Random(f"colour-blind {seed}")
    known = vocabulary(wordings_known=3)
    queries = [_without_colours(read(text, known)) for text in texts]
    views = [_view_of_video(rng, scene) for scene in scenes]
    return _match(queries, views, rng, noise=0.25)


def still_frame(texts: Sequence[str], scenes: Sequence[shapes.Scene], seed: int) -> Scores:
    """Return scores from colours, forms, sizes and places in the middle frame, with mistakes."""
    rng = random.Random(f"still-frame {seed}")
    known = vocabulary(wordings_known=3)
    queries = [_without_motions(read(text, known)) for text in texts]
    views = [_view_of_frame(rng, scene) for scene in scenes]
    return _match(queries, views, rng, noise=0.25)


def few_words(texts: Sequence[str], scenes: Sequence[shapes.Scene], seed: int) -> Scores:
    """Return scores of a system that sees whole videos, but knows one word for each meaning."""
    rng = random.Random(f"few words {seed}")
    known = vocabulary(wordings_known=1)
    queries = [read(text, known) for text in texts]
    views = [_view_of_video(rng, scene) for scene in scenes]
    return _match(queries, views, rng, noise=0.25)


@dataclass(frozen=True, slots=True)
class _View:
    """A video as a system sees it. `places` is None if the system does not see places."""

    figures: tuple[shapes.Figure, ...]
    places: tuple[shapes.Placement, ...] | None
    background: shapes.Background | None


def _without_colours(meaning: Meaning) -> Meaning:
    phrases = tuple(replace(phrase, colour=None) for phrase in meaning.phrases)
    return replace(meaning, phrases=phrases, relation=None)


def _without_motions(meaning: Meaning) -> Meaning:
    phrases = tuple(replace(phrase, motion=None) for phrase in meaning.phrases)
    return replace(meaning, phrases=phrases)


def _view_of_video(rng: random.Random, scene: shapes.Scene) -> _View:
    figures = tuple(
        replace(
            figure,
            form=_mistake(rng, figure.form, list(shapes.Form), 0.12),
            size=_mistake(rng, figure.size, list(shapes.Size), 0.12),
            motion=_mistake(rng, figure.motion, list(shapes.Motion), 0.12),
        )
        for figure in scene.figures
    )
    return _View(figures, None, scene.background)


def _view_of_frame(rng: random.Random, scene: shapes.Scene) -> _View:
    places = tuple(figure.at(_MIDDLE) for figure in scene.figures)
    halfway = sum(shapes.RADIUS.values()) / 2
    figures = tuple(
        replace(
            figure,
            form=_mistake(rng, figure.form, list(shapes.Form), 0.02),
            colour=_mistake(rng, figure.colour, list(shapes.Colour), 0.02),
            size=shapes.Size.LARGE if place.radius > halfway else shapes.Size.SMALL,
        )
        for figure, place in zip(scene.figures, places, strict=True)
    )
    return _View(figures, places, scene.background)


def _mistake(rng: random.Random, value: _Kind, every: list[_Kind], rate: float) -> _Kind:
    return rng.choice(every) if rng.random() < rate else value


def _match(
    queries: Sequence[Meaning], views: Sequence[_View], rng: random.Random, *, noise: float
) -> Scores:
    scores = np.empty((len(queries), len(views)))
    for row, query in enumerate(queries):
        scores[row] = [_count_met_demands(query, view) + rng.gauss(0, noise) for view in views]
        scores[row] /= max(query.demands(), 1)
    return _rounded(scores)


def _count_met_demands(query: Meaning, view: _View) -> int:
    """Return the largest number of demands that the view meets."""
    missing = max(len(query.phrases) - len(view.figures), 0)
    cast = [*range(len(view.figures)), *(None,) * missing]
    best = max(_met(query, view, roles) for roles in permutations(cast, len(query.phrases)))
    return best + (query.background is not None and query.background is view.background)


def _met(query: Meaning, view: _View, roles: Sequence[int | None]) -> int:
    met = sum(
        1 + phrase.agreeing(view.figures[role])
        for phrase, role in zip(query.phrases, roles, strict=True)
        if role is not None
    )
    if query.relation is None or view.places is None or roles[0] is None or roles[1] is None:
        return met
    return met + shapes.holds_at(query.relation, view.places[roles[0]], view.places[roles[1]])


def _rounded(scores: NDArray[np.float64]) -> Scores:
    return scores.round(_DECIMALS).astype(np.float32)
