"""The model of Dawid and Skene, compared with plain loops and a table computed by hand."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.people import dawid_skene as module
from evaluation.core.people.agreement import NO_LABELS, NOTHING_SHARED
from evaluation.core.people.alpha import NO_VARIATION
from evaluation.core.people.dawid_skene import (
    ONE_ANNOTATOR,
    LabelModel,
    LabelModelEstimate,
    dawid_skene,
)

Rows = list[tuple[int, int, int]]  # item, annotator, label


def fit(rows: Rows, n_steps: int, **options: float) -> LabelModel:
    estimate = dawid_skene(*columns(rows), n_steps, **options)  # type: ignore[arg-type]
    assert estimate.model is not None
    assert estimate.undefined is None
    return estimate.model


def columns(rows: Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2]


def slow_em(
    rows: Rows, n_steps: int, *, smoothing: float, rounds: int
) -> tuple[list[float], list[list[list[float]]], list[list[float]]]:
    """Return priors, confusion matrices and posteriors, computed item by item, label by label."""
    classes = range(n_steps)
    n_items, n_annotators = (max(row[at] for row in rows) + 1 for at in (0, 1))
    by_item = [[(a, label) for i, a, label in rows if i == item] for item in range(n_items)]
    posterior = [
        [sum(value == k for _, value in own) / len(own) for k in classes] for own in by_item
    ]
    for _ in range(rounds):
        priors = [
            (math.fsum(row[k] for row in posterior) + smoothing) / (n_items + n_steps * smoothing)
            for k in classes
        ]
        confusion = [
            [confusion_row(by_item, posterior, a, k, n_steps, smoothing) for k in classes]
            for a in range(n_annotators)
        ]
        posterior = []
        for own in by_item:
            chances = [
                priors[k] * math.prod(confusion[a][k][label] for a, label in own) for k in classes
            ]
            posterior.append([chance / math.fsum(chances) for chance in chances])
    return priors, confusion, posterior


def confusion_row(
    by_item: list[list[tuple[int, int]]],
    posterior: list[list[float]],
    annotator: int,
    true: int,
    n_steps: int,
    smoothing: float,
) -> list[float]:
    counts = [smoothing] * n_steps
    for item, own in enumerate(by_item):
        for who, label in own:
            if who == annotator:
                counts[label] += posterior[item][true]
    return [count / math.fsum(counts) for count in counts]


def assert_equal_to_slow(rows: Rows, n_steps: int, *, smoothing: float, rounds: int) -> None:
    model = fit(rows, n_steps, smoothing=smoothing, tolerance=0, max_iterations=rounds)
    priors, confusion, posterior = slow_em(rows, n_steps, smoothing=smoothing, rounds=rounds)

    np.testing.assert_allclose(model.priors, priors, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.confusion, confusion, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.posterior(), posterior, rtol=0, atol=1e-9)
    accuracy = [sum(priors[k] * of_one[k][k] for k in range(n_steps)) for of_one in confusion]
    np.testing.assert_allclose(model.accuracy, accuracy, rtol=0, atol=1e-9)


def simulated(
    seed: int, *, items: int, annotators: int, n_steps: int, most: int = 3
) -> tuple[Rows, np.ndarray]:
    """Return one to `most` labels per item, by annotators of very different accuracy."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(n_steps, items, p=np.arange(1, n_steps + 1) / sum(range(n_steps + 1)))
    skill = np.linspace(0.3, 1, annotators)
    rows = []
    for item in range(items):
        who = rng.choice(annotators, rng.integers(1, most + 1), replace=False).tolist()
        # Every annotator has at least one item.
        who = sorted({*who, item}) if item < annotators else who
        for annotator in who:
            right = rng.random() < skill[annotator]
            rows.append((item, annotator, int(truth[item] if right else rng.integers(n_steps))))
    rng.shuffle(rows)
    return [tuple(row) for row in rows], truth  # type: ignore[misc]


# --- Correct values -------------------------------------------------------------------------


