"""The reference judge: the similarity of a caption with the captions of a video.

The similarity is the highest cosine of TF-IDF vectors of words, without captions of the same text.
It sees no video, so it is a weak judge, but every installation can run it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from evaluation.machines.core.protocol import Machine

MACHINE = Machine("tf-idf of captions", "1", "words")
_WORD = re.compile(r"\w+")

Vector = Mapping[str, float]


class CaptionJudge:
    """Answers from the captions of each video. captions: by the SHA-256 of the video's file."""

    def __init__(self, captions: Mapping[str, Sequence[str]]) -> None:
        texts = {text for those in captions.values() for text in those}
        counts = Counter(word for text in texts for word in set(_words(text)))
        self._weights = {word: math.log(1 + len(texts) / n) for word, n in counts.items()}
        self._rarest = math.log(1 + len(texts))
        self._vectors = {
            video: [(_folded(text), self._vector(text)) for text in dict.fromkeys(those)]
            for video, those in captions.items()
        }

    def p(self, caption: str, video: str) -> float | None:
        """Return the probability that a caption is relevant; None if the video is unknown."""
        if video not in self._vectors:
            return None
        own, text = self._vector(caption), _folded(caption)
        others = (vector for other, vector in self._vectors[video] if other != text)
        return round(min(1.0, max((_cosine(own, vector) for vector in others), default=0.0)), 4)

    def _vector(self, text: str) -> Vector:
        found = {
            word: (1 + math.log(n)) * self._weights.get(word, self._rarest)
            for word, n in Counter(_words(text)).items()
        }
        length = math.sqrt(sum(value**2 for value in found.values())) or 1
        return {word: value / length for word, value in found.items()}


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _folded(text: str) -> str:
    return " ".join(_words(text))


def _cosine(one: Vector, other: Vector) -> float:
    shared: Iterable[str] = one.keys() & other.keys()
    return math.fsum(one[word] * other[word] for word in shared)
