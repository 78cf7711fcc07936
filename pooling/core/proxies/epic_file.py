"""The verbs, nouns and classes that EPIC-KITCHENS-100 states for its captions.

EPIC_100_retrieval_test.csv has a row for each video, with its caption (`narration`), the columns
`verb` and `all_nouns`, and their classes. Damen et al., "Rescaling egocentric vision", IJCV 2022.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from config.shared.errors import InvalidInput
from pooling.core.proxies.epic_table import read_list, table_rows
from pooling.core.proxies.parsing import ParsedCaption, Word

_COLUMNS: Final = (
    "narration_id",
    "narration",
    "verb",
    "verb_class",
    "all_nouns",
    "all_noun_classes",
)


def read_epic(lines: Iterable[str], source: str) -> dict[str, ParsedCaption]:
    """Return the caption of each `narration_id`. The lemma of a word is its class.

    `parts_of_speech` reads the words, and `StatedClasses` the classes. Raises InvalidInput if a
    column is missing, a row cannot be read or a narration_id occurs twice.
    """
    rows = table_rows(lines, _COLUMNS, source)
    found: dict[str, ParsedCaption] = {}
    for row in rows:
        if row["narration_id"] in found:
            reason = f"{row['narration_id']} occurs twice"
            raise InvalidInput(reason, source=source, line=rows.line_num)
        found[row["narration_id"]] = _read_row(row, source, rows.line_num)
    return found


def _read_row(row: Mapping[str, str], source: str, line: int) -> ParsedCaption:
    nouns, classes = read_list(row["all_nouns"], str), read_list(row["all_noun_classes"], int)
    if nouns is None or classes is None or len(nouns) != len(classes):
        reason = "expected lists of the same length in all_nouns and all_noun_classes"
        raise InvalidInput(reason, source=source, line=line)
    return ParsedCaption(
        row["narration"],
        (Word(row["verb"], row["verb_class"]),),
        tuple(Word(noun, str(number)) for noun, number in zip(nouns, classes, strict=True)),
    )
