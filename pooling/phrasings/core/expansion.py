"""Further texts of captions: synonyms from WordNet, and the other captions of the same video."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hearth.shared.progress import Progress, no_progress
from pooling.core.arrays import Int64s
from pooling.core.proxies.parsing import Tagger, Token
from pooling.core.proxies.wordnet import Part, WordNet

REPLACING = "replacing words by synonyms"
_PARTS = {"NN": Part.NOUN, "VV": Part.VERB}
# Each phrasing is drawn at most this number of times, until it differs from the others.
_DRAWS = 5


def replace_by_synonyms(
    captions: Sequence[str],
    wordnet: WordNet,
    count: int,
    rng: np.random.Generator,
    progress: Progress = no_progress,
) -> list[list[str]]:
    """Return up to `count` phrasings of each caption, whose nouns and verbs are synonyms.

    A synonym is drawn from the first sense of the word that has one, in its base form. A caption
    without such words has no phrasing.
    """
    tagger = Tagger()
    found = []
    for number, caption in enumerate(captions):
        progress(number, len(captions), REPLACING)
        offered = [(token, _synonyms(token, wordnet)) for token in tagger.tokens(caption)]
        words = [(token, choices) for token, choices in offered if choices]
        drawn = [_drawn(caption, words, rng) for _ in range(_DRAWS * count if words else 0)]
        found.append(list(dict.fromkeys(text for text in drawn if text != caption))[:count])
    return found


def _synonyms(token: Token, wordnet: WordNet) -> list[str]:
    part = _PARTS.get(token.tag[:2])
    if part is None:
        return []
    lemma = wordnet.lemma(token.text.lower(), part)
    for sense in wordnet.senses(lemma, part):
        if words := sorted(wordnet.words(sense) - {lemma, token.text.lower()}):
            return words
    return []


def _drawn(caption: str, words: Sequence[tuple[Token, list[str]]], rng: np.random.Generator) -> str:
    text, end = "", 0
    for token, choices in words:
        text += caption[end : token.start] + choices[rng.integers(len(choices))]
        end = token.end
    return text + caption[end:]


def other_captions(
    captions: Sequence[str], queries: Int64s, videos: Int64s, count: int
) -> list[list[str]]:
    """Return up to `count` other texts of the videos of each caption, in the order of the captions.

    queries, videos: the pairs of a caption and a video that belong together. This uses knowledge of
    the right video, so what it gains is an upper bound.
    """
    of_video: dict[int, list[int]] = {}
    for query, video in sorted(zip(queries.tolist(), videos.tolist(), strict=True)):
        of_video.setdefault(video, []).append(query)
    found: list[list[str]] = [[] for _ in captions]
    for members in of_video.values():
        texts = dict.fromkeys(captions[member] for member in members)
        for member in members:
            own = {captions[member], *found[member]}
            others = [text for text in texts if text not in own]
            found[member] = [*found[member], *others][:count]
    return found
