"""Raw and corrected scores of the demo, compared with the true scores."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from evaluation.core.people.label_rates import rates_from_labels
from evaluation.core.relevance.judged import Judged
from evaluation.core.relevance.label_noise import NoisyScore, Resamples, correct_scores
from evaluation.core.relevance.measures import parse_measure
from evaluation.core.relevance.noisy_labels import NoisyLabels, rank_strata
from evaluation.demo.annotators import make_annotators
from evaluation.demo.benchmark import DemoBenchmark, make_benchmark
from evaluation.demo.files import rank
from evaluation.demo.noise import noise_lines, true_scores
from evaluation.demo.systems import score_systems
from pooling.core.pair_space import PairSpace

MEASURES = ("C@1", "C@5", "C@10", "AP")
DRAWS = 12


@pytest.fixture(scope="module")
def demo() -> DemoBenchmark:
    return make_benchmark()


@pytest.fixture(scope="module")
def runs(demo: DemoBenchmark) -> dict[str, npt.NDArray[np.int32]]:
    found = score_systems(demo).items()
    return {name: rank(scores, 20).astype(np.int32) for name, scores in found}


def pooled(demo: DemoBenchmark, runs: dict[str, npt.NDArray[np.int32]]) -> npt.NDArray[np.int64]:
    captions, videos = demo.truth.shape
    starts = np.arange(captions)[:, None] * videos
    tops = [(starts + ranked[:, :10]).ravel() for ranked in runs.values()]
    return np.unique(np.concatenate([*tops, starts.ravel() + demo.sources()])).astype(np.int64)


def label(
    demo: DemoBenchmark, codes: npt.NDArray[np.int64], rng: np.random.Generator
) -> NoisyLabels:
    """Return the label that a simulated annotator gives each pair.

    A tenth of the pairs have two labels, or three if the first two differ.
    """
    captions, videos = demo.truth.shape
    answers = np.stack([p.judge_many(*np.divmod(codes, videos))[0] for p in make_annotators(demo)])
    order = np.argsort(rng.random(answers.shape), axis=0)
    labels = np.take_along_axis(answers, order, axis=0)[:3].astype(np.int64)
    is_doubled = rng.random(len(codes)) < 0.1
    differ = is_doubled & (labels[0] != labels[1])
    n_labels = 1 + is_doubled + differ
    original = np.arange(captions) * videos + demo.sources()
    return NoisyLabels(
        codes=codes,
        space=PairSpace(captions, videos),
        n_labels=n_labels,
        relevant=labels[0] + is_doubled * labels[1] + differ * labels[2],
        ruled=np.full(len(codes), -1, np.int8),
        is_known=np.isin(codes, original),
        n_all_labels=n_labels,
    )


def correct(
    demo: DemoBenchmark, runs: dict[str, npt.NDArray[np.int32]], labels: NoisyLabels, seed: int
) -> list[NoisyScore]:
    captions, videos = demo.truth.shape
    source = demo.sources().astype(np.int64)
    drawn = Resamples(source, 200, seed)
    judged = Judged(labels.codes, labels.is_positive.astype(np.int8), captions, videos)
    strata, _ = rank_strata(labels.codes, np.ones(len(labels.codes), np.int64), judged.empty())
    table = labels.table(strata, source[labels.codes // videos], drawn.n_clusters)
    estimate = rates_from_labels(table, drawn.sums(table.counts))
    measures = [parse_measure(name) for name in MEASURES]
    return correct_scores(runs, judged, labels.codes, labels.relevance, measures, estimate, drawn)


def test_corrected_scores_are_closer_to_the_true_scores(
    demo: DemoBenchmark, runs: dict[str, npt.NDArray[np.int32]]
) -> None:
    """Annotators make more mistakes on hard pairs, and the correction does not model this.

    So corrected scores are not exact here, but they are closer than raw scores.
    """
    codes = pooled(demo, runs)
    truth = true_scores(demo, runs, codes, MEASURES)
    raw, corrected, covered = [], [], []
    for seed in range(DRAWS):
        labels = label(demo, codes, np.random.default_rng(seed))
        rows = correct(demo, runs, labels, seed)
        true = [truth[row.run][str(row.measure)] for row in rows]
        raw.append([row.raw - value for row, value in zip(rows, true, strict=True)])
        corrected.append([row.corrected - value for row, value in zip(rows, true, strict=True)])
        covered += [
            row.interval[0] <= value <= row.interval[1]
            for row, value in zip(rows, true, strict=True)
            if row.interval
        ]
    before, after = (
        np.abs(np.mean(errors, axis=0).reshape(len(runs), -1)).mean(axis=0)
        for errors in (raw, corrected)
    )
    # The mean error over the systems, by measure. For AP, the correction changes little.
    assert (after[:3] < before[:3]).all(), (before, after)
    assert after[3] < before[3] + 0.002, (before, after)
    assert np.mean(covered) > 0.95


def test_true_scores_are_those_of_the_judged_pairs(
    demo: DemoBenchmark, runs: dict[str, npt.NDArray[np.int32]]
) -> None:
    codes = pooled(demo, runs)
    scores = true_scores(demo, runs, codes, MEASURES)
    for name, ranked in runs.items():
        # The top ten of all runs are pooled, so C@k by the pooled pairs equals C@k by all pairs.
        found = np.take_along_axis(demo.truth, ranked.astype(np.int64), axis=1)
        for k in (1, 5, 10):
            assert scores[name][f"C@{k}"] == found[:, :k].any(axis=1).mean()


def test_lines_for_terminals() -> None:
    score = {"raw": 0.8694, "corrected": 0.8429, "interval": [0.83, 0.855], "truth": 0.85}
    noise = {"false_alarms": 0.0181, "misses": 0.05, "runs": {"bag-of-words": {"C@10": score}}}
    lines = noise_lines(noise, ["C@10"])
    assert lines[0].startswith("Wrong labels: 1.8 % false alarms and 5.0 % misses, estimated.")
    assert lines[-1].split() == ["bag-of-words", "86.9", "84.3", "(83.0-85.5)", "85.0"]
    undefined = {**noise, "runs": {"A": {"C@10": {**score, "interval": None}}}}
    assert noise_lines(undefined, ["C@10"])[-1].split() == ["A", "86.9", "84.3", "85.0"]
    assert noise_lines({"false_alarms": None}, []) == [
        "The error rates of the labels are unknown, so scores are not corrected."
    ]
