"""WordNet: lemmas, senses and synonyms of English words, read from its database files.

Fellbaum (ed.), "WordNet: An Electronic Lexical Database", MIT Press 1998. The files are those of
Debian's package `wordnet-base`, of WordNet 3.0 and 3.1, and of NLTK's data; wndb(5WN) describes
them. The rules are those of NLTK 3.10. NLTK's own reader is not used, because it needs files that
Debian's package does not contain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Final, TypeAlias

from hearth.shared.errors import InvalidInput

DEBIAN: Final = Path("/usr/share/wordnet")
MISSING: Final = (
    "WordNet is not installed, and this proxy needs it. On Debian or Ubuntu, run: "
    "apt-get install wordnet-base"
)


_VERSION: Final = re.compile(r"WordNet [0-9]+(?:\.[0-9]+)*")


class Part(StrEnum):
    """A part of speech, with the ending of its files."""

    NOUN = "noun"
    VERB = "verb"
    ADJECTIVE = "adj"
    ADVERB = "adv"


Sense: TypeAlias = tuple[Part, int]
"""A synset: its part of speech, and its place in the data file."""

# The endings of inflected forms by part of speech, each with its replacement in the base form.
_ENDINGS: Final[dict[Part, tuple[tuple[str, str], ...]]] = {
    Part.NOUN: (
        ("s", ""),
        ("ses", "s"),
        ("ves", "f"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    Part.VERB: (
        ("s", ""),
        ("ies", "y"),
        ("es", "e"),
        ("es", ""),
        ("ed", "e"),
        ("ed", ""),
        ("ing", "e"),
        ("ing", ""),
    ),
    Part.ADJECTIVE: (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    Part.ADVERB: (),
}


class WordNet:
    """A folder with the files `index.*`, `data.*` and `*.exc` of WordNet.

    The files of a part of speech are read when it is used for the first time. Raises InvalidInput
    if the folder contains no WordNet, and later if a file is missing or cannot be read.
    """

    def __init__(self, folder: Path = DEBIAN) -> None:
        if not (folder / "index.noun").is_file():
            raise InvalidInput(MISSING)
        self._parts = {part: _Files(folder, part) for part in Part}

    @property
    def version(self) -> str:
        """The name and version in the licence at the head of the files, such as "WordNet 3.0"."""
        found = _VERSION.search(self._parts[Part.ADVERB].head())
        return found[0] if found else "WordNet"

    def lemma(self, word: str, part: Part) -> str:
        """Return the shortest lemma of a word, or the word itself if WordNet does not contain it.

        The first of equally short lemmas is returned, as in NLTK's `WordNetLemmatizer`.
        """
        return min(self._parts[part].forms(word), key=len, default=word)

    def senses(self, lemma: str, part: Part) -> list[Sense]:
        """Return the synsets of a lemma and of its base forms, in WordNet's order."""
        files = self._parts[part]
        return [(part, at) for form in files.forms(lemma.lower()) for at in files.senses(form)]

    def definition(self, sense: Sense) -> str:
        """Return the definition of a synset, without its examples."""
        part, at = sense
        return self._parts[part].synset(at).definition

    def words(self, sense: Sense) -> frozenset[str]:
        """Return the words of a synset. Phrases are left out."""
        part, at = sense
        return self._parts[part].synset(at).words

    def synonyms(self, word: str) -> frozenset[str]:
        """Return the words of all synsets of a word, and the word itself. Phrases are left out."""
        senses = [sense for part in Part for sense in self.senses(word, part)]
        return frozenset([word]).union(*(self._parts[part].synset(at).words for part, at in senses))


@dataclass(frozen=True, slots=True)
class _Synset:
    words: frozenset[str]
    definition: str


class _Files:
    """The files of one part of speech."""

    def __init__(self, folder: Path, part: Part) -> None:
        self._folder, self._part = folder, part

    @cached_property
    def _index(self) -> dict[str, list[int]]:
        try:
            return dict(_indexed(self._read("index.{}").decode()))
        except (ValueError, IndexError):
            raise self._damaged("index.{}") from None

    @cached_property
    def _exceptions(self) -> dict[str, list[str]]:
        lines = [line.split() for line in self._read("{}.exc").decode().splitlines()]
        return {line[0]: line[1:] for line in lines if line}

    @cached_property
    def _data(self) -> bytes:
        return self._read("data.{}")

    def _read(self, name: str) -> bytes:
        try:
            return (self._folder / name.format(self._part)).read_bytes()
        except OSError:
            raise self._damaged(name) from None

    def head(self) -> str:
        return self._data[:2000].decode()

    def forms(self, word: str) -> list[str]:
        """Return the word and its base forms, if the index contains them."""
        found = self._exceptions.get(word)
        if found is None:
            endings = [(old, new) for old, new in _ENDINGS[self._part] if word.endswith(old)]
            found = [word[: -len(old)] + new for old, new in endings]
        return [form for form in dict.fromkeys([word, *found]) if form in self._index]

    def senses(self, lemma: str) -> list[int]:
        return self._index[lemma]

    def synset(self, at: int) -> _Synset:
        try:
            return _read_synset(self._data[at : self._data.index(b"\n", at)].decode())
        except (ValueError, IndexError):
            raise self._damaged("data.{}") from None

    def _damaged(self, name: str) -> InvalidInput:
        return InvalidInput(f"the file {name.format(self._part)} of WordNet cannot be read")


def _read_synset(line: str) -> _Synset:
    columns, _, gloss = line.partition("|")
    fields = columns.split()
    n_words = int(fields[3], 16)
    # An adjective may end with its position, as in "galore(ip)".
    words = (name.partition("(")[0] for name in fields[4 : 4 + 2 * n_words : 2])
    return _Synset(frozenset(w for w in words if "_" not in w), _without_examples(gloss))


def _indexed(text: str) -> Iterator[tuple[str, list[int]]]:
    """Yield each lemma with the places of its synsets. Lines of the licence begin with a space."""
    for line in text.splitlines():
        if not line.startswith(" ") and line.strip():
            fields = line.split()
            yield fields[0], [int(at) for at in fields[-int(fields[2]) :]]


def _without_examples(gloss: str) -> str:
    """Return a gloss without the parts in quotation marks. A single mark remains."""
    parts = gloss.split('"')
    kept = parts[::2]
    if len(parts) % 2 == 0:
        kept[-1] += '"' + parts[-1]
    return "".join(kept).strip().strip("; ")
