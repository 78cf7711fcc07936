"""Runs in JSON: ranked lists by caption, and the predictions files of the FIRE study's code.

There are three layouts. The first value of the outermost object decides which one is read.
- `{caption key or text: [video, ...]}`. A list may also hold `[video, score]` pairs, be an object
  `{video: score}`, or hold a list for each phrasing of the caption. In the direction from video
  to text: `{video: [caption key, ...]}`.
- `{"0": {"caption": text, "gold": video, "preds": [video, ...], ...}, ...}` (MSR-VTT), or a list of
  such entries.
- `{video: {"0": {"caption": ..., "preds": ...}, ...}, ...}` (MSVD), with the gold video as key.
A gold video is an original positive. `MsrvttEvaluation` and `MsvdEvaluation` of the published FIRE
code write the last two layouts.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, repeat
from typing import Any, Final, NoReturn, TypeVar

import numpy as np

from hearth.shared.errors import InvalidInput
from pooling.core.arrays import Float64s, Int32s
from pooling.core.direction import Direction, direction_fault
from pooling.core.json_members import JsonMembers
from pooling.core.keys import shown
from pooling.core.lines import SourceFile, TextBlocks
from pooling.core.ordering import ListBuilder, Predictions, RunData, key_ranks
from pooling.core.problems import Problems
from pooling.core.readers.registry import Fit, Head
from pooling.core.readers.runs import RunOf, RunReader
from pooling.core.readers.runs.trec import FLOAT32_MAX

# The predictions in memory take up to 12 bytes each. Larger runs can be imported as TREC.
MAX_JSON_BYTES = 256 << 20
# Lists are ordered in parts of about this number of predictions.
PART_PREDICTIONS = 1 << 18


@dataclass(frozen=True, slots=True, eq=False)
class _Ranked:
    """One ranked list: video numbers [n], and scores [n] or None if the list has no scores.

    If `has_ranks` is True, the position of a video in the list is its rank. Otherwise, the list has
    no order, and only the scores rank the videos.
    """

    videos: Int32s
    scores: Float64s | None
    has_ranks: bool


@dataclass(frozen=True, slots=True)
class _Entry:
    """One list of the FIRE layouts. `place` names it in messages, `gold` holds video keys."""

    place: str
    text: str
    gold: tuple[str, ...]
    ranked: _Ranked


# The name of a list in messages, the numbers of its captions, and the list.
_List = tuple[str, Sequence[int], _Ranked]
# The name of an entry in messages, its value, and the video in its outer key, if there is one.
_Row = tuple[str, object, tuple[str, ...]]
T = TypeVar("T")


class JsonReader:
    """A reader of JSON files for the keys, texts and original positives of a benchmark.

    `texts[number]` is the text of a caption. `original` maps a query number to the numbers of its
    original positives. `InvalidInput` names the caption, because an entry has no line number in
    JSON. It names the line only if the file is not valid JSON.
    """

    def __init__(self, of: RunOf) -> None:
        self._direction = of.direction
        self._queries = of.rows
        self._elsewhere = of.elsewhere
        self._videos = of.items
        self._original: Mapping[int, Collection[int]] = {}
        self._by_text: dict[str, list[int]] = defaultdict(list)
        if of.direction is Direction.TEXT_TO_VIDEO:
            self._original = of.original or {}
            for number, text in enumerate(of.texts):
                self._by_text[text].append(number)
        self._source = ""

    def read(self, blocks: TextBlocks, depth: int | None) -> RunData:
        self._source = blocks.source  # the layout is refused before any list is read
        members = JsonMembers(blocks, most=len(self._queries) + len(self._videos))
        return self._read(self._lists(members), blocks, depth, "json")

    def read_lists(
        self,
        rows: Iterable[tuple[str, object]],
        blocks: TextBlocks,
        depth: int | None,
        format: str,
    ) -> RunData:
        """Read lists of another format, in the form of the first layout: a key and its list."""
        return self._read(self._keyed_lists(rows), blocks, depth, format)

    def _read(
        self, lists: Iterable[_List], blocks: TextBlocks, depth: int | None, format: str
    ) -> RunData:
        self._source = blocks.source
        self._problems = Problems(self._source)
        builder = ListBuilder(
            n_queries=len(self._queries),
            video_key_ranks=key_ranks(self._videos),
            depth=depth,
            source=self._source,
            problems=self._problems,
            direction=self._direction,
        )
        try:
            for part in self._parts(lists):
                builder.add(part)
        except InvalidInput as error:  # the rest of the file cannot be read
            raise self._problems.joined(error) from None
        self._problems.check()
        return builder.finish(sha256=blocks.sha256, format=format)

    def _parts(self, lists: Iterable[_List]) -> Iterator[Predictions]:
        """Yield the predictions of some lists at a time."""
        reached: dict[int, str] = {}
        held: list[tuple[int, _Ranked]] = []
        n_held = 0
        for place, numbers, ranked in lists:
            for number in numbers:
                if number in reached:
                    self._problems.add(
                        f"{place} is the same {self._direction.row} as {reached[number]}, "
                        "which already has a list"
                    )
                    continue
                reached[number] = place
                held.append((number, ranked))
                n_held += len(ranked.videos)
            if n_held >= PART_PREDICTIONS:
                yield _joined(held)
                held, n_held = [], 0
        if held:
            yield _joined(held)

    def _lists(self, members: JsonMembers) -> Iterator[_List]:
        """Yield each list with its captions. The first member of the file decides the layout."""
        rows = iter(members)
        first = next(rows, None)
        if first is None:
            return iter(())
        rows = chain([first], rows)
        if self._direction is Direction.VIDEO_TO_TEXT:
            if members.is_list or _is_entry(first[1]):
                self._refuse(
                    "this layout is only for text-to-video runs; use {video: [caption, …]}"
                )
            return self._keyed_lists(rows)
        if members.is_list:
            return self._entry_lists(self._entries((f"entry {at}", v, ()) for at, v in rows))
        value = first[1]
        if isinstance(value, dict) and "preds" in value:
            entries = ((f"entry {shown(key)}", v, ()) for key, v in rows)
            return self._entry_lists(self._entries(entries))
        if isinstance(value, dict) and any(isinstance(v, dict) for v in value.values()):
            return self._entry_lists(self._entries(self._nested_entries(rows)))
        return self._keyed_lists(rows)

    def _keyed_lists(self, rows: Iterable[tuple[str, object]]) -> Iterator[_List]:
        for key, value in rows:
            for name, part in _by_phrasing(key, value):
                if found := self._unless_refused(self._keyed_list, name, part):
                    yield found

    def _keyed_list(self, key: str, value: object) -> _List:
        number = self._queries.get(key)
        numbers = self._by_text.get(key, []) if number is None else [number]
        row = self._direction.row
        if not numbers and key in self._videos:
            self._refuse(
                direction_fault(
                    self._direction, f"the key {shown(key)} is a {self._direction.item}"
                )
            )
        if not numbers:
            known = ", neither a key nor a text" if self._by_text else ""
            self._refuse(f"unknown {row} {shown(key)}{known}{self._elsewhere(key)}")
        place = f"{row} {shown(key)}"
        return place, numbers, self._ranked(place, value)

    def _entries(self, rows: Iterable[_Row]) -> Iterator[_Entry]:
        for row in rows:
            if entry := self._unless_refused(self._entry, *row):
                yield entry

    def _unless_refused(self, read: Callable[..., T], *row: object) -> T | None:
        """Return the result of `read`.

        If it raises `InvalidInput`, add the reason to the problems.
        """
        try:
            return read(*row)
        except InvalidInput as error:
            self._problems.add(error.reason)
            return None

    def _nested_entries(self, rows: Iterable[tuple[str, object]]) -> Iterator[_Row]:
        for video, inner in rows:
            if not isinstance(inner, dict):
                self._refuse(f"entry {shown(video)} is not an object like the first")
            for key, value in inner.items():
                yield f"entry {shown(video)} {shown(key)}", value, (video,)

    def _entry(self, place: str, value: object, outer: tuple[str, ...]) -> _Entry:
        if not isinstance(value, dict) or "preds" not in value:
            self._refuse(f'{place} is not an object with "caption" and "preds"')
        text = value.get("caption")
        if not isinstance(text, str):
            self._refuse(f'the "caption" of {place} is missing or not a text')
        gold = value.get("gold", list(outer))
        if isinstance(gold, str):
            gold = [gold]
        if not isinstance(gold, list):
            self._refuse(f'{place} has neither a video nor a list of videos as its "gold"')
        for video in gold:
            self._video(place, video)
        if text not in self._by_text:
            self._refuse(f"{place}: no caption has the text {shown(text)}")
        return _Entry(place, text, tuple(gold), self._ranked(place, value["preds"]))

    def _entry_lists(self, rows: Iterable[_Entry]) -> Iterator[_List]:
        """Yield the list of each entry with the captions that have its text.

        If several entries have the same text, each gets the first free caption with this text. If
        the entry has gold videos and the original positives of the captions are known, one of the
        gold videos must be an original positive of its caption. Reading stops as soon as there are
        more entries than captions. One of the entries then has no free caption, so the file is
        refused.
        """
        entries = list(islice(rows, len(self._queries) + 1))
        times = Counter(entry.text for entry in entries)
        taken: set[int] = set()
        for entry in entries:
            numbers: Sequence[int] = self._by_text[entry.text]
            if times[entry.text] > 1:
                number = self._unless_refused(self._next_caption, entry, numbers, taken)
                if number is None:
                    continue
                numbers = [number]
                taken.add(number)
            yield entry.place, numbers, entry.ranked

    def _next_caption(self, entry: _Entry, numbers: Sequence[int], taken: set[int]) -> int:
        free = [n for n in numbers if n not in taken]
        gold = {self._videos[video] for video in entry.gold}
        # Captions with equal texts can have different videos, so the gold video must match.
        if gold and any(n in self._original for n in numbers):
            free = [n for n in free if gold.intersection(self._original.get(n, ()))]
        if not free:
            self._refuse(f"{entry.place}: no caption {shown(entry.text)} is left for this list")
        return free[0]

    def _ranked(self, place: str, value: object) -> _Ranked:
        if isinstance(value, dict):
            pairs: list[Any] = list(value.items())
        elif isinstance(value, list):
            pairs = value
        else:
            self._refuse(f"{place} has no list of {self._direction.item}s")
        has_ranks = isinstance(value, list)  # an object has no order
        scores: Float64s | None = None
        if not has_ranks or not all(isinstance(pair, str) for pair in pairs):
            if not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs):
                item = self._direction.item
                self._refuse(f"{place} must list only {item}s, or only pairs of {item} and score")
            scores = np.array([self._score(place, score) for _, score in pairs], np.float64)
            pairs = [video for video, _ in pairs]
        videos = self._numbers(place, pairs)
        if len(set(videos)) < len(videos):
            twice = next(video for video, n in Counter(pairs).items() if n > 1)
            self._refuse(f"{place} has {self._direction.item} {shown(twice)} twice")
        return _Ranked(np.array(videos, np.int32), scores, has_ranks)

    def _numbers(self, place: str, keys: Sequence[Any]) -> list[int]:
        try:
            numbers = list(map(self._videos.get, keys, repeat(-1)))
        except TypeError:  # a list or an object among the keys
            numbers = [-1]
        # Only a list with an error is looked up key by key.
        return [self._video(place, key) for key in keys] if -1 in numbers else numbers

    def _video(self, place: str, key: object) -> int:
        if not isinstance(key, str):
            self._refuse(f"{place} has an entry that is not a {self._direction.item} key")
        number = self._videos.get(key)
        if number is None:
            self._refuse(f"{place}: unknown {self._direction.item} {shown(key)}")
        return number

    def _score(self, place: str, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            self._refuse(f"{place} has a score that is not a number")
        # The comparison comes first, because float() fails for very large integers.
        if not -FLOAT32_MAX <= value <= FLOAT32_MAX:
            self._refuse(f"{place} has a score beyond the range of 32-bit numbers")
        return float(value)

    def _refuse(self, reason: str) -> NoReturn:
        raise InvalidInput(reason, source=self._source)


def _by_phrasing(key: str, value: object) -> list[tuple[str, object]]:
    """Return the lists of a caption with the keys of its phrasings: `key`, `key#1`, `key#2`.

    A list of lists has one list for each phrasing, or null for a phrasing without one. A list of
    pairs of item and score is one list.
    """
    if not isinstance(value, list) or not all(isinstance(p, list | None) for p in value):
        return [(key, value)]
    first = next((part for part in value if part), None)
    if first is None or (len(first) == 2 and not isinstance(first[1], str | list)):
        return [(key, value)]
    return [(f"{key}#{n}" if n else key, part) for n, part in enumerate(value) if part]


def _is_entry(value: object) -> bool:
    """Return whether a value is of a FIRE layout: an entry, or an object of entries."""
    values = [value, *value.values()] if isinstance(value, dict) else []
    return any(isinstance(entry, dict) and "preds" in entry for entry in values)


def _joined(lists: Sequence[tuple[int, _Ranked]]) -> Predictions:
    """Return the predictions of some lists.

    A list without scores gets its negative ranks as scores.
    """
    lengths = [len(ranked.videos) for _, ranked in lists]
    ranks = [np.arange(1, length + 1, dtype=np.int32) for length in lengths]
    held = [ranked for _, ranked in lists]
    return Predictions(
        query=np.repeat(np.array([number for number, _ in lists], np.int32), lengths),
        video=np.concatenate([ranked.videos for ranked in held]),
        score=np.concatenate(
            [
                -rank.astype(np.float64) if ranked.scores is None else ranked.scores
                for ranked, rank in zip(held, ranks, strict=True)
            ]
        ),
        rank=np.concatenate(
            [
                rank if ranked.has_ranks else np.zeros_like(rank)
                for ranked, rank in zip(held, ranks, strict=True)
            ]
        ),
        line=np.zeros(sum(lengths), np.int32),
    )


def _fits(head: Head) -> Fit:
    first = head.start.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n")[:1]
    return Fit.POSSIBLE if first in (b"{", b"[") else Fit.NO


def _read(file: SourceFile, of: RunOf) -> RunData:
    return JsonReader(of).read(file.blocks(max_line=None, max_bytes=MAX_JSON_BYTES), of.depth)


READER: Final = RunReader(
    name="json",
    title="JSON",
    place=2,
    about="An object with a list of video ids, best first, for each caption id or text. In a "
    "video-to-text run, the object has a list of caption ids for each video id. The "
    "predictions_test.json of the code of the FIRE study (Rodriguez et al. 2022) is also accepted.",
    example='{"c1": ["v7", "v2"], "c2": ["v4"]}',
    fits=_fits,
    read=_read,
    needs_texts=True,
    needs_original=True,
)
