"""Further estimates from a finished draw: for other videos, and corrected for wrong labels."""

from __future__ import annotations

import numpy as np

from annotation.models import Judgment
from annotation.selectors.judgments import JudgmentArrays, judgment_arrays
from evaluation.core.arrays import BoolArray, FloatArray, GainArray, IntArray, dense_groups
from evaluation.core.estimates.corrected import Captions, Rates, corrected_share
from evaluation.core.estimates.drawn import Progress, values_now
from evaluation.core.estimates.frames import is_correct_at
from evaluation.core.estimates.means import SumsByVideo, jackknife_of_undecided
from evaluation.core.estimates.shares import Interval
from evaluation.core.estimates.values import Z_AT_END, Estimate, Method, Refusal
from evaluation.core.people.label_rates import rates_from_labels
from evaluation.core.relevance.judged import Judged, look_up_gains
from evaluation.core.relevance.label_noise import Resamples
from evaluation.core.relevance.measures import parse_measure
from evaluation.core.relevance.noisy_labels import NoisyLabels, best_ranks, rank_strata
from evaluation.estimates.models import Draw, StoredPopulation
from evaluation.estimates.selectors import Known, LoadedDraw, chances_of, read_lists, videos_of
from evaluation.release.selectors.labels import live_labels, original_judged
from hearth.shared.bulk import read_columns
from hearth.shared.errors import InvalidInput
from pooling.core.direction import Direction
from pooling.models import Benchmark
from pooling.selectors.runs import find_runs, ranked_lists

# The number of resamples of the error rates, for their covariance.
DRAWS = 200


def future_estimate(loaded: LoadedDraw, measure: str) -> Estimate:
    """Return a score with an interval for other captions and videos."""
    draw, method = loaded.draw, Method.JACKKNIFE
    stored: StoredPopulation = draw.populations[measure]
    now = loaded.progress(measure)
    n, size = now.finished, stored["size"]
    if reason := _refusal(now, stored, needs="by_video"):
        return Estimate.refused(method, reason, n, size)
    rows, predicted = loaded.drawn_for(measure)
    m, _, _ = values_now(parse_measure(measure), loaded.pairs.rows(rows), loaded.current[rows])
    videos = videos_of(draw.run.benchmark)[loaded.queries[rows]]
    sums = SumsByVideo(
        *(
            np.array(stored["by_video"][name], np.float64)
            for name in ("captions", "undecided", "decided", "predicted")
        )
    )
    return _estimate(method, jackknife_of_undecided(m, predicted, videos, sums, Z_AT_END), n, size)


def corrected_estimate(loaded: LoadedDraw, measure: str) -> Estimate:
    """Return C@k corrected for wrong labels. Raises InvalidInput for other measures."""
    draw, method, parsed = loaded.draw, Method.CORRECTED, parse_measure(measure)
    if not is_correct_at(parsed):
        raise InvalidInput(f"{measure} cannot be corrected from few captions. Choose C@k.")
    stored: StoredPopulation = draw.populations[measure]
    now = loaded.progress(measure)
    n, size = now.finished, stored["size"]
    if reason := _refusal(now, stored, needs="undecided"):
        return Estimate.refused(method, reason, n, size)
    rates = rates_before(draw)
    if rates is None:
        return Estimate.refused(method, Refusal.NO_DOUBLE_LABELS, n, size)
    captions = _captions(loaded, measure)
    rows, _ = loaded.drawn_for(measure)
    drawn = captions.rows(loaded.queries[rows])
    decided = captions.rows(np.flatnonzero(~_undecided(stored, len(captions.weight))))
    n_all = len(captions.weight)
    return _estimate(method, corrected_share(decided, drawn, rates, size, n_all, Z_AT_END), n, size)


def _refusal(now: Progress, stored: StoredPopulation, *, needs: str) -> Refusal | None:
    """Return why there is no further estimate. needs: what the draw must have stored."""
    if now.estimate.refusal:
        return now.estimate.refusal
    if needs not in stored:
        return Refusal.EARLIER_VERSION
    return None if now.is_final else Refusal.UNJUDGED


