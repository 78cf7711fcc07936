"""Labels as JSON in the format of the FIRE study: entries, rules for labels, and pieces."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from evaluation.core.files import fire
from evaluation.core.files.fire import Annotation, FireResult, Response, fire_json, merge

HEADER = {"created_ds": "2026-01-01", "license": "CC0", "datasets": ["MSVD"]}


def outcome(
    label: int | None,
    labels: list[int],
    systems: tuple[str, ...] = (),
    number: int = 1,
    ruled: bool = False,
) -> FireResult:
    responses = [
        Response(number + place, annotator=100 + place, label=step, queue=1)
        for place, step in enumerate(labels)
    ]
    return FireResult(label, ruled, responses, systems)


def merged(*outcomes: FireResult) -> Annotation:
    return merge("a “red” shape", "v,1", outcomes)


def load(*annotations: Annotation) -> dict[str, Any]:
    def select(places: Sequence[int]) -> list[Annotation]:
        return [annotations[place] for place in places]

    pieces = fire_json(len(annotations), select, dataset="MSVD", header=HEADER)
    found: dict[str, Any] = json.loads(b"".join(pieces))
    return found


def test_a_pair_with_a_majority_is_an_annotation() -> None:
    assert load(merged(outcome(1, [1, 0, 1], ("CE", "SSB")))) == {
        "annotations": [
            {
                "annotator_ids": [100, 101, 102],
                "label": "relevant",
                "video_id": "v,1",
                "query": "a “red” shape",
                "annotator_labels": ["relevant", "irrelevant", "relevant"],
                "response_ids": [1, 2, 3],
                "queue_ids": [1, 1, 1],
                "models": ["CE", "CE", "CE"],
                "pooled_by": ["CE", "SSB"],
                "dataset": "MSVD",
            }
        ],
        "disagreements": [],
        **HEADER,
    }


def test_a_pair_without_majority_is_a_disagreement_without_label() -> None:
    found = load(merged(outcome(None, [1, 0])), merged(outcome(0, [0], ("CE",))))
    assert [row["label"] for row in found["annotations"]] == ["irrelevant"]
    (disputed,) = found["disagreements"]
    assert "label" not in disputed
    assert (disputed["annotator_labels"], disputed["models"]) == (["relevant", "irrelevant"], [])


def test_a_pending_pair_is_not_a_disagreement() -> None:
    found = load(merged(outcome(None, [1], ("CE",))))
    assert (found["annotations"], found["disagreements"]) == ([], [])
    (pending,) = found["undecided"]
    assert (pending["annotator_labels"], "label" in pending) == (["relevant"], False)


def test_captions_with_the_same_text_are_one_entry() -> None:
    annotation = merged(outcome(1, [1, 1], ("SSB", "CE")), outcome(1, [1], ("CE",), number=7))
    assert [response.number for response in annotation.responses] == [1, 2, 7]
    assert (annotation.label, annotation.models, annotation.pooled_by) == (
        "relevant",
        ["SSB", "SSB", "CE"],
        ["SSB", "CE"],
    )


def test_responses_to_an_unpooled_pair_have_the_first_system_of_the_equal_captions() -> None:
    annotation = merged(outcome(1, [1, 1]), outcome(1, [1], ("CE",)))
    assert annotation.models == ["CE", "CE", "CE"]
    assert merged(outcome(1, [1, 1]), outcome(1, [1])).models == []


@pytest.mark.parametrize(
    ("outcomes", "label"),
    [
        # If the labels of equal captions contradict each other, the majority of all responses
        # counts.
        ([outcome(1, [1]), outcome(0, [0, 0])], "irrelevant"),
        ([outcome(1, [1]), outcome(0, [0])], None),
        # If the pair of one caption has no label, that of the other caption counts.
        ([outcome(1, [1]), outcome(None, [0])], "relevant"),
        ([outcome(None, [1]), outcome(None, [1])], None),
        # A ruling counts for all captions of the text. Contradicting rulings give no label.
        ([outcome(1, [1], ruled=True), outcome(0, [0, 0, 0])], "relevant"),
        ([outcome(1, [1], ruled=True), outcome(0, [0], ruled=True)], None),
        # 1 and 2 are both relevant.
        ([outcome(2, [2]), outcome(1, [1])], "relevant"),
    ],
)
def test_the_label_of_equal_captions(outcomes: list[FireResult], label: str | None) -> None:
    assert merged(*outcomes).label == label


@pytest.mark.parametrize(
    ("outcomes", "note"),
    [
        ([outcome(1, [1, 0, 1])], ""),
        ([outcome(1, [1, 1], ruled=True)], ""),
        ([outcome(None, [1, 0])], ""),
        (
            [outcome(0, [1, 1], ruled=True)],
            "A lead ruled irrelevant against the majority of the responses.",
        ),
        (
            [outcome(1, [1, 0], ruled=True)],
            "A lead ruled relevant; the responses have no majority.",
        ),
        ([outcome(1, [], ruled=True)], "A lead ruled relevant; the responses have no majority."),
        (
            [outcome(1, [1], ruled=True), outcome(0, [0, 0], ruled=True)],
            "Rulings by leads on captions with this text contradict each other.",
        ),
        (
            [outcome(1, [1]), outcome(None, [0])],
            "Some responses belong to captions of this text that are not settled.",
        ),
    ],
)
def test_the_note_gives_the_reason_if_the_label_is_not_the_majority(
    outcomes: list[FireResult], note: str
) -> None:
    annotation = merged(*outcomes)
    assert annotation.note == note
    found = load(annotation)
    (row,) = found["annotations"] + found["disagreements"]
    assert row.get("note", "") == note


@pytest.mark.parametrize(("grade", "word"), [(0, "irrelevant"), (1, "relevant"), (3, "relevant")])
def test_every_grade_above_zero_is_relevant(grade: int, word: str) -> None:
    (row,) = load(merged(outcome(grade, [grade], ("CE",))))["annotations"]
    assert (row["label"], row["annotator_labels"]) == (word, [word])


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5])
def test_pieces_join_to_one_file(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(fire, "ROWS_PER_PIECE", 2)
    agreed = [merged(outcome(n % 2, [n % 2], ("CE",), n)) for n in range(count)]
    disputed = [merged(outcome(None, [1, 0], ("CE",), 10 * n)) for n in range(count)]
    found = load(*agreed, *disputed)
    assert [row["response_ids"] for row in found["annotations"]] == [[n] for n in range(count)]
    assert [row["response_ids"] for row in found["disagreements"]] == [
        [10 * n, 10 * n + 1] for n in range(count)
    ]
