"""The request for a proxy, with the same values on the page, in the API and in the command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from hearth.shared.errors import InvalidInput
from pooling.core.lines import TextBlocks
from pooling.core.proxies.meteor import Synonyms
from pooling.core.proxies.options import Method, ProxyOptions
from pooling.core.proxies.senses import read_classes
from pooling.core.proxies.stop_words import (
    NO_STOP_WORDS,
    StopWords,
    own_stop_words,
    spacy_stop_words,
)
from pooling.core.proxies.wordnet import DEBIAN, Part
from pooling.core.proxies.words import PERCENT, Split

OWN_WORDS: Final = "own_words"
VERB_CLASSES, NOUN_CLASSES = "verb_classes", "noun_classes"
LEXICON: Final = "lexicon"
FILES: Final = (OWN_WORDS, VERB_CLASSES, NOUN_CLASSES, LEXICON)
"""The names of the files that can come with a request."""


class StopList(StrEnum):
    SPACY = "spacy"
    NONE = "none"
    OWN = "own"


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file, and its name for errors."""

    path: Path
    source: str

    def blocks(self) -> TextBlocks:
        return TextBlocks(self.path, source=self.source)

    def lines(self) -> list[str]:
        try:
            return self.path.read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError):
            reason = "the file cannot be read as text in UTF-8"
            raise InvalidInput(reason, source=self.source) from None


def sent_file(path: Path | None) -> SentFile | None:
    """Return the file at a path of a command, if there is one. Errors name the path."""
    return None if path is None else SentFile(path, str(path))


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyRequest:
    """The method and its options, without the files. `ProxyOptions` describes them."""

    method: Method
    stop_words: StopList = StopList.SPACY
    white_space: bool = False
    percent: int = PERCENT
    commands: bool = False
    lemmas_by_tagger: bool = False
    synonyms_of_words: bool = False
    own_as_computed: bool = False

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> ProxyRequest:
        """Return the request in `values`. Other keys are ignored. Missing options have defaults."""
        known = {name: values[name] for name in cls.__dataclass_fields__ if name in values}
        request = cls(**known)
        return replace(
            request, method=Method(request.method), stop_words=StopList(request.stop_words)
        )

    def values(self) -> dict[str, Any]:
        """Return the request as values that JSON can hold."""
        return {name: _plain(value) for name, value in asdict(self).items()}

    def needs_wordnet(self, *, has_classes: bool) -> bool:
        by_classes = has_classes and self.lemmas_by_tagger
        return self.method is Method.METEOR or (self.method is Method.SYN and not by_classes)

    def options(self, files: Mapping[str, SentFile], wordnet: Path = DEBIAN) -> ProxyOptions:
        """Read the files and return the options. wordnet: the folder of WordNet.

        Raises InvalidInput if an option is out of range, or a file is missing or has an error.
        """
        if not 1 <= self.percent <= 100:
            raise InvalidInput("The minimum share must be from 1 to 100 %.")
        return ProxyOptions(
            self.method,
            stop_words=_stop_words(self.stop_words, files.get(OWN_WORDS)),
            split=Split.WHITE_SPACE if self.white_space else Split.SPACES,
            percent=self.percent,
            commands=self.commands,
            classes=_classes(files.get(VERB_CLASSES), files.get(NOUN_CLASSES)),
            lemmas_by_tagger=self.lemmas_by_tagger,
            synonyms=Synonyms.OF_WORDS if self.synonyms_of_words else Synonyms.OF_STEMS,
            own_is_one=not self.own_as_computed,
            wordnet=wordnet,
        )


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, StrEnum) else value


def _stop_words(kind: StopList, own: SentFile | None) -> StopWords:
    if kind is StopList.NONE:
        return NO_STOP_WORDS
    if kind is StopList.SPACY:
        return spacy_stop_words()
    if own is None:
        raise InvalidInput("Add the file with your own stop words.")
    return own_stop_words(own.lines())


def _classes(verbs: SentFile | None, nouns: SentFile | None) -> dict[Part, dict[str, int]] | None:
    if verbs is None and nouns is None:
        return None
    if verbs is None or nouns is None:
        raise InvalidInput("Add both tables, the classes of verbs and those of nouns.")
    files = {Part.VERB: verbs, Part.NOUN: nouns}
    return {part: read_classes(file.blocks()) for part, file in files.items()}
