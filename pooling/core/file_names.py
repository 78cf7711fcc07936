"""Find the videos of a benchmark that files belong to, by the names of the files."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import PurePosixPath

from hearth.shared.folding import fold


class MatchKind(Enum):
    """How a file name relates to the videos of a benchmark."""

    MATCH = "match"
    NEW = "new"
    AMBIGUOUS = "ambiguous"


@dataclass(frozen=True, slots=True)
class Match:
    """The video of a file. `key` is empty unless exactly one video and one file belong together."""

    kind: MatchKind
    key: str = ""


def match_names(names: Sequence[str], keys: Iterable[str]) -> list[Match]:
    """Return the match of each file name with the keys of a benchmark's videos.

    A name matches the key that equals it with or without its suffix. If there is no such key, upper
    and lower case and the encoding of accents are ignored. A name is ambiguous if it matches
    several keys, or if several of the names match the same key.
    """
    exact = set(keys)
    folded: dict[str, list[str]] = defaultdict(list)
    for key in exact:
        folded[fold(key)].append(key)
    found = [_keys_of(name, exact, folded) for name in names]
    times = Counter(key for candidates in found for key in candidates)
    return [_match(candidates, times) for candidates in found]


def _keys_of(name: str, exact: set[str], folded: dict[str, list[str]]) -> set[str]:
    name = base_name(name)
    forms = {name, PurePosixPath(name).stem}
    return forms & exact or {key for form in forms for key in folded.get(fold(form), ())}


def _match(candidates: set[str], times: Counter[str]) -> Match:
    if not candidates:
        return Match(MatchKind.NEW)
    if len(candidates) > 1 or any(times[key] > 1 for key in candidates):
        return Match(MatchKind.AMBIGUOUS)
    return Match(MatchKind.MATCH, *candidates)


def base_name(name: str) -> str:
    """Return the last part of a Unix or Windows path."""
    return name.replace("\\", "/").rsplit("/", 1)[-1]
