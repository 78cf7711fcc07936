"""A JSON file with the keys of the rows and columns of a matrix."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from hearth.shared.errors import InvalidInput
from pooling.core.arrays import Int64s
from pooling.core.lines import SourceFile
from pooling.core.readers.registry import Reader, Readers

KeyLists = Mapping[str, Sequence[str]]
"""The lists `captions` and `videos`."""

MATRIX_KEYS: Final = Readers[Reader[[], KeyLists]]("matrix keys", __package__)


def _read_json(file: SourceFile) -> KeyLists:
    try:
        content: Any = json.loads(file.path.read_bytes())
    except (ValueError, RecursionError, OSError):
        raise InvalidInput("this is not a JSON file", source=file.source) from None
    keys = {}
    for name in ("captions", "videos"):
        found = content.get(name) if isinstance(content, dict) else None
        if not isinstance(found, list) or not all(isinstance(key, str) for key in found):
            reason = f"the file must be a JSON object in which {name!r} is a list of keys"
            raise InvalidInput(reason, source=file.source)
        keys[name] = found
    return keys


def places_of_keys(keys: Sequence[str], known: Sequence[str], noun: str, source: str) -> Int64s:
    """Return the place in `keys` of each known key, int64 [n]. Raises InvalidInput.

    The file must name each caption or video once. noun: "caption" or "video", for errors.
    """
    places: dict[str, int] = {}
    stored = set(known)
    for place, key in enumerate(keys):
        if key not in stored:
            raise InvalidInput(f"the benchmark has no {noun} {key!r}", source=source)
        if key in places:
            raise InvalidInput(f"the {noun} {key!r} is named twice", source=source)
        places[key] = place
    if missing := next((key for key in known if key not in places), None):
        raise InvalidInput(f"the {noun} {missing!r} is missing", source=source)
    return np.array([places[key] for key in known], np.int64)


READER: Final = Reader(
    kind=MATRIX_KEYS.kind,
    name="json",
    title="JSON with the lists captions and videos",
    read=_read_json,
)
