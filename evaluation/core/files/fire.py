"""The JSON format of the published FIRE annotations.

FIRE is the study "Fighting FIRe with FIRE: Assessing the Validity of Text-to-Video Retrieval
Benchmarks" (Rodriguez et al. 2022, arXiv:2210.05038).

The published loader (`mmr/datasets.py` and `mmr/tasks.py` of the FIRE code) requires the keys
`annotator_ids`, `label`, `video_id`, `query`, `annotator_labels`, `response_ids`, `queue_ids`,
`models` and `dataset` in each annotation. A disagreement has the same keys without `label`. The
lists are parallel, with one entry for each response. The loader ignores other keys. `query` is the
text of the caption. The loader uses only the last annotation for each (`query`, `video_id`), and
the study joined all responses to the same text and video. Captions with the same text are therefore
one entry.

Hearth adds these keys:

pooled_by    the systems whose pooled lists contain the pair, the best rank first
note         the reason if the label is not the majority of the responses
undecided    a list at the top level, if it is not empty: the pairs without a label whose responses
             do not contradict each other. Usually they need more labels.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, NotRequired, TypedDict

RELEVANT, IRRELEVANT = "relevant", "irrelevant"
ROWS_PER_PIECE = 2_000


class Response(NamedTuple):
    """One exported judgment.

    number: the number of the judgment in the label set, from 1. annotator: the pseudonym
    as a number. label: a step of the scale. queue: the number of the campaign.
    """

    number: int
    annotator: int
    label: int
    queue: int


class FireResult(NamedTuple):
    """The contents of the label set for one caption and one video.

    label: None if the pair is in conflict or pending. ruled: whether the label is a lead's ruling.
    systems: the systems whose pooled lists contain the pair, the one with the best rank first.
    """

    label: int | None
    ruled: bool
    responses: Sequence[Response]
    systems: Sequence[str]


class Annotation(NamedTuple):
    """The contents of the label set for one text and one video.

    label: `RELEVANT`, `IRRELEVANT` or None. models: one system for each response, or empty.
    pooled_by: the systems whose pooled lists contain the pair. If several captions have the text,
    the systems of the first caption come first. For each caption, the best rank comes first.
    note: the reason if the label is not the majority of the responses, else empty.
    """

    query: str
    video: str
    label: str | None
    responses: Sequence[Response]
    models: Sequence[str]
    pooled_by: Sequence[str]
    note: str

    @property
    def is_disputed(self) -> bool:
        """Return whether the responses contradict each other and there is no label."""
        labels = {_binary_label(response.label) for response in self.responses}
        return self.label is None and len(labels) > 1


def merge(query: str, video: str, outcomes: Sequence[FireResult]) -> Annotation:
    """Join the outcomes of one video and all captions with the text `query`.

    If leads have ruled on the pair, the label is that of the rulings. It is None if the rulings
    contradict each other. Without rulings, the label is that of the captions that have one. If the
    labels of the captions contradict each other, it is the majority of the joined responses, as in
    the study. If there is no majority, or no caption has a label, it is None.
    """
    responses = [response for outcome in outcomes for response in outcome.responses]
    rulings = {
        _binary_label(outcome.label)
        for outcome in outcomes
        if outcome.ruled and outcome.label is not None
    }
    labels = {_binary_label(outcome.label) for outcome in outcomes if outcome.label is not None}
    majority = _majority(responses)
    label = _single(rulings) if rulings else majority if len(labels) > 1 else _single(labels)
    pooled_by = list(dict.fromkeys(system for outcome in outcomes for system in outcome.systems))
    return Annotation(
        query=query,
        video=video,
        label=label,
        responses=responses,
        models=_models(outcomes, pooled_by),
        pooled_by=pooled_by,
        note=_note(label, majority, is_ruled=bool(rulings)),
    )


def _single(labels: set[str]) -> str | None:
    """Return the label if there is exactly one, or None."""
    return next(iter(labels)) if len(labels) == 1 else None


def _majority(responses: Sequence[Response]) -> str | None:
    """Return the label of more than half of the responses, or None."""
    relevant = sum([response.label >= 1 for response in responses])
    if 2 * relevant == len(responses):
        return None
    return RELEVANT if 2 * relevant > len(responses) else IRRELEVANT


def _models(outcomes: Sequence[FireResult], pooled_by: Sequence[str]) -> list[str]:
    """Return for each response the pooled system that ranks its pair best.

    If no pooled list contains the pair of a caption, its responses get the first system of
    `pooled_by`. If `pooled_by` is empty, so is the result.
    """
    if not pooled_by:
        return []
    return [
        outcome.systems[0] if outcome.systems else pooled_by[0]
        for outcome in outcomes
        for _ in outcome.responses
    ]


def _note(label: str | None, majority: str | None, *, is_ruled: bool) -> str:
    """Return why the label is not the majority of the responses, or an empty text if it is.

    These sentences are part of the format: another wording would change the bytes of the exports
    of label sets that are already published.
    """
    if label == majority:
        return ""
    if not is_ruled:
        return "Some responses belong to captions of this text that are not settled."
    if label is None:
        return "Rulings by leads on captions with this text contradict each other."
    if majority is None:
        return f"A lead ruled {label}; the responses have no majority."
    return f"A lead ruled {label} against the majority of the responses."


def fire_json(
    count: int,
    select: Callable[[Sequence[int]], Iterable[Annotation]],
    *,
    dataset: str,
    header: dict[str, Any],
) -> Iterator[bytes]:
    """Yield the file in pieces.

    count: the number of annotations. select: a function that returns the annotations at some
    places, which are numbers from 0 to count - 1. It is called for one piece at a time, and again
    for the annotations without a label, so that only one piece is in memory. dataset: the value of
    this key in each annotation. header: the top-level values other than the lists.
    """
    unlabelled: tuple[list[int], list[int]] = ([], [])
    yield b'{"annotations": ['
    yield from _list(_labelled(range(count), select, unlabelled), dataset)
    undecided, disputed = unlabelled
    yield b'], "disagreements": ['
    yield from _list(_selected(disputed, select), dataset)
    if undecided:
        yield b'], "undecided": ['
        yield from _list(_selected(undecided, select), dataset)
    yield b"], " + json.dumps(header, sort_keys=True).encode()[1:] + b"\n"


def _labelled(
    places: Sequence[int],
    select: Callable[[Sequence[int]], Iterable[Annotation]],
    unlabelled: tuple[list[int], list[int]],
) -> Iterator[list[Annotation]]:
    """Yield the annotations with a label. Add the places of the others to `unlabelled`.

    unlabelled: two lists of places, first of the undisputed annotations, then of the disputed ones.
    """
    for start in range(0, len(places), ROWS_PER_PIECE):
        piece = places[start : start + ROWS_PER_PIECE]
        found = []
        for place, annotation in zip(piece, select(piece), strict=True):
            if annotation.label is None:
                unlabelled[annotation.is_disputed].append(place)
            else:
                found.append(annotation)
        yield found


def _selected(
    places: Sequence[int], select: Callable[[Sequence[int]], Iterable[Annotation]]
) -> Iterator[Iterable[Annotation]]:
    for start in range(0, len(places), ROWS_PER_PIECE):
        yield select(places[start : start + ROWS_PER_PIECE])


def _list(pieces: Iterable[Iterable[Annotation]], dataset: str) -> Iterator[bytes]:
    comma = ""
    for piece in pieces:
        text = ", ".join(json.dumps(_entry(annotation, dataset)) for annotation in piece)
        if text:
            yield (comma + text).encode()
            comma = ", "


class _Entry(TypedDict):
    annotator_ids: list[int]
    video_id: str
    query: str
    annotator_labels: list[str]
    response_ids: list[int]
    queue_ids: list[int]
    models: list[str]
    pooled_by: list[str]
    dataset: str
    label: NotRequired[str]
    note: NotRequired[str]


def _entry(entry: Annotation, dataset: str) -> _Entry:
    row: _Entry = {
        "annotator_ids": [response.annotator for response in entry.responses],
        "video_id": entry.video,
        "query": entry.query,
        "annotator_labels": [_binary_label(response.label) for response in entry.responses],
        "response_ids": [response.number for response in entry.responses],
        "queue_ids": [response.queue for response in entry.responses],
        "models": list(entry.models),
        "pooled_by": list(entry.pooled_by),
        "dataset": dataset,
    }
    if entry.label is not None:
        row["label"] = entry.label
    if entry.note:
        row["note"] = entry.note
    return row


def _binary_label(label: int) -> str:
    return RELEVANT if label >= 1 else IRRELEVANT