def _estimate(method: Method, found: Interval, n: int, size: int) -> Estimate:
    value, low, high = (min(1.0, max(0.0, float(part))) for part in found)
    return Estimate(method, value, low, high, n, size)


def _undecided(stored: StoredPopulation, n: int) -> BoolArray:
    bits = np.frombuffer(bytes.fromhex(stored["undecided"]), np.uint8)
    return np.unpackbits(bits)[:n].astype(np.bool_)


def _captions(loaded: LoadedDraw, measure: str) -> Captions:
    """Return the first labels of all captions in the ranks that a measure reads."""
    draw, benchmark = loaded.draw, loaded.draw.run.benchmark
    lists = read_lists(draw.run, [parse_measure(measure)])
    gains = look_up_gains(lists, _first_labels(benchmark))
    is_original = look_up_gains(lists, original_judged(benchmark)) >= 1
    proxy = benchmark.proxies.filter(sha256=draw.proxy_sha256).first() if draw.proxy else None
    chances = chances_of(lists, Known.of(benchmark), proxy)
    is_open = (gains < 0) & lists.is_item & ~is_original
    return Captions.of(
        np.count_nonzero((gains >= 1) & ~is_original, axis=1),
        np.count_nonzero((gains == 0) & ~is_original, axis=1),
        unknown=np.prod(np.where(is_open, 1 - chances, 1), axis=1),
        certain=is_original.any(axis=1),
    )


def _first_labels(benchmark: Benchmark) -> Judged:
    """Return the first label of each pair, repeated for captions with an equal text."""
    judgments, _ = live_labels(benchmark)
    first = judgments.positions == 0
    codes, place = np.unique(judgments.codes[judgments.pair_of[first]], return_index=True)
    labels: GainArray = (judgments.labels[first][place] >= 1).astype(np.int8)
    return Judged(codes, labels, benchmark.n_queries, benchmark.n_videos)


def rates_before(draw: Draw) -> Rates | None:
    """Return the error rates of labels that are older than a draw; None if they are unknown."""
    benchmark = draw.run.benchmark
    labels = _labels_before(draw, benchmark)
    original = original_judged(benchmark)
    lists = [ranked_lists(run) for run in find_runs(benchmark, direction=Direction.TEXT_TO_VIDEO)]
    strata, _ = rank_strata(labels.codes, best_ranks(lists, labels.codes), original)
    clusters = dense_groups(videos_of(benchmark), benchmark.n_queries)
    resamples = Resamples(clusters, DRAWS, 0)
    of_pairs = clusters[labels.space.queries(labels.codes)]
    table = labels.table(strata, of_pairs, resamples.n_clusters)
    found = rates_from_labels(table, resamples.sums(table.counts))
    if found.rates is None:
        return None
    values, draws = found.rates.values, found.draws
    # The columns are false alarms, misses, and if they differ isolated and other false alarms.
    columns = (2, 3, 1) if len(values) == 4 else (0, 0, 1)
    covariance: FloatArray = np.cov(draws[:, columns], rowvar=False)
    isolated, other, miss = (values[column] for column in columns)
    return Rates(isolated, other, miss, covariance)


def _labels_before(draw: Draw, benchmark: Benchmark) -> NoisyLabels:
    """Return the planned labels that are older than a draw, as evidence."""
    judgments: JudgmentArrays = judgment_arrays(benchmark)
    older = Judgment.objects.filter(
        task__campaign__benchmark=benchmark, created_at__lt=draw.created_at
    ).exclude(task__campaign=draw.campaign_id)
    (ids,) = read_columns(older, "pk")
    used = judgments.is_first & np.isin(judgments.ids, ids)
    n_labels, relevant = (
        np.bincount(judgments.pair_of[used], weights, len(judgments.codes)).astype(np.int64)
        for weights in (None, (judgments.labels[used] >= 1).astype(np.float64))
    )
    codes: IntArray = judgments.codes
    return NoisyLabels(
        codes=codes,
        space=benchmark.pair_space,
        n_labels=n_labels,
        relevant=relevant,
        ruled=np.full(len(codes), -1, np.int8),
        is_known=np.isin(codes, original_judged(benchmark).codes),
        n_all_labels=n_labels,
    )