def test_one_round_by_hand() -> None:
    # A and B label item 0 with 0 0, item 1 with 1 1, and item 2 with 1 0. The posterior of item 2
    # starts at 1/2 for both classes.
    rows = [(0, 0, 0), (0, 1, 0), (1, 0, 1), (1, 1, 1), (2, 0, 1), (2, 1, 0)]

    model = fit(rows, 2, smoothing=1, max_iterations=1)

    # Each class has 1 + 1/2 items, and smoothing adds 1: 5/2 of 5.
    # In class 0, A has label 0 for 1 item and label 1 for 1/2: 2 and 3/2 after smoothing, of 7/2.
    sevenths = [[[4, 3], [2, 5]], [[5, 2], [3, 4]]]
    np.testing.assert_allclose(model.priors, [1 / 2, 1 / 2], rtol=1e-15)
    np.testing.assert_allclose(model.confusion, np.array(sevenths) / 7, rtol=1e-15)
    np.testing.assert_allclose(model.accuracy, [9 / 14, 9 / 14], rtol=1e-15)
    # The products of class 0 and of class 1 are 4 x 5 and 2 x 3 for item 0, 3 x 2 and 5 x 4 for
    # item 1, and 3 x 5 and 5 x 3 for item 2.
    np.testing.assert_allclose(
        model.posterior(), [[10 / 13, 3 / 13], [3 / 13, 10 / 13], [1 / 2, 1 / 2]], rtol=1e-14
    )
    assert (model.iterations, model.converged) == (1, False)


@pytest.mark.parametrize("rounds", [1, 2, 7, 40])
@pytest.mark.parametrize(
    ("items", "annotators", "n_steps", "most"),
    [(40, 5, 2, 3), (60, 12, 3, 2), (25, 4, 5, 4), (300, 30, 2, 1), (12, 11, 2, 11)],
)
def test_equal_to_plain_loops(
    items: int, annotators: int, n_steps: int, most: int, rounds: int
) -> None:
    rows, _ = simulated(
        items + rounds, items=items, annotators=annotators, n_steps=n_steps, most=most
    )
    rows += [(0, 0, 0), (0, 1, 1)]  # a shared item, and possibly two labels by one annotator
    for smoothing in (0.01, 1.0, 1e-6):
        assert_equal_to_slow(rows, n_steps, smoothing=smoothing, rounds=rounds)


# Table 1 of the paper: 45 patients. The first anaesthetist rated each patient three times, and the
# four others once, on a scale from 1 to 4 for fitness for an operation.
PATIENTS = """
1111111 3334334 1122122 2223121 2223222 2223322 1222111 3333433 2222223 2322223 4444444 2223343
1111111 2223212 1211111 1112111 1111111 1111111 2222221 2221322 2222222 2222221 2223222 2212222
1111111 1111111 2322222 1111111 1111111 1121121 1111111 3333233 1111111 2222222 2223232 4334343
2212232 2323233 3333432 1111111 1111111 1212111 2322222 1211111 2222222
""".split()


def test_the_example_of_the_paper() -> None:
    anaesthetists = (0, 0, 0, 1, 2, 3, 4)
    rows = [
        (patient, who, int(value) - 1)
        for patient, row in enumerate(PATIENTS)
        for who, value in zip(anaesthetists, row, strict=True)
    ]
    assert_equal_to_slow(rows, 4, smoothing=0.01, rounds=10)

    model = fit(rows, 4, smoothing=1e-9)

    assert model.converged
    assert model.priors.round(2).tolist() == [0.4, 0.42, 0.11, 0.07]
    assert model.confusion[0].round(2).tolist() == [
        [0.89, 0.11, 0, 0],
        [0.07, 0.88, 0.05, 0],
        [0, 0.34, 0.66, 0],
        [0, 0, 0.56, 0.44],
    ]
    # For patients 3 and 36, three and four ratings differ from the most probable class.
    assert model.posterior()[[2, 35]].round(4).tolist() == [[0, 1, 0, 0], [0, 0, 0, 1]]
    # Equal sets of opinions are one pattern.
    assert len(model.pattern_posterior) == len({"".join(sorted(r[:3])) + r[3:] for r in PATIENTS})


