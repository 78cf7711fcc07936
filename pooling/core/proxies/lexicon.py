"""The files of WordNet in an uploaded archive."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Final

from hearth.shared.errors import InvalidInput
from pooling.core.proxies.wordnet import Part

NAMES: Final = frozenset(
    name.format(part) for part in Part for name in ("index.{}", "data.{}", "{}.exc")
)
"""The files that are read. WordNet 3.0, 3.1, Debian and NLTK use the same names."""


def members_of_wordnet(names: Iterable[str]) -> dict[str, int]:
    """Return the place of each file of WordNet among the names of an archive's members.

    The files may be in any folder, but they must all be in the same one. Raises InvalidInput if one
    is missing.
    """
    folders: dict[str, dict[str, int]] = {}
    for place, name in enumerate(names):
        path = PurePosixPath(name)
        if path.name in NAMES:
            folders.setdefault(str(path.parent), {}).setdefault(path.name, place)
    found = max(folders.values(), key=len, default={})
    if missing := sorted(NAMES - found.keys()):
        raise InvalidInput(
            "the archive has no WordNet: it needs the files index.*, data.* and *.exc of nouns, "
            f"verbs, adjectives and adverbs in one folder, and {missing[0]} is missing"
        )
    return found
