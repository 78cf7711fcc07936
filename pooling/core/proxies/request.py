"""The request for a proxy, with the same values on the page, in the API and in the command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeVar

from hearth.shared.errors import InvalidInput
from hearth.shared.options import NAME_LENGTH, Entry, Group, Option, OptionFault
from pooling.core.lines import SourceFile
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

T = TypeVar("T")

NAME = Option(
    "Name",
    "By default, the name of the method.",
    length=NAME_LENGTH,
    printable=True,
    attrs={"autocomplete": "off", "dir": "auto"},
)
OWN_AS_COMPUTED = Option(
    "Value of a video and its own caption",
    choices={
        "": "1, as in equation 5 of Wray et al.",
        "on": "The computed value, as in the published code",
    },
    entry=Entry.RADIO,
)
KEYS = Option(
    "Keys of a matrix",
    "A JSON file with two lists: the ids of the captions in the order of the rows, and the ids of "
    "the videos in the order of the columns. By default, both are in the order of the benchmark.",
)
OWN = Group("Own captions, and several captions per video", is_folded=True)
BOW = Group("Words of BoW", is_folded=True)
WORDS = Group("Verbs and nouns of PoS and SYN", is_folded=True)
SENSES = Group("Senses of SYN", is_folded=True)
SYNONYMS = Group("Synonyms of METEOR", is_folded=True)
WORDNET = Group("WordNet for SYN and METEOR", is_folded=True)


class StopList(StrEnum):
    SPACY = "spacy"
    NONE = "none"
    OWN = "own"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyRequest:
    """A proxy that is computed from captions. A method ignores the options of other methods.

    percent: BoW, PoS and SYN use it for videos with several captions. At 25 %, a video with 20
        captions keeps the words that at least 5 of them contain. METEOR compares several captions
        by the match kernel of Wray et al. instead.
    stop_words: The words to leave out. spaCy’s list contains put, take, get, give, make, move and
        can, which are common words in kitchens.
    own_words: A text file with one word per line.
    white_space: By default, captions are split at single spaces, as the published code does. Two
        spaces in a row then give an empty word.
    commands: The tagger then reads each caption as if it began with “I”, because it would otherwise
        take the verb for a noun.
    verb_classes: A CSV file with the columns id and instances, as in EPIC-KITCHENS. Words of the
        same class are equal. Without classes, the simplified Lesk algorithm selects the senses of
        WordNet.
    noun_classes: The same for nouns.
    lemmas_by_tagger: This needs no WordNet. By default, the lemmas are WordNet’s.
    synonyms_of_words: NLTK looks up stems, which loses synonyms: “automobile” becomes “automobil”.
    lexicon: A .zip or .tar.gz archive with the files index.*, data.* and *.exc, such as NLTK’s
        wordnet.zip. By default, the installed WordNet is used.
    """

    method: Annotated[
        Method,
        Option(
            "Method",
            choices={
                Method.BOW: "BoW: the overlap of the words",
                Method.POS: "PoS: the overlap of the verbs and of the nouns",
                Method.SYN: "SYN: like PoS, but words with the same sense are equal",
                Method.METEOR: "METEOR: equal words, stems and synonyms, and their order",
                Method.EMBEDDING: "Embedding: the cosine of sentence embeddings",
            },
            entry=Entry.RADIO,
            positional=True,
            suggested=Method.BOW,
        ),
    ]
    name: Annotated[str, NAME] = ""
    own_as_computed: Annotated[bool, OWN_AS_COMPUTED, Option(group=OWN)] = False
    percent: Annotated[
        int,
        Option(
            "Minimum share of a video’s captions that contain a word (%)",
            low=1,
            high=100,
            group=OWN,
        ),
    ] = PERCENT
    stop_words: Annotated[
        StopList,
        Option(
            "Stop words",
            choices={
                StopList.SPACY: "spaCy’s 326 English stop words, as in Wray et al.",
                StopList.NONE: "None",
                StopList.OWN: "My own list",
            },
            entry=Entry.RADIO,
            group=BOW,
        ),
    ] = StopList.SPACY
    own_words: Annotated[
        SourceFile | None, Option("Own stop words", expected="A text file", group=BOW)
    ] = None
    white_space: Annotated[bool, Option("Split captions at any white space", group=BOW)] = False
    commands: Annotated[
        bool, Option("Captions are commands, such as “wash hands”", group=WORDS)
    ] = False
    verb_classes: Annotated[
        SourceFile | None, Option("Classes of verbs", expected="A text file", group=SENSES)
    ] = None
    noun_classes: Annotated[
        SourceFile | None, Option("Classes of nouns", expected="A text file", group=SENSES)
    ] = None
    lemmas_by_tagger: Annotated[
        bool, Option("Look up classes by the tagger’s lemmas", group=SENSES)
    ] = False
    synonyms_of_words: Annotated[
        bool, Option("Look up synonyms of words, not of stems", group=SYNONYMS)
    ] = False
    lexicon: Annotated[SourceFile | None, Option("WordNet", flag="wordnet", group=WORDNET)] = None

    def check(self) -> None:
        """Check the options together. Raises `OptionFault`."""
        if self.stop_words is StopList.OWN and self.own_words is None:
            raise OptionFault("own_words", "Add the file with your own stop words.")
        if (self.verb_classes is None) != (self.noun_classes is None):
            missing = "noun_classes" if self.noun_classes is None else "verb_classes"
            raise OptionFault(missing, "Add both tables, the classes of verbs and those of nouns.")

    def used(self, files: Mapping[str, T]) -> dict[str, T]:
        """Return those of the files that the method reads, by their names."""
        names: dict[Method, tuple[str, ...]] = {
            Method.SYN: ("verb_classes", "noun_classes", "lexicon"),
            Method.METEOR: ("lexicon",),
        }
        if self.stop_words is StopList.OWN:
            names[Method.BOW] = ("own_words",)
        return {name: file for name, file in files.items() if name in names.get(self.method, ())}

    @property
    def needs_wordnet(self) -> bool:
        by_classes = self.verb_classes is not None and self.lemmas_by_tagger
        return self.method is Method.METEOR or (self.method is Method.SYN and not by_classes)

    def options(self, wordnet: Path = DEBIAN) -> ProxyOptions:
        """Read the files and return the options. wordnet: the folder of WordNet.

        Raises InvalidInput if an option is out of range, or a file is missing or has an error.
        """
        if not 1 <= self.percent <= 100:
            raise InvalidInput("The minimum share must be from 1 to 100 %.")
        self.check()
        return ProxyOptions(
            self.method,
            stop_words=self._stop_words(),
            split=Split.WHITE_SPACE if self.white_space else Split.SPACES,
            percent=self.percent,
            commands=self.commands,
            classes=self._classes(),
            lemmas_by_tagger=self.lemmas_by_tagger,
            synonyms=Synonyms.OF_WORDS if self.synonyms_of_words else Synonyms.OF_STEMS,
            own_is_one=not self.own_as_computed,
            wordnet=wordnet,
        )

    def _stop_words(self) -> StopWords:
        if self.own_words is not None and self.stop_words is StopList.OWN:
            return own_stop_words(self.own_words.lines())
        return spacy_stop_words() if self.stop_words is StopList.SPACY else NO_STOP_WORDS

    def _classes(self) -> dict[Part, dict[str, int]] | None:
        if self.verb_classes is None or self.noun_classes is None:
            return None
        files = {Part.VERB: self.verb_classes, Part.NOUN: self.noun_classes}
        return {part: read_classes(file.blocks()) for part, file in files.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyUpload:
    """A proxy that another program computed: a matrix, or embeddings of captions and videos.

    file: A .npy file of float16, float32 or float64.
    caption_embeddings: A .npy matrix with a row for each caption, in the order of the benchmark.
    video_embeddings: A .npy matrix with a row for each video. Without it, the embedding of a video
        is the mean of those of its own captions.
    name: By default, the name of the first file.
    """

    file: Annotated[SourceFile | None, Option("Matrix", positional=True)] = None
    keys: Annotated[SourceFile | None, KEYS] = None
    caption_embeddings: Annotated[SourceFile | None, Option("Embeddings of captions")] = None
    video_embeddings: Annotated[SourceFile | None, Option("Embeddings of videos")] = None
    name: Annotated[str, NAME] = ""
    own_as_computed: Annotated[bool, OWN_AS_COMPUTED] = False

    def check(self) -> None:
        """Raise `OptionFault` unless there is either a matrix or embeddings."""
        if (self.file is None) == (not self.caption_embeddings and not self.video_embeddings):
            raise OptionFault("", "Name either the file of a matrix, or embeddings.")
