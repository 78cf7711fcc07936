"""Which captions make up each paragraph, in their order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from hearth.shared.errors import InvalidInput
from pooling.core.keys import key_fault, shown
from pooling.core.lines import SourceFile
from pooling.core.table import CsvTable

CAPTION, PARAGRAPH, PLACE = "caption_id", "paragraph_id", "place"
NOT_USED = ("caption", "video_id")
PLACE_MAX = 10_000


@dataclass(slots=True)
class Groups:
    """The numbers of the captions of each paragraph by its key. Both are in order."""

    members: dict[str, list[int]] = field(default_factory=dict)

    def joined(self, texts: Sequence[str]) -> Iterable[tuple[str, str]]:
        """Yield the key and the text of each paragraph: its sentences, joined by one space."""
        for key, numbers in self.members.items():
            yield key, " ".join(texts[number].strip() for number in numbers)


def by_video(
    positives: Iterable[tuple[int, int]], query_keys: Sequence[str], video_keys: Sequence[str]
) -> Groups:
    """Group captions by their video, in the order of their numbers.

    positives: the numbers of a caption and a video each, ascending. Raises `InvalidInput` if a
    caption does not have exactly one video.
    """
    video_of: dict[int, int] = {}
    for query, video in positives:
        if query in video_of:
            reason = f"caption {shown(query_keys[query])} has several videos; add a table"
            raise InvalidInput(f"{reason} with the column {PARAGRAPH}")
        video_of[query] = video
    groups = Groups()
    for query, key in enumerate(query_keys):
        if query not in video_of:
            raise InvalidInput(f"caption {shown(key)} has no original positive to group it by")
        groups.members.setdefault(video_keys[video_of[query]], []).append(query)
    return groups


def read_groups(file: SourceFile, query_numbers: Mapping[str, int]) -> Groups:
    """Read a table with the columns caption_id, paragraph_id and, optionally, place.

    Without places, the captions of a paragraph are in the order of the rows. Raises `InvalidInput`
    if a caption is unknown, missing or repeated, or if two have the same place.
    """
    table = CsvTable(file.blocks(), (CAPTION, PARAGRAPH), (PLACE,), ignored=NOT_USED)
    lines: dict[int, int] = {}
    places: dict[str, dict[int, int]] = {}
    for line, (caption, paragraph, place) in table:
        number = query_numbers.get(caption)
        if number is None:
            table.refuse(f"unknown caption {shown(caption)}", line)
        if number in lines:
            table.refuse(f"caption {shown(caption)} is already in line {lines[number]}", line)
        if fault := key_fault(paragraph, "paragraph"):
            table.refuse(fault, line)
        lines[number] = line
        of = places.setdefault(paragraph, {})
        at = _place(table, place, line) if place else len(of)
        if at in of:
            reason = f"paragraph {shown(paragraph)} has two captions at the place {at}"
            table.refuse(reason, line)
        of[at] = number
    if missing := next((key for key, number in query_numbers.items() if number not in lines), None):
        raise InvalidInput(f"caption {shown(missing)} is in no row", source=file.source)
    return Groups({key: [of[at] for at in sorted(of)] for key, of in places.items()})


def _place(table: CsvTable, text: str, line: int) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= PLACE_MAX):
        table.refuse(f"the place must be a whole number from 0, not {shown(text)}", line)
    return int(text)
