"""Figures and flags of annotators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evaluation.core.people.dawid_skene import dawid_skene
from evaluation.core.people.figures import (
    Flag,
    PersonFigures,
    flags,
    label_accuracy,
    people_figures,
)
from evaluation.core.people.pace import HOUR
from tests.evaluation.core.people.test_pace import NOON, make_answers

TYPICAL = PersonFigures(
    answers=1000,
    counted=1000,
    relevant=100,
    surplus=0,
    gold=0,
    right=0,
    compared=200,
    equal=180,
    compared_all=200,
    equal_all=180,
    timed=1000,
    too_fast=0,
    hours=2.0,
    seconds=3.0,
    accuracy=0.95,
    accuracy_low=0.91,
    accuracy_high=0.97,
    accuracy_labels=200,
    last_at=NOON,
)


def test_figures_by_hand() -> None:
    answers = make_answers(
        # Anna and Ben agree on task 0 and differ on task 1, so Cara adds a third label. Only
        # Anna has judged task 2.
        {"person": 0, "task": 0, "label": 1, "ms": 2000},
        {"person": 1, "task": 0, "label": 1, "ms": 600, "at": NOON + 60},
        {"person": 0, "task": 1, "label": 1, "ms": 4000, "at": NOON + 5},
        {"person": 1, "task": 1, "label": 0, "ms": 130_000, "at": NOON + 190},
        {"person": 2, "task": 1, "label": 0, "planned": False},
        {"person": 0, "task": 2, "label": 0, "at": NOON + 15},
        {"person": 0, "task": 3, "label": 1, "kind": "surplus", "at": NOON + 16},
        {"person": 0, "task": 4, "label": 1, "kind": "gold", "gold": 1, "at": NOON + 20},
        {"person": 0, "task": 5, "label": 1, "kind": "gold", "gold": 0, "at": NOON + 25},
        # This gold item is retired.
        {"person": 0, "task": 6, "label": 1, "kind": "gold", "gold": -1, "at": NOON + 30},
    )
    anna, ben, cara = people_figures(answers, 3, n_steps=2)
    assert anna | dict.fromkeys(("accuracy", "accuracy_low", "accuracy_high")) == PersonFigures(
        answers=7,
        counted=3,
        relevant=2,
        surplus=1,
        gold=2,
        right=1,
        compared=2,
        equal=1,
        # Ben agrees once and differs once. Cara, with the third label, differs.
        compared_all=3,
        equal_all=1,
        timed=2,
        too_fast=0,
        hours=32 / HOUR,
        seconds=3.0,
        accuracy=None,
        accuracy_low=None,
        accuracy_high=None,
        accuracy_labels=2,
        last_at=NOON + 30,
    )
    assert (ben["counted"], ben["relevant"], ben["compared"], ben["equal"]) == (2, 1, 2, 1)
    assert (ben["timed"], ben["too_fast"], ben["seconds"]) == (2, 1, 0.6)
    # Third labels do not count for agreement.
    assert (cara["counted"], cara["compared"], cara["equal"]) == (1, 0, 0)
    assert cara["accuracy_labels"] == 1
    assert (cara["timed"], cara["seconds"], cara["hours"]) == (0, None, 0)


def test_no_annotators() -> None:
    assert people_figures(make_answers(), 0, n_steps=2) == ()


def test_accuracy_is_that_of_the_model_over_shared_pairs() -> None:
    rng = np.random.default_rng(3)
    truth = rng.random(300) < 0.4
    tasks = np.repeat(np.arange(300), 3)
    people = np.tile(np.arange(3), 300)
    wrong = rng.random(900) < np.tile([0.05, 0.1, 0.4], 300)
    labels = np.repeat(truth, 3) ^ wrong
    # A fourth annotator has a hundred pairs that no other annotator has.
    unshared = np.arange(300, 400)
    accuracy, interval, n_used = label_accuracy(
        np.concatenate([unshared, tasks]),
        np.concatenate([np.full(100, 3), people]),
        np.concatenate([np.ones(100, np.int64), labels * 1]),
        4,
        2,
    )
    model = dawid_skene(tasks, people, labels * 1, 2).model
    assert model is not None
    assert accuracy[:3].tolist() == model.accuracy.tolist()
    assert np.isnan(accuracy[3])
    assert n_used.tolist() == [300, 300, 300, 0]
    assert (interval[:3, 0] < accuracy[:3]).all()
    assert (accuracy[:3] < interval[:3, 1]).all()
    assert np.isnan(interval[3]).all()
    assert np.abs(accuracy[:3] - [0.95, 0.9, 0.6]).max() < 0.1


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, ()),
        ({"too_fast": 50}, (Flag.TOO_FAST,)),
        ({"too_fast": 49}, ()),
        ({"timed": 19, "too_fast": 19}, ()),
        ({"gold": 10, "right": 5}, (Flag.LOW_GOLD,)),
        ({"gold": 10, "right": 6}, ()),
        ({"gold": 4, "right": 0}, ()),
        ({"equal": 159, "accuracy": 0.89}, (Flag.LOW_AGREEMENT,)),
        ({"equal": 161, "accuracy": 0.89}, ()),
        ({"equal": 159, "accuracy": None}, (Flag.LOW_AGREEMENT,)),
        # The annotator is accurate: the other annotators were wrong.
        ({"equal": 159, "accuracy": 0.91}, ()),
        # The difference is more than ten points, but there are few labels.
        ({"compared": 20, "equal": 15, "accuracy": 0.5}, ()),
        ({"relevant": 201}, (Flag.MANY_RELEVANT,)),
        ({"relevant": 199}, ()),
        (
            {"relevant": 300, "equal": 100, "accuracy": 0.5},
            (Flag.LOW_AGREEMENT, Flag.MANY_RELEVANT),
        ),
    ],
)
def test_flags_of_one_annotator(change: dict[str, Any], expected: tuple[Flag, ...]) -> None:
    rows = [TYPICAL | change, *[TYPICAL] * 9]
    assert flags(rows) == [expected, *[()] * 9]


def test_few_relevant_among_many() -> None:
    others = TYPICAL | {"relevant": 300}
    rows = [TYPICAL | {"relevant": 199}, *[others] * 9]
    assert flags(rows)[0] == (Flag.FEW_RELEVANT,)


def test_the_campaigns_accuracy_requirement_is_used() -> None:
    rows = [TYPICAL | {"gold": 20, "right": 14}]
    assert flags(rows) == [()]
    assert flags(rows, min_accuracy=0.95) == [(Flag.LOW_GOLD,)]


def test_a_single_annotator_has_no_flags() -> None:
    assert flags([TYPICAL | {"compared": 0, "equal": 0}]) == [()]
    assert flags([]) == []
