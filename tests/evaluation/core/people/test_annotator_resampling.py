"""Intervals of alpha that resample annotators, compared with plain loops and in simulations."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from evaluation.core.people import annotator_resampling
from evaluation.core.people.agreement import NOT_TWO_LABELS, count_labels
from evaluation.core.people.alpha import (
    ALL_AGREE,
    NO_VARIATION,
    Level,
    alpha_interval,
    krippendorff_alpha,
)
from evaluation.core.people.annotator_resampling import (
    NOT_THREE_ANNOTATORS,
    _alphas,
    _tables,
    annotator_interval,
    label_pairs,
)

Ints = npt.NDArray[np.int64]


def random_labels(seed: int, steps: int) -> tuple[Ints, Ints, Ints]:
    """Return pairs, annotators and labels: 60 pairs with one to four labels by nine annotators."""
    rng = np.random.default_rng(seed)
    rows = []
    for pair in range(60):
        truth = rng.integers(steps)
        for person in rng.permutation(9)[: rng.integers(1, 5)]:
            label = truth if rng.random() < 0.7 else rng.integers(steps)
            rows.append((pair, person, label))
    rng.shuffle(rows)
    pairs, people, labels = np.array(rows, np.int64).T
    return pairs, people, labels


def plain_alpha(pairs: Ints, people: Ints, labels: Ints, times: Ints) -> float:
    """Return nominal alpha, computed label by label.

    times: the number of times that each annotator was drawn. The weight of two labels of a pair is
    the product of the `times` of their two annotators, divided by (labels of the pair - 1).
    """
    total, differing = 0.0, 0.0
    of_value: dict[int, float] = {}
    for pair in set(pairs.tolist()):
        own = np.flatnonzero(pairs == pair)
        for place in own:
            for other in own:
                if place == other:
                    continue
                weight = times[people[place]] * times[people[other]] / (len(own) - 1)
                total += weight
                differing += weight * (labels[place] != labels[other])
                value = int(labels[place])
                of_value[value] = of_value.get(value, 0.0) + weight
    expected = sum(
        of_value[value] * of_value[other]
        for value in of_value
        for other in of_value
        if value != other
    )
    return 1 - (total - 1) * differing / expected


@pytest.mark.parametrize("level", ["nominal", "ordinal"])
def test_everyone_drawn_once_gives_alpha(level: Level) -> None:
    pairs, people, labels = random_labels(4, 3)
    found = label_pairs(pairs, people, labels)
    (once,) = _alphas(found.values, _tables(found), np.ones((1, found.n_annotators)), level)
    assert once == pytest.approx(
        krippendorff_alpha(count_labels(pairs, labels, 60), level).value, abs=1e-12
    )


def test_a_resample_equals_the_plain_formula() -> None:
    pairs, people, labels = random_labels(8, 3)
    # The ids of annotators can have gaps.
    found = label_pairs(pairs, people * 100, labels)
    assert found.n_annotators == 9
    times = np.random.default_rng(0).multinomial(9, np.full(9, 1 / 9), size=12)
    expected = [plain_alpha(pairs, people, labels, row) for row in times]
    alphas = _alphas(found.values, _tables(found), times.astype(float), "nominal")
    assert alphas == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("pairs", "people", "labels", "reason"),
    [
        ([], [], [], NOT_TWO_LABELS),
        ([0, 1], [0, 1], [0, 1], NOT_TWO_LABELS),
        ([0, 0, 1, 1, 2, 2], [0, 1, 1, 2, 0, 2], [1] * 6, NO_VARIATION),
        ([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 1], NOT_THREE_ANNOTATORS),
        ([0, 0, 1, 1], [0, 1, 1, 2], [0, 0, 1, 1], ALL_AGREE),
    ],
)
def test_undefined_with_a_reason(
    pairs: list[int], people: list[int], labels: list[int], reason: str
) -> None:
    found = annotator_interval(label_pairs(pairs, people, labels), rng=np.random.default_rng(0))
    assert (found.low, found.high, found.undefined) == (None, None, reason)


PREVALENCE = 0.15


def simulated(rng: np.random.Generator, people: int, *, differ: bool) -> tuple[Ints, Ints, Ints]:
    """Return 2,000 pairs with labels by two of `people` annotators each.

    On average, annotators label 85 % of the relevant pairs relevant, and 4 % of the others.
    """
    n = 2000
    hits, alarms = np.full(people, 0.85), np.full(people, 0.04)
    if differ:
        hits, alarms = rng.beta(8.5, 1.5, people), rng.beta(0.4, 9.6, people)
    truth = rng.random(n) < PREVALENCE
    one = rng.integers(0, people, n)
    other = (one + rng.integers(1, people, n)) % people
    who = np.concatenate([one, other])
    chance = np.where(np.tile(truth, 2), hits[who], alarms[who])
    return np.tile(np.arange(n), 2), who, (rng.random(2 * n) < chance).astype(np.int64)


def true_alpha() -> float:
    share = PREVALENCE * 0.85 + (1 - PREVALENCE) * 0.04
    observed = 2 * (PREVALENCE * 0.85 * 0.15 + (1 - PREVALENCE) * 0.04 * 0.96)
    return 1 - observed / (2 * share * (1 - share))


def coverages(*, differ: bool, times: int, people: int = 40) -> tuple[float, float, float]:
    """Return the coverage of two intervals of alpha, and the ratio of their widths.

    The first interval resamples pairs, and the second one resamples annotators. The ratio is the
    width of the second one divided by that of the first one.
    """
    rng = np.random.default_rng(5)
    inside, width = np.zeros(2), np.zeros(2)
    for _ in range(times):
        pairs, who, labels = simulated(rng, people, differ=differ)
        found = (
            alpha_interval(count_labels(pairs, labels, 2000), 300, rng=rng),
            annotator_interval(label_pairs(pairs, who, labels), 300, rng=rng),
        )
        for place, interval in enumerate(found):
            assert interval.low is not None
            assert interval.high is not None
            inside[place] += interval.low <= true_alpha() <= interval.high
            width[place] += interval.high - interval.low
    return float(inside[0] / times), float(inside[1] / times), float(width[1] / width[0])


def test_only_resampling_annotators_covers_alpha_if_annotators_differ() -> None:
    by_pairs, by_annotators, wider = coverages(differ=True, times=200)
    assert by_pairs < 0.75
    assert 0.92 <= by_annotators <= 0.98
    assert wider > 1.7


def test_few_annotators_need_the_interval_that_resamples_them() -> None:
    by_pairs, by_annotators, wider = coverages(differ=True, times=200, people=8)
    assert by_pairs < 0.45
    assert by_annotators >= 0.84
    assert wider > 3


def test_the_interval_is_conservative_if_annotators_are_equal() -> None:
    by_pairs, by_annotators, wider = coverages(differ=False, times=100)
    assert 0.9 <= by_pairs <= 0.98
    assert by_annotators >= 0.97
    assert 1.4 < wider < 1.8


def test_the_size_of_blocks_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    found = label_pairs(*random_labels(6, 3))
    intervals = []
    for cells in (1, 1 << 20):
        monkeypatch.setattr(annotator_resampling, "_BLOCK_CELLS", cells)
        intervals.append(annotator_interval(found, 50, rng=np.random.default_rng(0)))
    assert intervals[0].ends == pytest.approx(intervals[1].ends, abs=1e-12)