def test_simulated_parameters_are_estimated() -> None:
    rows, truth = simulated(5, items=6000, annotators=8, n_steps=3, most=5)

    model = fit(rows, 3)

    assert model.converged
    np.testing.assert_allclose(model.priors, [1 / 6, 2 / 6, 3 / 6], atol=0.02)
    skill = np.linspace(0.3, 1, 8)
    np.testing.assert_allclose(model.accuracy, skill + (1 - skill) / 3, atol=0.03)
    found = model.posterior().argmax(axis=1)
    votes = np.zeros((len(truth), 3))
    for item, _, label in rows:
        votes[item, label] += 1
    assert (found == truth).mean() > (votes.argmax(axis=1) == truth).mean() + 0.03


def test_fitting_stops_when_posteriors_hardly_change() -> None:
    rows, _ = simulated(1, items=200, annotators=6, n_steps=2)
    model = fit(rows, 2, tolerance=1e-4)
    before = fit(rows, 2, tolerance=0, max_iterations=model.iterations - 1)
    earlier = fit(rows, 2, tolerance=0, max_iterations=model.iterations - 2)

    assert model.converged
    assert np.abs(model.posterior() - before.posterior()).max() < 1e-4
    assert np.abs(before.posterior() - earlier.posterior()).max() >= 1e-4
    assert not before.converged


# --- Patterns -------------------------------------------------------------------------------


def test_items_with_the_same_labels_are_one_pattern() -> None:
    one_item = [(0, 1), (1, 0), (2, 1)]
    rows = [(item, who, label) for item in range(1000) for who, label in one_item]
    rows += [(1000 + item, item % 3, 0) for item in range(3000)]

    model = fit(rows[::-1], 2)

    assert len(model.pattern_posterior) == 4
    assert np.bincount(model.pattern_of).tolist() == [1000, 1000, 1000, 1000]
    assert len(set(model.pattern_of[:1000].tolist())) == 1
    assert model.pattern_of[1000:].tolist() == [0, 1, 2] * 1000


def test_many_annotators_of_few_items() -> None:
    # The codes are sparse, so patterns are numbered by sorting. With so many labels, products
    # of probabilities would underflow to 0.
    rows = [(item, 5 * who + item, who % 2) for item in range(5) for who in range(3000)]
    rows += [(0, 1, 1)]

    model = fit(rows, 2)

    assert len(model.pattern_posterior) == 5
    assert np.isfinite(model.posterior()).all()
    np.testing.assert_allclose(model.posterior().sum(axis=1), 1, rtol=1e-12)
    assert (model.confusion > 0).all()


@given(st.data())
def test_collapsing_loses_nothing(data: st.DataObject) -> None:
    n_steps = data.draw(st.integers(1, 4))
    code = st.tuples(st.integers(0, 3), st.integers(0, n_steps - 1))
    sets = data.draw(st.lists(st.lists(code, min_size=1, max_size=4), min_size=1, max_size=12))
    rows = [(item, who, label) for item, own in enumerate(sets) for who, label in own]

    patterns = module.collapse_labels(*columns(rows), n_steps)

    found = [part.tolist() for part in np.split(patterns.codes, patterns.starts[1:])]
    own = [sorted(who * n_steps + label for who, label in pattern) for pattern in sets]
    assert [found[number] for number in patterns.of_item] == own
    assert len({tuple(pattern) for pattern in found}) == len(found)
    assert patterns.weights.tolist() == [own.count(pattern) for pattern in found]
    assert patterns.owner.tolist() == [n for n, pattern in enumerate(found) for _ in pattern]


# --- Properties -----------------------------------------------------------------------------


@st.composite
def label_rows(draw: st.DrawFn) -> tuple[Rows, int]:
    n_steps = draw(st.integers(2, 4))
    row = st.tuples(st.integers(0, 9), st.integers(0, 5), st.integers(0, n_steps - 1))
    table = np.array(draw(st.lists(row, min_size=2, max_size=40)))
    for column in (0, 1):
        table[:, column] = np.unique(table[:, column], return_inverse=True)[1]
    return [tuple(pattern) for pattern in table.tolist()], n_steps


