"""The positions of labels in their tasks, and the primary keys of first answers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from annotation.core.first_labels import first_answers, label_places

Int64Array = npt.NDArray[np.int64]


def numbers(*values: int) -> Int64Array:
    return np.array(values, np.int64)


NONE = (numbers(), numbers(), numbers())


def test_label_places_follow_the_order_of_arrival_within_the_task() -> None:
    tasks = numbers(7, 3, 7, 3, 7, 9)
    arrivals = numbers(11, 12, 10, 15, 14, 1)
    assert label_places(tasks, arrivals).tolist() == [1, 0, 0, 1, 2, 0]
    assert label_places(numbers(), numbers()).tolist() == []


def test_a_corrected_label_has_the_primary_key_of_the_first_answer() -> None:
    # Each triple contains primary keys, tasks and annotators. Annotator 5 corrected the answer to
    # task 1 twice, and annotator 6 corrected the answer to task 2 once. No answer to task 9 is
    # counted.
    counted = (numbers(20, 31, 32, 40), numbers(1, 1, 2, 3), numbers(6, 5, 6, 5))
    corrected = (numbers(11, 10, 12, 13), numbers(1, 1, 2, 9), numbers(5, 5, 6, 5))
    assert first_answers(counted, corrected).tolist() == [20, 10, 12, 40]
    assert first_answers(counted, NONE).tolist() == counted[0].tolist()
    assert first_answers(NONE, corrected).tolist() == []


def agreement_after_withdrawals(rng: np.random.Generator, *, by_slot: bool) -> float:
    """Return how often the first two labels agree after each task's second label was withdrawn.

    Each label of a task is relevant with the same probability p, so the exact value is the mean of
    p^2 + (1 - p)^2. Slots 0 and 1 are planned. If their labels differ, a third annotator fills slot
    2. The withdrawal frees slot 1, which is filled again unless two equal labels are left.
    """
    n = 100_000
    p = rng.choice([0.1, 0.5, 0.9], n)
    labels = (rng.random((5, n)) < p).astype(np.int64)
    tasks = np.arange(n)
    third = labels[0] != labels[1]
    fourth = ~third | (labels[0] != labels[2])
    # Rows: the first label, the third, and the one that fills the freed slot.
    rows = [(tasks, 0, 0, labels[0]), (tasks[third], 2, 2, labels[2][third])]
    rows.append((tasks[fourth], 3, 1, labels[3][fourth]))
    task = np.concatenate([row[0] for row in rows])
    arrivals = np.concatenate([np.full(len(row[0]), row[1]) for row in rows])
    slot = np.concatenate([np.full(len(row[0]), row[2]) for row in rows])
    values = np.concatenate([row[3] for row in rows])
    first = (slot if by_slot else label_places(task, arrivals)) < 2
    count = np.bincount(task[first], minlength=n)
    yes = np.bincount(task[first], weights=values[first], minlength=n)
    assert count.max() == 2
    return float((yes[count == 2] != 1).mean())


def test_withdrawals_bias_agreement_if_labels_are_chosen_by_slot_but_not_by_arrival() -> None:
    expected = (2 * (0.1**2 + 0.9**2) + 0.5) / 3
    rng = np.random.default_rng(1)
    # The standard error is 0.0014.
    assert abs(agreement_after_withdrawals(rng, by_slot=False) - expected) < 0.005
    assert abs(agreement_after_withdrawals(rng, by_slot=True) - expected) > 0.01
