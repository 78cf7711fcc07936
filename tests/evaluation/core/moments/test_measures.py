"""Measures of moments on lists whose values can be counted by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evaluation.core.moments.highlights import clip_precision
from evaluation.core.moments.lists import MomentTruth, Saliency
from evaluation.core.moments.scoring import interval_by_video, score_moments
from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.measures import parse_measure
from pooling.core.pair_space import PairSpace
from pooling.core.ranked_lists import RankedLists
from pooling.moments.core.spans import Spans

SPACE = PairSpace(2, 3)


def lists(*rows: list[tuple[int, float, float, float]]) -> RankedLists:
    """Return the lists of moments: video, start, end and score."""
    depth = max(map(len, rows))
    padded = np.array([[*row, *[(-1, 0, 0, 0)] * (depth - len(row))] for row in rows], np.float64)
    starts, ends, scores = (padded[:, :, i].astype(np.float32) for i in (1, 2, 3))
    items = padded[:, :, 0].astype(np.int32)
    return RankedLists.of(items, SPACE.n_videos, starts=starts, ends=ends, scores=scores)


def score(found: RankedLists, truth: MomentTruth, *names: str, **options: Any) -> dict[str, Any]:
    measures = [parse_measure(name) for name in names]
    scores = score_moments(found, truth, measures, **options)
    return {name: scores.values[m].tolist() for name, m in zip(names, measures, strict=True)}


# Caption 0 belongs to video 0 at 10-20 s, and caption 1 to video 1 at 0-5 s.
TRUTH = MomentTruth(SPACE, np.array([0, 4]), Spans.of([0, 4], [10, 0], [20, 5]))
RUN = lists(
    [(2, 10, 20, 3), (0, 10, 15, 2), (0, 10, 17, 1)],
    [(1, 0, 0, 3), (1, 1, 6, 2)],
)


def test_measures_of_tvr() -> None:
    names = ["VCMR@1(tIoU>=0.5)", "VCMR@5(tIoU>=0.5)", "VCMR@5(tIoU>=0.7)", "SVMR@1(tIoU>=0.5)",
             "SVMR@1(tIoU>=0.7)", "SVMR@2(tIoU>=0.7)", "VR@1", "VR@2"]  # fmt: skip
    assert score(RUN, TRUTH, *names) == {
        "VCMR@1(tIoU>=0.5)": [0, 0],
        "VCMR@5(tIoU>=0.5)": [1, 1],
        # 7 s of 10 s is 0.7 in float32; in caption 1, 4 s of 6 s is below.
        "VCMR@5(tIoU>=0.7)": [1, 0],
        "SVMR@1(tIoU>=0.5)": [1, 0],
        "SVMR@1(tIoU>=0.7)": [0, 0],
        "SVMR@2(tIoU>=0.7)": [1, 0],
        "VR@1": [0, 1],
        "VR@2": [1, 1],
    }


def test_two_of_four_stamps_of_people_are_needed() -> None:
    found = lists([(0, 0, 5, 1)], [])
    stamps = Spans.of([0] * 4, [0, 5, 10, 15], [5, 10, 15, 20], [1, 2, 3, 4])
    truth = MomentTruth(SPACE, np.array([0]), stamps)
    assert score(found, truth, "SVMR@1(tIoU>=0.5)") == {"SVMR@1(tIoU>=0.5)": [0, 0]}
    # Four spans of the truth are four moments, and not stamps of people.
    truth = MomentTruth(SPACE, np.array([0]), Spans.of([0] * 4, stamps.starts, stamps.ends))
    assert score(found, truth, "SVMR@1(tIoU>=0.5)") == {"SVMR@1(tIoU>=0.5)": [1, 0]}


def test_spans_of_people_count_as_well_as_the_original_ones() -> None:
    judged = Judged.from_pairs([0, 0, 1], [1, 2, 0], [0, 1, 1], n_queries=2, n_videos=3)
    people = Spans.of([2], [10], [19])
    name = "VCMR@1(tIoU>=0.5)"
    after = MomentTruth(SPACE, TRUTH.home, TRUTH.original, people, judged)
    assert score(RUN, after, name) == {name: [1, 0]}
    only = MomentTruth(SPACE, TRUTH.home, TRUTH.original, people, judged, labels_only=True)
    assert score(RUN, only, name, "VCMR@3(tIoU>=0.5)")["VCMR@3(tIoU>=0.5)"] == [1, 0]


def test_bounds_count_moments_that_are_not_judged() -> None:
    # Caption 0 is relevant to video 2, but nobody said where. Caption 1 is not relevant to it.
    judged = Judged.from_pairs([0, 1], [2, 2], [1, 0], n_queries=2, n_videos=3)
    truth = MomentTruth(SPACE, TRUTH.home, TRUTH.original, judged=judged)
    found = lists([(2, 0, 1, 1)], [(2, 0, 1, 1)])
    measure = parse_measure("VCMR@1(tIoU>=0.5)")
    scores = score_moments(found, truth, [measure], bounds=True)
    assert (scores.values[measure].tolist(), scores.upper[measure].tolist()) == ([0, 0], [1, 0])
    assert scores.bounds(measure) == [0.0, 0.5]


def test_measures_of_one_video() -> None:
    names = ["R@1(tIoU>=0.5)", "R@2(tIoU>=0.7)", "mIoU"]
    found = score(RUN, TRUTH, *names)
    assert found["R@1(tIoU>=0.5)"] == [1, 0]
    assert found["R@2(tIoU>=0.7)"] == [1, 0]
    assert found["mIoU"] == [0.5, 0.0]


def test_suppression_drops_moments_that_overlap_a_better_one() -> None:
    # The tIoU of the second moment with the first is 0.8, so TALL drops it at T = 0.5.
    found = lists([(0, 0, 10, 3), (0, 0, 8, 2), (0, 10, 20, 1)], [])
    names = ["R@2(tIoU>=0.5)", "R@2(nms=tall,tIoU>=0.5)"]
    assert score(found, TRUTH, *names) == {names[0]: [0, 0], names[1]: [1, 0]}


def test_average_precision_of_windows() -> None:
    truth = MomentTruth(SPACE, np.array([0, 4]), Spans.of([0, 0], [0, 20], [10, 30]))
    # By score: a miss, then both windows: precision 0, 1/2, 2/3, made non-increasing 2/3.
    found = lists([(0, 20, 30, 0.1), (0, 50, 60, 0.9), (0, 0, 10, 0.5)], [(1, 0, 1, 1)])
    values = score(found, truth, "AP(tIoU>=0.5)", "mAP(length=short)", "mAP(length=long)")
    assert values["AP(tIoU>=0.5)"][0] == pytest.approx(2 / 3)
    assert np.isnan(values["AP(tIoU>=0.5)"][1])  # a caption without windows is left out
    assert values["mAP(length=short)"][0] == pytest.approx(2 / 3)
    assert np.isnan(values["mAP(length=long)"]).all()


def test_measures_of_didemo() -> None:
    stamps = Spans.of([0] * 4, [0, 0, 0, 5], [5, 5, 10, 30], [1, 2, 3, 4])
    truth = MomentTruth(SPACE, np.array([0]), stamps)
    found = lists([(0, 0, 5, 3), (0, 0, 10, 2), (0, 5, 30, 1)], [])
    values = score(found, truth, "Rank@1", "Rank@2", "mIoU(rule=didemo)")
    # The ranks of the stamps are 1, 1, 2, 3, and the mean of the three best is 4/3.
    assert (values["Rank@1"][0], values["Rank@2"][0]) == (0, 1)
    assert values["mIoU(rule=didemo)"][0] == pytest.approx((1 + 1 + 0.5) / 3)


def test_ndcg_uses_each_judged_moment_once() -> None:
    spans = Spans.of([0, 2], [0, 0], [10, 10], grades=[1, 2])
    truth = MomentTruth(SPACE, np.array([0]), spans)
    found = lists([(0, 0, 10, 3), (0, 0, 9, 2), (2, 0, 10, 1)], [])
    value = score(found, truth, "nDCG(exp)@10(tIoU>0.5)")["nDCG(exp)@10(tIoU>0.5)"]
    assert value[0] == pytest.approx((1 + 3 / 2) / (3 + 1 / np.log2(3)))
    assert np.isnan(value[1])  # a caption without a list is left out


def test_highlights() -> None:
    clips = Spans.of([0] * 4, [0, 0, 2, 2], [2, 2, 4, 4], [1, 2, 1, 2], [4, 0, 2, 3])
    truth = MomentTruth(
        SPACE, np.array([0]), TRUTH.original, highlights=clips, durations=np.array([6.0, 5, 5])
    )
    saliency = Saliency(np.array([0, 2, 2]), np.array([0.1, 0.9], np.float32))
    names = ["HLHit(positive=verygood)", "HLHit(positive=good)", "HLmAP(positive=good)"]
    values = score(lists([(0, 0, 1, 1)], []), truth, *names, saliency=saliency)
    assert (values[names[0]][0], values[names[1]][0]) == (0, 1)
    # Person 1: clip 0, second of three by saliency; person 2: clip 1, the first.
    assert values[names[2]][0] == pytest.approx((1 / 2 + 1) / 2)


def test_precision_of_equal_scores() -> None:
    truth = np.array([True, False, True, False])
    assert clip_precision(truth, np.array([1.0, 1, 1, 0])) == pytest.approx(2 / 3)
    assert clip_precision(truth, np.array([3.0, 2, 1, 0])) == pytest.approx((2 / 3 + 1) / 2)


def test_interval_draws_videos() -> None:
    values = np.array([1.0, 1, 0, 0, np.nan])
    found = interval_by_video(values, np.array([0, 0, 1, 1, 2]))
    assert found == [0.0, 1.0]
    assert interval_by_video(values[:2], np.array([0, 0])) is None
