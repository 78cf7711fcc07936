"""The JSON of the FIRE annotations: its entries, its rules, and that pieces make one whole."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluation.core import fire
from evaluation.core.fire import Annotation, Response, fire_json

HEADER = {"created_ds": "2026-01-01", "license": "CC0", "datasets": ["MSVD"]}


def entry(label: int | None, labels: list[int], systems: list[str], number: int = 1) -> Annotation:
    responses = [
        Response(number + place, annotator=100 + place, label=given, queue=1)
        for place, given in enumerate(labels)
    ]
    return Annotation("a “red” shape", "v,1", label, responses, systems)


def load(annotations: list[Annotation]) -> dict[str, Any]:
    pieces = fire_json(annotations, dataset="MSVD", header=HEADER)
    found: dict[str, Any] = json.loads(b"".join(pieces))
    return found


def test_an_agreed_pair_is_an_annotation() -> None:
    assert load([entry(1, [1, 0, 1], ["CE", "SSB"])]) == {
        "annotations": [
            {
                "annotator_ids": [100, 101, 102],
                "label": "relevant",
                "video_id": "v,1",
                "query": "a “red” shape",
                "annotator_labels": ["relevant", "irrelevant", "relevant"],
                "response_ids": [1, 2, 3],
                "queue_ids": [1, 1, 1],
                "models": ["CE", "SSB", "CE"],
                "dataset": "MSVD",
            }
        ],
        "disagreements": [],
        **HEADER,
    }


def test_a_pair_without_majority_is_a_disagreement_without_label() -> None:
    found = load([entry(None, [1, 0], []), entry(0, [0], ["CE"])])
    assert [row["label"] for row in found["annotations"]] == ["irrelevant"]
    (disputed,) = found["disagreements"]
    assert "label" not in disputed
    assert (disputed["annotator_labels"], disputed["models"]) == (["relevant", "irrelevant"], [])


@pytest.mark.parametrize(("grade", "word"), [(0, "irrelevant"), (1, "relevant"), (3, "relevant")])
def test_every_grade_above_zero_is_relevant(grade: int, word: str) -> None:
    (row,) = load([entry(grade, [grade], ["CE"])])["annotations"]
    assert (row["label"], row["annotator_labels"]) == (word, [word])


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5])
def test_pieces_make_one_whole(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(fire, "ROWS_PER_PIECE", 2)
    agreed = [entry(number % 2, [number % 2], ["CE"], number) for number in range(count)]
    disputed = [entry(None, [1, 0], ["CE"], 10 * number) for number in range(count)]
    found = load(agreed + disputed)
    assert [row["response_ids"] for row in found["annotations"]] == [[n] for n in range(count)]
    assert [row["response_ids"] for row in found["disagreements"]] == [
        [10 * n, 10 * n + 1] for n in range(count)
    ]
