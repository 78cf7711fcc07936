"""What is true of the demo is known: as its labels grow complete, scores become the true ones."""

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

VIDEOS, CAPTIONS = 30, 150
DEPTHS = (0, 1, 2, 4, 8, 16, VIDEOS)
SHARES = (0, 0.25, 0.5, 0.75, 0.9, 1)
# Those of the first row only grow with the labels.
GROWING = "C@1 C@5 P@5 RR"
MEASURES = [parse_measure(name) for name in f"{GROWING} R@5 AP AP(found) nDCG".split()]
# The error that is left with all labels by simulated people: by the most careful one, the most
# hasty one, and the majority of three between them.
LEFT_BY_CAREFUL, LEFT_BY_HASTY, LEFT_BY_THREE = 0.025, 0.125, 0.01

Codes = npt.NDArray[np.int64]
# By system and measure.
Errors = npt.NDArray[np.float64]


@pytest.fixture(scope="module")
def demo() -> DemoBenchmark:
    return make_benchmark(DEFAULT_SEED, n_videos=VIDEOS, n_captions=CAPTIONS)


@pytest.fixture(scope="module")
def ranked(demo: DemoBenchmark) -> list[npt.NDArray[np.int32]]:
    """Lists of all videos, so that bounds know of all that is unjudged."""
    return [rank(scores, VIDEOS).astype(np.int32) for scores in score_systems(demo).values()]


def pool(ranked: Sequence[npt.NDArray[np.int32]], depth: int) -> Codes:
    starts = np.arange(CAPTIONS)[:, None] * VIDEOS
    return np.unique(np.concatenate([(starts + lists[:, :depth]).ravel() for lists in ranked]))


def judge(demo: DemoBenchmark, codes: Codes, people: Sequence[SimulatedAnnotator]) -> Judged:
    """The majority of all these people, with the original positives."""
    answers = np.stack([person.judge_many(*np.divmod(codes, VIDEOS))[0] for person in people])
    labels = (2 * answers.sum(axis=0) > len(people)).astype(np.int8)
    original = np.sort(np.arange(CAPTIONS) * VIDEOS + demo.sources()).astype(np.int64)
    return with_positives(
        Judged(codes.astype(np.int64), labels, CAPTIONS, VIDEOS),
        Judged(original, np.ones(CAPTIONS, np.int8), CAPTIONS, VIDEOS),
    )


def perfect(demo: DemoBenchmark) -> list[SimulatedAnnotator]:
    return [replace(make_annotators(demo)[0], error_rate=0.0)]


def scores_of(ranked: Sequence[npt.NDArray[np.int32]], judged: Judged) -> Errors:
    scored = [score_run(lists, judged, MEASURES) for lists in ranked]
    return np.array([[scores.per_query(one).mean() for one in MEASURES] for scores in scored])


def true_scores(demo: DemoBenchmark, ranked: Sequence[npt.NDArray[np.int32]]) -> Errors:
    """From the grammar that drew the videos: nobody was asked."""
    labels = demo.truth.astype(np.int8).ravel()
    return scores_of(ranked, Judged(np.arange(labels.size), labels, CAPTIONS, VIDEOS))


def stages(ranked: Sequence[npt.NDArray[np.int32]], how: str) -> list[Codes]:
    """Ever more pairs, each stage holding the one before it, the last one all."""
    if how == "depth":
        return [pool(ranked, depth) for depth in DEPTHS]
    everything = np.random.default_rng(0).permutation(CAPTIONS * VIDEOS)
    return [np.sort(everything[: round(share * len(everything))]) for share in SHARES]


@pytest.mark.parametrize("how", ["depth", "share"])
def test_scores_converge_to_the_true_ones(
    demo: DemoBenchmark, ranked: list[npt.NDArray[np.int32]], how: str
) -> None:
    truth = true_scores(demo, ranked)
    found = [scores_of(ranked, judge(demo, codes, perfect(demo))) for codes in stages(ranked, how)]
    errors = np.abs(np.array(found) - truth)
    # The original positives alone are far off; with all labels nothing is left, to the bit.
    assert (errors[0][:, column("C@1")] > 0.1).all()
    assert found[-1].tolist() == truth.tolist()
    # No system's score ever goes back, and none passes the truth.
    growing = [column(name) for name in GROWING.split()]
    steps = np.diff(np.array(found)[:, :, growing], axis=0)
    assert (steps >= 0).all()
    assert (np.array(found)[:, :, growing] <= truth[:, growing]).all()
    # Of all measures together, the largest error shrinks from stage to stage.
    largest = errors.max(axis=(1, 2))
    assert (np.diff(largest)[largest[:-1] > 0] < 0).all(), largest


def test_a_pool_of_depth_k_is_enough_for_what_looks_at_the_top_k(
    demo: DemoBenchmark, ranked: list[npt.NDArray[np.int32]]
) -> None:
    truth = true_scores(demo, ranked)
    found = scores_of(ranked, judge(demo, pool(ranked, 5), perfect(demo)))
    exact = [column(name) for name in ("C@1", "C@5", "P@5")]
    assert found[:, exact].tolist() == truth[:, exact].tolist()
    # What divides by all positives is too high while some are unknown.
    assert (found[:, column("R@5")] > truth[:, column("R@5")]).all()


@pytest.mark.parametrize("how", ["depth", "share"])
def test_bounds_hold_the_truth_at_every_stage(
    demo: DemoBenchmark, ranked: list[npt.NDArray[np.int32]], how: str
) -> None:
    truth = true_scores(demo, ranked)
    widths = []
    for codes in stages(ranked, how):
        judged = judge(demo, codes, perfect(demo))
        bounds = [bound_scores(lists, judged, MEASURES) for lists in ranked]
        lower, upper = (
            np.array([[getattr(one, end).per_query(m).mean() for m in MEASURES] for one in bounds])
            for end in ("lower", "upper")
        )
        assert (lower <= truth + 1e-12).all()
        assert (truth <= upper + 1e-12).all()
        widths.append((upper - lower).max())
    assert widths[-1] == 0
    assert (np.diff(widths) <= 0).all()


def test_people_who_err_leave_an_error_that_is_known(
    demo: DemoBenchmark, ranked: list[npt.NDArray[np.int32]]
) -> None:
    truth = true_scores(demo, ranked)
    everything, people = pool(ranked, VIDEOS), make_annotators(demo)

    def error(*judges: SimulatedAnnotator) -> float:
        """The largest of all systems and measures."""
        found = scores_of(ranked, judge(demo, everything, judges))
        return float(np.abs(found - truth).max())

    careful, hasty = error(people[0]), error(people[-1])
    three = error(people[1], people[3], people[5])
    assert careful < LEFT_BY_CAREFUL
    assert hasty < LEFT_BY_HASTY
    assert three < LEFT_BY_THREE


def column(name: str) -> int:
    return MEASURES.index(parse_measure(name))
