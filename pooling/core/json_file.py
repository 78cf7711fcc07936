"""Runs in JSON: ranked lists by caption, and the predictions files of the FIRE code.

There are three layouts. The first value of the outermost object decides which one is read.
- `{caption key or text: [video, ...]}`. A list may also hold `[video, score]` pairs or be an object
  `{video: score}`.
- `{"0": {"caption": text, "gold": video, "preds": [video, ...], ...}, ...}` (MSR-VTT), or a list of
  such entries.
- `{video: {"0": {"caption": ..., "preds": ...}, ...}, ...}` (MSVD), with the gold video as key.
`MsrvttEvaluation` and `MsvdEvaluation` of the published code write the last two.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from config.shared.errors import InvalidInput
from pooling.core.keys import shown
from pooling.core.lines import TextBlocks
from pooling.core.ordering import ListBuilder, Predictions, RunData, key_ranks
from pooling.core.trec_file import FLOAT32_MAX

# The parsed objects take several times as much memory. Larger runs can be imported as TREC.
MAX_JSON_BYTES = 256 << 20


@dataclass(frozen=True, slots=True)
class _Entry:
    """One list of the FIRE layouts. `place` names it in messages, `gold` holds video keys."""

    place: str
    text: str
    gold: tuple[str, ...]
    preds: object


class JsonReader:
    """A reader of JSON files for the keys, texts and original positives of a benchmark.

    `texts[number]` is the text of a caption. `original` maps a query number to the numbers of its
    original positives. `InvalidInput` names the caption, because an entry has no line number in
    JSON. It names the line only if the file is not valid JSON.
    """

    def __init__(
        self,
        query_numbers: Mapping[str, int],
        video_numbers: Mapping[str, int],
        texts: Sequence[str] | None,
        original: Mapping[int, Collection[int]] | None,
    ) -> None:
        self._queries = query_numbers
        self._videos = video_numbers
        self._original = original or {}
        self._by_text: dict[str, list[int]] = defaultdict(list)
        for number, text in enumerate(texts or ()):
            self._by_text[text].append(number)
        self._source = ""

    def read(self, blocks: TextBlocks, depth: int | None) -> RunData:
        self._source = blocks.source
        # Without the final newline, an error at the end of the file is reported for its last line.
        text = b"".join(blocks).decode().rstrip("\n")
        data = _load(text, self._source)
        builder = ListBuilder(
            n_queries=len(self._queries),
            video_key_ranks=key_ranks(self._videos),
            depth=depth,
            source=self._source,
        )
        builder.add(self._predictions(data))
        return builder.finish(sha256=blocks.sha256, format="json")

    def _predictions(self, data: object) -> Predictions:
        reached: dict[int, str] = {}
        query, video, rank, score = array("i"), array("i"), array("i"), array("d")
        for place, numbers, value in self._lists(data):
            videos, ranks, scores = self._ranked(place, value)
            for number in numbers:
                if number in reached:
                    self._refuse(
                        f"{place} is the same caption as {reached[number]}, which has a list"
                    )
                reached[number] = place
                query.extend([number] * len(videos))
                video.extend(videos)
                rank.extend(ranks)
                score.extend(scores)
        return Predictions(
            query=np.array(query, dtype=np.int32),
            video=np.array(video, dtype=np.int32),
            score=np.array(score, dtype=np.float64),
            rank=np.array(rank, dtype=np.int32),
            line=np.zeros(len(query), dtype=np.int32),
        )

    def _lists(self, data: object) -> Iterator[tuple[str, Sequence[int], object]]:
        """Yield the name, the query numbers and the ranked list of each list, in any layout."""
        if isinstance(data, list):
            entries = [self._entry(f"entry {at}", entry, ()) for at, entry in enumerate(data)]
            return self._entry_lists(entries)
        if not isinstance(data, dict):
            self._refuse("the outermost value is neither an object nor a list")
        first = next(iter(data.values()), None)
        if not isinstance(first, dict):
            return self._keyed_lists(data)
        if "preds" in first:
            entries = [self._entry(f"entry {shown(key)}", v, ()) for key, v in data.items()]
            return self._entry_lists(entries)
        if any(isinstance(value, dict) for value in first.values()):
            return self._entry_lists(list(self._nested_entries(data)))
        return self._keyed_lists(data)

    def _keyed_lists(
        self, data: Mapping[str, object]
    ) -> Iterator[tuple[str, Sequence[int], object]]:
        for key, value in data.items():
            number = self._queries.get(key)
            numbers = self._by_text.get(key, []) if number is None else [number]
            if not numbers:
                self._refuse(f"unknown caption {shown(key)}, neither a key nor a text")
            yield f"caption {shown(key)}", numbers, value

    def _nested_entries(self, data: Mapping[str, object]) -> Iterator[_Entry]:
        for video, inner in data.items():
            if not isinstance(inner, dict):
                self._refuse(f"entry {shown(video)} is not an object like the first")
            for key, value in inner.items():
                yield self._entry(f"entry {shown(video)} {shown(key)}", value, (video,))

    def _entry(self, place: str, value: object, outer: tuple[str, ...]) -> _Entry:
        if not isinstance(value, dict) or "preds" not in value:
            self._refuse(f'{place} is not an object with "caption" and "preds"')
        text = value.get("caption")
        if not isinstance(text, str):
            self._refuse(f'{place} has no text as its "caption"')
        gold = value.get("gold", list(outer))
        if isinstance(gold, str):
            gold = [gold]
        if not isinstance(gold, list):
            self._refuse(f'{place} has neither a video nor a list of videos as its "gold"')
        for video in gold:
            self._video(place, video)
        return _Entry(place, text, tuple(gold), value["preds"])

    def _entry_lists(self, entries: list[_Entry]) -> Iterator[tuple[str, Sequence[int], object]]:
        """Match entries to captions by text, and among equal captions by gold and then by order."""
        times = Counter(entry.text for entry in entries)
        taken: set[int] = set()
        for entry in entries:
            numbers: Sequence[int] = self._by_text.get(entry.text, ())
            if not numbers:
                self._refuse(f"{entry.place}: no caption has the text {shown(entry.text)}")
            if times[entry.text] > 1:
                numbers = [self._next_caption(entry, numbers, taken)]
                taken.update(numbers)
            yield entry.place, numbers, entry.preds

    def _next_caption(self, entry: _Entry, numbers: Sequence[int], taken: set[int]) -> int:
        free = [n for n in numbers if n not in taken]
        gold = {self._videos[video] for video in entry.gold}
        # If captions with equal texts have different videos, only gold assigns each its own list.
        if gold and any(n in self._original for n in numbers):
            free = [n for n in free if gold.intersection(self._original.get(n, ()))]
        if not free:
            self._refuse(f"{entry.place}: no caption {shown(entry.text)} is left for this list")
        return free[0]

    def _ranked(self, place: str, value: object) -> tuple[list[int], list[int], list[float]]:
        """Return the video numbers, ranks and scores of one list.

        The score is minus the rank if the list has no scores.
        """
        if isinstance(value, dict):
            pairs: list[Any] = list(value.items())
            ranks = [0] * len(pairs)  # an object has no order
        elif isinstance(value, list):
            pairs = value
            ranks = list(range(1, len(pairs) + 1))
        else:
            self._refuse(f"{place} has no list of videos")
        if isinstance(value, list) and all(isinstance(pair, str) for pair in pairs):
            scores = [-float(rank) for rank in ranks]
        else:
            if not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs):
                self._refuse(f"{place} is neither all videos nor all pairs of video and score")
            scores = [self._score(place, score) for _, score in pairs]
            pairs = [video for video, _ in pairs]
        videos = [self._video(place, video) for video in pairs]
        if len(set(videos)) < len(videos):
            twice = next(video for video, n in Counter(pairs).items() if n > 1)
            self._refuse(f"{place} has video {shown(twice)} twice")
        return videos, ranks, scores

    def _video(self, place: str, key: object) -> int:
        if not isinstance(key, str):
            self._refuse(f"{place} has an entry that is not a video key")
        number = self._videos.get(key)
        if number is None:
            self._refuse(f"{place}: unknown video {shown(key)}")
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


def _load(text: str, source: str) -> object:
    """Parse strict JSON: without repeated keys, NaN, Infinity or very deep nesting."""

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            key = next(key for key, n in Counter(key for key, _ in pairs).items() if n > 1)
            raise InvalidInput(f"the key {shown(key)} occurs twice in one object", source=source)
        return found

    def constant(name: str) -> NoReturn:
        raise InvalidInput(f"{name} is not a JSON number", source=source)

    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=constant)
    except json.JSONDecodeError as error:
        reason = f"the file is not JSON: {error.msg} (column {error.colno})"
        raise InvalidInput(reason, source=source, line=error.lineno) from error
    except ValueError as error:  # the interpreter's limit on the digits of an integer
        raise InvalidInput("an integer has too many digits", source=source) from error
    except RecursionError as error:
        raise InvalidInput("lists or objects are nested too deeply", source=source) from error
