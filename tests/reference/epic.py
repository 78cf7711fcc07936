"""The verbs, nouns and classes that EPIC-KITCHENS-100 states for its captions.

EPIC_100_retrieval_test.csv has a row for each video, with its caption (`narration`), the columns
`verb` and `all_nouns`, and their classes. Damen et al., "Rescaling egocentric vision", IJCV 2022.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from pooling.core.lines import TextBlocks
from pooling.core.proxies.parsing import ParsedCaption, Word
from pooling.core.proxies.senses import read_list
from pooling.core.proxies.wordnet import Part
from pooling.core.table import CsvTable

_COLUMNS: Final = (
    "narration_id",
    "narration",
    "verb",
    "verb_class",
    "all_nouns",
    "all_noun_classes",
)


def read_epic(blocks: TextBlocks) -> dict[str, ParsedCaption]:
    """Return the caption of each `narration_id`. The lemma of a word is its class.

    `parts_of_speech` reads the words, and `StatedClasses` the classes. Raises InvalidInput if a
    column is missing, a row cannot be read or a narration_id occurs twice.
    """
    table = CsvTable(blocks, _COLUMNS)
    found: dict[str, ParsedCaption] = {}
    for line, (key, text, verb, verb_class, nouns, noun_classes) in table:
        if key in found:
            table.refuse(f"{key} occurs twice", line)
        words, classes = read_list(nouns, str), read_list(noun_classes, int)
        if words is None or classes is None or len(words) != len(classes):
            reason = "expected lists of the same length in all_nouns and all_noun_classes"
            table.refuse(reason, line)
        found[key] = ParsedCaption(
            text,
            (Word(verb, verb_class),),
            tuple(Word(noun, str(number)) for noun, number in zip(words, classes, strict=True)),
        )
    return found


class StatedClasses:
    """Senses that a file states as classes. `read_epic` stores the class of a word as its lemma."""

    name = "classes stated for each caption"

    def sense(self, word: Word, part: Part, context: frozenset[str]) -> Hashable:
        return word.lemma
