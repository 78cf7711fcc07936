"""The JSON of the published FIRE annotations, written a piece at a time.

Per annotation the published loader wants `annotator_ids`, `label`, `video_id`, `query`,
`annotator_labels`, `response_ids`, `queue_ids`, `models` and `dataset`; a disagreement is the
same without `label`. Lists run parallel: one entry per response.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

RELEVANT, IRRELEVANT = "relevant", "irrelevant"
ROWS_PER_PIECE = 2_000


@dataclass(frozen=True, slots=True)
class Response:
    """One judgment as it leaves the platform. `number` counts the label set's judgments from 1."""

    number: int
    annotator: int
    label: int
    queue: int


@dataclass(frozen=True, slots=True)
class Annotation:
    """A judged pair; `label` is None where the responses come to no majority.

    systems: those that put the pair in the pool, the one with the best rank first.
    """

    query: str
    video: str
    label: int | None
    responses: Sequence[Response]
    systems: Sequence[str]


def fire_json(
    annotations: Sequence[Annotation], *, dataset: str, header: dict[str, Any]
) -> Iterator[bytes]:
    """The whole file. `header` holds the top-level values beside the two lists."""
    agreed = [entry for entry in annotations if entry.label is not None]
    disputed = [entry for entry in annotations if entry.label is None]
    yield b'{"annotations": ['
    yield from _entries(agreed, dataset)
    yield b'], "disagreements": ['
    yield from _entries(disputed, dataset)
    yield b"], " + json.dumps(header, sort_keys=True).encode()[1:] + b"\n"


def _entries(entries: Sequence[Annotation], dataset: str) -> Iterator[bytes]:
    for start in range(0, len(entries), ROWS_PER_PIECE):
        piece = entries[start : start + ROWS_PER_PIECE]
        comma = ", " if start else ""
        yield (comma + ", ".join(json.dumps(_entry(e, dataset)) for e in piece)).encode()


def _entry(entry: Annotation, dataset: str) -> dict[str, Any]:
    row: dict[str, Any] = {
        "annotator_ids": [response.annotator for response in entry.responses],
        "video_id": entry.video,
        "query": entry.query,
        "annotator_labels": [_word(response.label) for response in entry.responses],
        "response_ids": [response.number for response in entry.responses],
        "queue_ids": [response.queue for response in entry.responses],
        # The published file names one system per response; with more responses than systems
        # they are named in turn.
        "models": [
            entry.systems[place % len(entry.systems)]
            for place in range(len(entry.responses))
            if entry.systems
        ],
        "dataset": dataset,
    }
    if entry.label is not None:
        row["label"] = _word(entry.label)
    return row


def _word(label: int) -> str:
    return RELEVANT if label >= 1 else IRRELEVANT
