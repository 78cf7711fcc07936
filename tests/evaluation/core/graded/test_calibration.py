"""Proxies compared with labels: exact figures, and the coverage of the intervals by simulation."""

from __future__ import annotations

import krippendorff
import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from evaluation.core.graded.calibration import (
    NO_IRRELEVANT,
    NO_RELEVANT,
    Labelled,
    count_by_value,
    cross_fit,
    curve_of,
    draw_folds,
)
from evaluation.core.graded.calibration_intervals import (
    NOTHING_VARIES,
    TOO_FEW,
    _weights,
    calibrate,
)

GRID = (0.25, 0.5, 0.75, 1.0)


def by_hand() -> tuple[npt.NDArray[np.float16], Labelled]:
    """Return six pairs of three videos. Some relevant and irrelevant pairs have equal values."""
    values = np.array([1, 0.8, 0.8, 0.5, 0.5, 0], np.float16)
    return values, Labelled.of([True, True, False, True, False, False], [0, 0, 1, 1, 2, 2])


def test_figures_by_hand() -> None:
    values, labelled = by_hand()
    counts = count_by_value(values, labelled)
    # Each of the three relevant pairs is compared with the three others. They win 3, 2.5 and 1.5 of
    # these nine comparisons, because equal values count as half.
    assert counts.auc().tolist() == [pytest.approx(7 / 9)]
    # The precision at 1, 0.8 and 0.5, each the value of one relevant pair.
    assert counts.average_precision().tolist() == [pytest.approx((1 + 2 / 3 + 3 / 5) / 3)]
    # 0.8 as float16 is below 0.8, but it counts as at least 0.8.
    at = counts.at([0, 0.5, 0.8, 0.81, 1.01])
    assert at.called[:, 0].tolist() == [6, 5, 3, 1, 0]
    assert at.correct[:, 0].tolist() == [3, 3, 2, 1, 0]
    assert at.f1()[:, 0].tolist() == pytest.approx([6 / 9, 6 / 8, 4 / 6, 2 / 4, 0])
    # At these thresholds, proxy and labels differ on 3, 2, 2, 2 and 3 of 6 pairs. Proxy and labels
    # together have 12 values, of which 9, 8, 6, 4 and 3 are "relevant".
    parts = [(3, 27), (2, 32), (2, 36), (2, 32), (3, 27)]
    alpha = [1 - 11 * differ / product for differ, product in parts]
    assert at.alpha()[:, 0].tolist() == pytest.approx(alpha)


def test_the_best_threshold_is_in_the_middle_of_equal_ones() -> None:
    values = np.array([0.9, 0.9, 0.1, 0.1])
    counts = count_by_value(values, Labelled.of([True, True, False, False], [0, 1, 2, 3]))
    # All thresholds from 0.2 to 0.9 separate the labels.
    thresholds = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert counts.at(thresholds).best().tolist() == [4]


@pytest.mark.parametrize("seed", range(3))
def test_figures_are_those_of_other_implementations(seed: int) -> None:
    rng = np.random.default_rng(seed)
    relevant = rng.random(300) < 0.3
    values = np.round(rng.normal(relevant, 1.2), 1)
    labelled = Labelled.of(relevant, rng.integers(0, 40, 300))
    counts = count_by_value(values, labelled)
    u = stats.mannwhitneyu(values[relevant], values[~relevant]).statistic
    assert counts.auc()[0] == pytest.approx(u / relevant.sum() / (~relevant).sum(), abs=1e-12)
    precisions = [relevant[values >= value].mean() for value in values[relevant]]
    assert counts.average_precision()[0] == pytest.approx(np.mean(precisions), abs=1e-12)
    for point in curve_of(values, labelled, (-1.0, 0.0, 0.5, 2.0)):
        called = values >= point.threshold
        assert (point.called, point.correct) == (called.sum(), (called & relevant).sum())
        assert point.precision.value == pytest.approx(relevant[called].mean())
        assert point.recall.value == pytest.approx(called[relevant].mean())
        both = np.array([called, relevant], np.float64)
        alpha = krippendorff.alpha(both, level_of_measurement="nominal")
        assert point.alpha == pytest.approx(alpha)


def test_a_threshold_is_chosen_on_other_clusters() -> None:
    # Both values of video 0 are below those of all other videos, so it needs another threshold.
    values = np.array([0.3, 0.1] + [0.9, 0.6] * 4)
    labelled = Labelled.of([True, False] * 5, np.repeat(np.arange(5), 2))
    fitted = cross_fit(values, labelled, [0.2, 0.7], np.arange(5))
    # Without video 0, only 0.7 makes no error. With video 0 and three other videos, 0.7 is still
    # better than 0.2.
    assert fitted.thresholds.tolist() == [1] * 5
    assert fitted.called.tolist() == [False, False] + [True, False] * 4
    with pytest.raises(ValueError, match="fewer than two clusters"):
        draw_folds(1, np.random.default_rng(0))
    assert sorted(draw_folds(23, np.random.default_rng(0)).tolist())[:6] == [0, 0, 0, 1, 1, 1]


def test_undefined_figures_have_reasons() -> None:
    values, labelled = by_hand()
    (found,) = calibrate([values], labelled, GRID, 100, rng=np.random.default_rng(0))
    assert (found.auc.value, found.auc.interval.undefined) == (pytest.approx(7 / 9), TOO_FEW)
    assert found.threshold_interval.undefined == TOO_FEW
    for relevant, reason in ((True, NO_IRRELEVANT), (False, NO_RELEVANT)):
        same = Labelled.of([relevant] * 6, range(6))
        with pytest.raises(ValueError, match=reason):
            calibrate([values], same, GRID, 100, rng=np.random.default_rng(0))


