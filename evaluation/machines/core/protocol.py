"""The protocol of machine judges, version 1: JSON over HTTP.

    POST {url}/v1/judge    {"batch", "guidelines", "labels", "items": [{"item", "caption",
                            "video": {"url", "sha256", "duration", "sheet"}}]}
                        -> {"machine": {"name", "version", "family"},
                            "judgments": [{"item", "p"} | {"item", "error"}]}
    GET  {url}/v1/card  -> {"name", "version", "family"}
    GET  {url}/healthz  -> 200

A batch has at most 64 items. A machine that gets the same batch id again may answer as before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from hearth.shared.errors import InvalidInput

BATCH = 64
NAME_LENGTH, ERROR_LENGTH = 150, 200
NO_ANSWER = "no answer"


@dataclass(frozen=True, slots=True)
class Machine:
    """Who answers. family: the models that it is related to, such as `clip`."""

    name: str
    version: str
    family: str

    @classmethod
    def read(cls, content: Any) -> Machine:
        """Return the machine of a JSON object. Raises InvalidInput."""
        if not isinstance(content, Mapping):
            raise InvalidInput("the machine does not state its name, version and family")
        found: list[Any] = [content.get(name) for name in ("name", "version", "family")]
        for value in found:
            if not isinstance(value, str) or len(value) > NAME_LENGTH or not value.isprintable():
                raise InvalidInput(
                    "name, version and family of a machine must be printable texts of at most "
                    f"{NAME_LENGTH} characters"
                )
        if not found[0]:
            raise InvalidInput("the machine has no name")
        return cls(*found)


@dataclass(frozen=True, slots=True)
class VideoFile:
    """Where a video can be loaded without an account, for a limited time.

    sheet: a JPEG with frames of the video, which annotators can open, too.
    """

    url: str | None
    sha256: str
    duration: float | None
    sheet: str | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """One pair. item: its place in the batch, which says nothing about systems and ranks."""

    item: str
    caption: str
    video: VideoFile


@dataclass(frozen=True, slots=True)
class Label:
    """What annotators choose from. relevant: whether the label means that the pair is relevant."""

    value: int
    title: str
    relevant: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """The probability that a pair is relevant, or why there is none."""

    p: float | None
    error: str = ""


def payload(
    batch: str, guidelines: str, labels: Sequence[Label], items: Sequence[Item]
) -> dict[str, Any]:
    """Return the request for one batch."""
    return {
        "batch": batch,
        "guidelines": guidelines,
        "labels": [asdict(label) for label in labels],
        "items": [asdict(item) for item in items],
    }


def read_answers(content: Any, items: Sequence[str]) -> tuple[Machine, list[Answer]]:
    """Return the machine and its answers in the order of the items.

    An item without an answer gets the error `no answer`. Raises InvalidInput if the response has
    another form, answers an item twice, or answers one that it was not asked.
    """
    if not isinstance(content, Mapping) or not isinstance(content.get("judgments"), list):
        raise InvalidInput("the response has no list of judgments")
    found: dict[str, Answer] = {}
    for row in content["judgments"]:
        item = row.get("item") if isinstance(row, Mapping) else None
        if not isinstance(item, str) or item not in items or item in found:
            raise InvalidInput(f"the response repeats the item {item!r}, or it was not asked")
        found[item] = _answer(row)
    machine = Machine.read(content.get("machine"))
    return machine, [found.get(item, Answer(None, NO_ANSWER)) for item in items]


def _answer(row: Mapping[str, Any]) -> Answer:
    p: Any = row.get("p")
    error = row.get("error")
    if isinstance(error, str) and error and p is None:
        text = "".join(letter if letter.isprintable() else " " for letter in error)
        return Answer(None, text[:ERROR_LENGTH])
    is_number = isinstance(p, int | float) and not isinstance(p, bool)
    if not is_number or not math.isfinite(p) or not 0 <= p <= 1:
        raise InvalidInput(f"the item {row['item']!r} has neither a p from 0 to 1 nor an error")
    return Answer(float(p))