@given(label_rows(), st.randoms(use_true_random=False))
def test_new_numbers_for_annotators_items_and_labels_only_permute_the_result(
    given_rows: tuple[Rows, int], random: object
) -> None:
    rows, n_steps = given_rows
    new = []
    for size in (*(max(row[at] for row in rows) + 1 for at in (0, 1)), n_steps):
        new.append(list(range(size)))
        random.shuffle(new[-1])  # type: ignore[attr-defined]
    items, annotators, labels = new
    moved = [(items[i], annotators[a], labels[label]) for i, a, label in rows]
    random.shuffle(moved)  # type: ignore[attr-defined]

    one = dawid_skene(*columns(rows), n_steps, max_iterations=6)
    other = dawid_skene(*columns(moved), n_steps, max_iterations=6)

    assert one.undefined == other.undefined
    if one.model is None or other.model is None:
        return
    close = {"rtol": 0, "atol": 1e-9}
    np.testing.assert_allclose(other.model.accuracy[annotators], one.model.accuracy, **close)
    np.testing.assert_allclose(other.model.priors[labels], one.model.priors, **close)
    np.testing.assert_allclose(
        other.model.confusion[np.ix_(annotators, labels, labels)], one.model.confusion, **close
    )
    np.testing.assert_allclose(
        other.model.posterior()[np.ix_(items, labels)], one.model.posterior(), **close
    )


@given(label_rows(), st.sampled_from([1e-9, 0.01, 2.0]))
def test_probabilities_are_probabilities(given_rows: tuple[Rows, int], smoothing: float) -> None:
    estimate = dawid_skene(*columns(given_rows[0]), given_rows[1], smoothing=smoothing)
    model = estimate.model
    assert (model is None) is (estimate.undefined is not None)
    if model is None:
        return
    assert (model.priors > 0).all()
    assert (model.confusion > 0).all()
    assert ((model.accuracy > 0) & (model.accuracy < 1)).all()
    for table in (model.priors, model.confusion, model.pattern_posterior, model.posterior()):
        np.testing.assert_allclose(table.sum(axis=-1), 1, rtol=0, atol=1e-12)


def test_a_row_without_evidence_is_uniform() -> None:
    # No label is 2, so class 2 has only the smoothing.
    model = fit([(0, 0, 0), (0, 1, 0), (1, 0, 1), (1, 1, 1)], 3, smoothing=0.5, max_iterations=1)

    assert model.priors.tolist() == [float(Fraction(3, 7)), float(Fraction(3, 7)), 1 / 7]
    assert model.confusion[0, 2].tolist() == [1 / 3, 1 / 3, 1 / 3]


# --- Undefined and rejected -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([], NO_LABELS),
        ([(0, 0, 0), (1, 0, 1)], ONE_ANNOTATOR),
        ([(0, 0, 0), (0, 0, 1)], ONE_ANNOTATOR),
        ([(0, 0, 1), (0, 1, 1)], NO_VARIATION),
        ([(0, 0, 0), (1, 1, 1)], NOTHING_SHARED),
        ([(0, 0, 0), (0, 0, 1), (1, 1, 1)], NOTHING_SHARED),
    ],
)
def test_undefined_with_a_reason(rows: Rows, reason: str) -> None:
    assert dawid_skene(*columns(rows), 2) == LabelModelEstimate(None, reason)


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ([(0, 0, 2), (0, 1, 0)], {}, "labels: a number is outside of 0 to 1"),
        ([(-1, 0, 0), (0, 1, 1)], {}, "items: a number is negative"),
        ([(0, -1, 0), (0, 1, 1)], {}, "annotators: a number is negative"),
        ([(0, 0, 0), (0, 1, 1), (2, 1, 1)], {}, "items: number 1 has no label"),
        ([(0, 1, 0), (0, 2, 1)], {}, "annotators: number 0 has no label"),
        ([(0, 0, 0), (0, 1, 1)], {"smoothing": 0}, "smoothing must be above 0"),
        ([(0, 0, 0), (0, 1, 1)], {"tolerance": -1}, "smoothing must be above 0, tolerance not"),
        ([(0, 0, 0), (0, 1, 1)], {"max_iterations": 0}, "max_iterations at least 1"),
    ],
)
def test_bad_input_is_refused(rows: Rows, options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dawid_skene(*columns(rows), 2, **options)  # type: ignore[arg-type]


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="must be of the same length"):
        dawid_skene([0, 0], [0, 1], [1], 2)