def test_equal_proxies_do_not_differ() -> None:
    rng = np.random.default_rng(1)
    relevant = rng.random(200) < 0.4
    values = np.round(rng.normal(relevant, 1).clip(0, 1), 1)
    labelled = Labelled.of(relevant, np.arange(200) // 5)
    found = calibrate([values, values], labelled, GRID, 200, rng=np.random.default_rng(0))
    assert found[0].auc == found[1].auc
    assert found[0].curve == found[1].curve
    assert found[1].difference.value == 0
    assert found[1].difference.interval.undefined == NOTHING_VARIES


# --- Coverage -------------------------------------------------------------------------------------

N_CLUSTERS, PER_CLUSTER = 40, 12
DRAWS = 200


def sample(rng: np.random.Generator, n_clusters: int) -> tuple[npt.NDArray[np.float64], Labelled]:
    """Draw videos whose pairs share a base rate and a shift of the proxy."""
    cluster = np.repeat(np.arange(n_clusters), PER_CLUSTER)
    rate = rng.normal(-1, 1, n_clusters)[cluster]
    relevant = rng.random(len(cluster)) < 1 / (1 + np.exp(-rate))
    shift = rng.normal(0, 0.5, n_clusters)[cluster]
    raw = rng.normal(1.2 * relevant + shift, 1)
    return np.round(1 / (1 + np.exp(-raw)), 2), Labelled.of(relevant, cluster)


@pytest.mark.slow
def test_intervals_contain_the_truth_as_often_as_they_claim() -> None:
    rng = np.random.default_rng(3)
    population = count_by_value(*sample(rng, 40_000))
    at = population.at((0.7,))
    truth = {
        "auc": population.auc()[0],
        "ap": population.average_precision()[0],
        "precision": at.correct[0, 0] / at.called[0, 0],
        "recall": at.correct[0, 0] / at.relevant[0],
    }
    hits = dict.fromkeys(truth, 0)
    for _ in range(DRAWS):
        values, labelled = sample(rng, N_CLUSTERS)
        (found,) = calibrate([values], labelled, (0.7,), 300, rng=rng)
        intervals = {
            "auc": found.auc.interval,
            "ap": found.average_precision.interval,
            "precision": found.curve[0].precision.interval,
            "recall": found.curve[0].recall.interval,
        }
        for name, interval in intervals.items():
            low, high = interval.ends or (1, 0)
            hits[name] += low <= truth[name] <= high
    # 200 draws have a standard error of .015.
    too_low = {name: count for name, count in hits.items() if count < 0.905 * DRAWS}
    assert too_low == {}


# --- Two sides ------------------------------------------------------------------------------------


def test_a_cell_has_the_product_of_the_draws_of_both_sides() -> None:
    captions, videos = np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 1, 0])
    labelled = Labelled.of([True, False, True, True, False], captions, videos)
    cell, (first, second) = labelled.cells
    assert (first[cell].tolist(), second[cell].tolist()) == (captions.tolist(), videos.tolist())
    assert len(first) == 4  # pairs 2 and 3 are in the same cell
    rng = np.random.default_rng(0)
    drawn = [rng.multinomial(n, np.full(n, 1 / n), size=6).T for n in (3, 2)]
    ((_, weights),) = _weights(labelled, 6, 4, np.random.default_rng(0))
    assert weights.tolist() == (drawn[0][first] * drawn[1][second]).tolist()


def ranked(
    rng: np.random.Generator, n_captions: int, n_videos: int
) -> tuple[npt.NDArray[np.float64], Labelled]:
    """Return ten judged pairs for each caption, in which videos differ much from each other.

    Some videos are relevant to many captions, and the proxy has high values for others.
    """
    of_caption = rng.normal(0, 0.7, n_captions)
    relevance, proxy = rng.normal(0, 0.9, n_videos), rng.normal(0, 0.7, n_videos)
    videos = np.concatenate([rng.choice(n_videos, 10, replace=False) for _ in range(n_captions)])
    captions = np.repeat(np.arange(n_captions), 10)
    match = rng.normal(size=len(videos)) + of_caption[captions] + relevance[videos]
    values = 0.5 * match + 0.8 * proxy[videos] + rng.normal(size=len(videos))
    return 1 / (1 + np.exp(0.9 - values)), Labelled.of(match > 1.8, captions, videos)


def test_only_intervals_of_both_sides_hold_for_other_videos_to_rank() -> None:
    values, labelled = ranked(np.random.default_rng(9), 3000, 3000)
    (truth,) = curve_of(values, labelled, [0.7])
    true = (truth.precision.value, truth.alpha, float(count_by_value(values, labelled).auc()[0]))
    rng, times = np.random.default_rng(1), 40
    inside = np.zeros((2, 3))
    for _ in range(times):
        values, both = ranked(rng, 200, 25)
        for place, sample in enumerate((Labelled(both.relevant, both.clusters), both)):
            (found,) = calibrate([values], sample, [0.7], 100, rng=rng)
            figures = (found.curve[0].precision, found.fitted_alpha, found.auc)
            ends = [figure.interval.ends or [1, 0] for figure in figures]
            inside[place] += [low <= x <= high for x, (low, high) in zip(true, ends, strict=True)]
    one_side, both_sides = inside / times
    assert (one_side < 0.88).all(), one_side
    assert (both_sides >= 0.92).all(), both_sides
