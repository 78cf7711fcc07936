"""The four proxies that compare captions, with their options, and the matrix of such a proxy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Generic, TypeVar

import numpy as np

from hearth.shared.progress import Progress, no_progress
from pooling.core.arrays import Int64s
from pooling.core.proxies import words
from pooling.core.proxies.meteor import Synonyms, fill_meteor
from pooling.core.proxies.parsing import ParsedCaption
from pooling.core.proxies.senses import Senses
from pooling.core.proxies.stop_words import StopWords
from pooling.core.proxies.word_sets import Matrix, WordSets, fill_mean_iou
from pooling.core.proxies.wordnet import WordNet

C = TypeVar("C", str, ParsedCaption)
"""What a proxy compares: texts, or captions with their verbs and nouns."""

Groups = Sequence[Sequence[C]]
"""The captions of each row, or of each column."""

Options = Mapping[str, str]
"""The options of a proxy as text, as they are stored with its result."""


class Proxy(ABC, Generic[C]):
    """A proxy with its options."""

    @property
    @abstractmethod
    def options(self) -> Options: ...

    @abstractmethod
    def fill(self, out: Matrix, rows: Groups[C], columns: Groups[C], progress: Progress) -> None:
        """Write the values into `out`, [n_rows, n_columns]."""


def compute(
    proxy: Proxy[C],
    rows: Groups[C],
    columns: Groups[C],
    *,
    own: tuple[Int64s, Int64s] | None = None,
    out: Matrix | None = None,
    progress: Progress = no_progress,
) -> Matrix:
    """Return the matrix of a proxy, [n_rows, n_columns], float32 if `out` is None.

    rows: the captions of each video. columns: usually one caption each. own: the rows and columns
    of the pairs of a video and its own caption. Their value becomes 1, as in equation 5 of Wray et
    al. If `own` is None, values are as the published code computes them. `progress` can cancel the
    work.
    """
    filled = np.zeros((len(rows), len(columns)), np.float32) if out is None else out
    proxy.fill(filled, rows, columns, progress)
    if own is not None:
        filled[own] = 1
    return filled


class _SetProxy(Proxy[C]):
    """A proxy that compares word sets."""

    @abstractmethod
    def sets(self, groups: Groups[C]) -> Sequence[WordSets]:
        """Return the word sets of the groups, for each part of speech."""

    def fill(self, out: Matrix, rows: Groups[C], columns: Groups[C], progress: Progress) -> None:
        fill_mean_iou(out, self.sets(rows), self.sets(columns), progress)


@dataclass(frozen=True)
class BoW(_SetProxy[str]):
    """IoU of the words."""

    stop_words: StopWords
    split: words.Split = words.Split.SPACES
    percent: int = words.PERCENT

    @property
    def options(self) -> Options:
        return {
            "method": "BoW",
            "stop words": str(self.stop_words),
            "split at": str(self.split),
            "least share of captions": f"{self.percent} %",
        }

    def sets(self, groups: Groups[str]) -> Sequence[WordSets]:
        return words.bag_of_words(groups, self.stop_words, split=self.split, percent=self.percent)


@dataclass(frozen=True)
class PoS(_SetProxy[ParsedCaption]):
    """Mean IoU of the verbs and of the nouns."""

    split_nouns: bool = False
    percent: int = words.PERCENT

    @property
    def options(self) -> Options:
        return {
            "method": "PoS",
            "nouns split at colons": "yes" if self.split_nouns else "no",
            "least share of captions": f"{self.percent} %",
        }

    def sets(self, groups: Groups[ParsedCaption]) -> Sequence[WordSets]:
        return words.parts_of_speech(groups, split_nouns=self.split_nouns, percent=self.percent)


@dataclass(frozen=True)
class SYN(_SetProxy[ParsedCaption]):
    """Mean IoU of the senses of the verbs and of the nouns."""

    senses: Senses
    percent: int = words.PERCENT

    @property
    def options(self) -> Options:
        return {
            "method": "SYN",
            "senses": self.senses.name,
            "least share of captions": f"{self.percent} %",
        }

    def sets(self, groups: Groups[ParsedCaption]) -> Sequence[WordSets]:
        return words.word_senses(groups, self.senses, percent=self.percent)


@dataclass(frozen=True)
class METEOR(Proxy[str]):
    """METEOR. `fill_meteor` describes how groups with several captions are compared."""

    wordnet: WordNet
    synonyms: Synonyms = Synonyms.OF_STEMS

    @property
    def options(self) -> Options:
        return {
            "method": "METEOR",
            "synonyms": f"{self.synonyms}, {self.wordnet.version}",
            "stems": f"NLTK {version('nltk')}",
        }

    def fill(
        self, out: Matrix, rows: Groups[str], columns: Groups[str], progress: Progress
    ) -> None:
        fill_meteor(out, rows, columns, self.wordnet, self.synonyms, progress)
