"""The true scores of the demo are known. With more labels, scores converge to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from evaluation.core.pools.bounds import bound_scores
from evaluation.core.relevance.judged import Judged, with_positives
from evaluation.core.relevance.measures import parse_measure
from evaluation.core.relevance.scoring import score_run
from evaluation.demo.annotators import SimulatedAnnotator, make_annotators
from evaluation.demo.benchmark import DEFAULT_SEED, DemoBenchmark, make_benchmark
from evaluation.demo.files import rank
from evaluation.demo.systems import score_systems
from pooling.core.ranked_lists import RankedLists
from tests.evaluation.core.lists import lists_of

VIDEOS, CAPTIONS = 30, 150
DEPTHS = (0, 1, 2, 4, 8, 16, VIDEOS)
SHARES = (0, 0.25, 0.5, 0.75, 0.9, 1)
# With more labels, these measures can only increase.
GROWING = "C@1 C@5 P@5 RR"
MEASURES = [parse_measure(name) for name in f"{GROWING} R@5 AP AP(found) nDCG".split()]
# Limits of the error that remains when all pairs are labelled by simulated annotators: by the most
# careful one, by the least careful one, and by the majority of three annotators.
LEFT_BY_CAREFUL, LEFT_BY_HASTY, LEFT_BY_THREE = 0.025, 0.125, 0.01

Codes = npt.NDArray[np.int64]
# By system and measure.
Errors = npt.NDArray[np.float64]


@pytest.fixture(scope="module")
def demo() -> DemoBenchmark:
    return make_benchmark(DEFAULT_SEED, n_videos=VIDEOS, n_captions=CAPTIONS)


@pytest.fixture(scope="module")
def ranked(demo: DemoBenchmark) -> list[RankedLists]:
    """Return ranked lists of all videos, so that bounds include all unjudged pairs."""
    return [lists_of(rank(scores, VIDEOS), VIDEOS) for scores in score_systems(demo).values()]


def pool(ranked: Sequence[RankedLists], depth: int) -> Codes:
    return np.unique(np.concatenate([lists.top(depth).codes.ravel() for lists in ranked]))


def judge(demo: DemoBenchmark, codes: Codes, people: Sequence[SimulatedAnnotator]) -> Judged:
    """Return the majority labels of these annotators, with the original positives."""
    answers = np.stack([person.judge_many(*np.divmod(codes, VIDEOS))[0] for person in people])
    labels = (2 * answers.sum(axis=0) > len(people)).astype(np.int8)
    original = np.sort(np.arange(CAPTIONS) * VIDEOS + demo.sources()).astype(np.int64)
    return with_positives(
        Judged(codes.astype(np.int64), labels, CAPTIONS, VIDEOS),
        Judged(original, np.ones(CAPTIONS, np.int8), CAPTIONS, VIDEOS),
    )


def perfect(demo: DemoBenchmark) -> list[SimulatedAnnotator]:
    return [replace(make_annotators(demo)[0], error_rate=0.0)]


def scores_of(ranked: Sequence[RankedLists], judged: Judged) -> Errors:
    scored = [score_run(lists, judged, MEASURES) for lists in ranked]
    return np.array(
        [[scores.per_query(measure).mean() for measure in MEASURES] for scores in scored]
    )


def true_scores(demo: DemoBenchmark, ranked: Sequence[RankedLists]) -> Errors:
    """Return the scores by `demo.truth`, the known relevance of every pair, without any labels."""
    labels = demo.truth.astype(np.int8).ravel()
    return scores_of(ranked, Judged(np.arange(labels.size), labels, CAPTIONS, VIDEOS))


def stages(ranked: Sequence[RankedLists], how: str) -> list[Codes]:
    """Return growing sets of pairs. Each contains the previous one, and the last contains all."""
    if how == "depth":
        return [pool(ranked, depth) for depth in DEPTHS]
    everything = np.random.default_rng(0).permutation(CAPTIONS * VIDEOS)
    return [np.sort(everything[: round(share * len(everything))]) for share in SHARES]


@pytest.mark.parametrize("how", ["depth", "share"])
def test_scores_converge_to_the_true_ones(
    demo: DemoBenchmark, ranked: list[RankedLists], how: str
) -> None:
    truth = true_scores(demo, ranked)
    found = [scores_of(ranked, judge(demo, codes, perfect(demo))) for codes in stages(ranked, how)]
    errors = np.abs(np.array(found) - truth)
    # With only the original positives the error is large. With all labels it is exactly 0.
    assert (errors[0][:, column("C@1")] > 0.1).all()
    assert found[-1].tolist() == truth.tolist()
    # No score of the growing measures decreases, and none exceeds the true score.
    growing = [column(name) for name in GROWING.split()]
    steps = np.diff(np.array(found)[:, :, growing], axis=0)
    assert (steps >= 0).all()
    assert (np.array(found)[:, :, growing] <= truth[:, growing]).all()
    # The largest error over all measures decreases from stage to stage.
    largest = errors.max(axis=(1, 2))
    assert (np.diff(largest)[largest[:-1] > 0] < 0).all(), largest


def test_a_pool_of_depth_k_is_enough_for_measures_of_the_top_k(
    demo: DemoBenchmark, ranked: list[RankedLists]
) -> None:
    truth = true_scores(demo, ranked)
    found = scores_of(ranked, judge(demo, pool(ranked, 5), perfect(demo)))
    exact = [column(name) for name in ("C@1", "C@5", "P@5")]
    assert found[:, exact].tolist() == truth[:, exact].tolist()
    # Measures that divide by all positives are too high while some are unknown.
    assert (found[:, column("R@5")] > truth[:, column("R@5")]).all()


@pytest.mark.parametrize("how", ["depth", "share"])
def test_bounds_contain_the_true_score_at_every_stage(
    demo: DemoBenchmark, ranked: list[RankedLists], how: str
) -> None:
    truth = true_scores(demo, ranked)
    widths = []
    for codes in stages(ranked, how):
        judged = judge(demo, codes, perfect(demo))
        bounds = [bound_scores(lists, judged, MEASURES) for lists in ranked]
        lower, upper = (
            np.array(
                [[getattr(bound, end).per_query(m).mean() for m in MEASURES] for bound in bounds]
            )
            for end in ("lower", "upper")
        )
        assert (lower <= truth + 1e-12).all()
        assert (truth <= upper + 1e-12).all()
        widths.append((upper - lower).max())
    assert widths[-1] == 0
    assert (np.diff(widths) <= 0).all()


def test_wrong_labels_leave_a_limited_error(demo: DemoBenchmark, ranked: list[RankedLists]) -> None:
    truth = true_scores(demo, ranked)
    everything, people = pool(ranked, VIDEOS), make_annotators(demo)

    def error(*judges: SimulatedAnnotator) -> float:
        """Return the largest error over all systems and measures."""
        found = scores_of(ranked, judge(demo, everything, judges))
        return float(np.abs(found - truth).max())

    careful, hasty = error(people[0]), error(people[-1])
    three = error(people[1], people[3], people[5])
    assert careful < LEFT_BY_CAREFUL
    assert hasty < LEFT_BY_HASTY
    assert three < LEFT_BY_THREE


def column(name: str) -> int:
    return MEASURES.index(parse_measure(name))
