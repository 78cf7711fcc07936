"""Intervals of the annotator accuracies that the model of Dawid and Skene estimates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from evaluation.core.arrays import FloatArray
from evaluation.core.people.dawid_skene import SMOOTHING, LabelModel, LabelPatterns
from evaluation.core.statistics.proportions import wilson_intervals
from evaluation.core.statistics.resampling import normal_quantile

_MAX_RESAMPLES, _MIN_RESAMPLES = 200, 50
# Maximum of (entries of patterns) * (steps of the scale) * (resamples), which limits the time.
_ENTRIES: Final = 4_000_000
# Number of posteriors in a block of resamples, which limits the memory to a few megabytes.
_BLOCK_CELLS: Final = 1 << 16
# With fewer resamples in a block, multiplying by sparse matrices takes longer.
_MIN_BLOCK: Final = 8
_ROUNDS: Final = 60
_TOLERANCE: Final = 1e-3


def accuracy_intervals(
    model: LabelModel,
    *,
    rng: np.random.Generator,
    confidence: float = 0.95,
    smoothing: float = SMOOTHING,
) -> FloatArray:
    """Return the interval of each accuracy in `model.accuracy`, float64 [n_annotators, 2].

    confidence: between 0 and 1. smoothing: the value with which the model was fitted.

    Items are resampled as counts of their patterns. EM starts from the fitted model in every
    resample. Let p be an accuracy, and v the variance of its values in the resamples. The interval
    is that of Wilson (1927, equation 7) for a share p of n labels. Here n is p (1 - p) / v, but at
    most the number of the annotator's labels, and at least 1. Percentiles of the resamples would be
    too narrow if an annotator has few labels or makes no mistakes. In simulations with 5 to 20
    annotators and 80 to 800 labels each, the 95 % intervals contain the true accuracy in 95 to 96 %
    of the cases. Intervals between percentiles contain it in 88 to 96 %.
    """
    labels = _label_counts(model)
    p = model.accuracy
    variance = _resampled_accuracy(model, smoothing, rng).var(axis=1)
    size = np.clip(p * (1 - p) / np.maximum(variance, 1e-12), 1, labels)
    return wilson_intervals(p, size, normal_quantile(confidence))


def _label_counts(model: LabelModel) -> FloatArray:
    """Return the number of labels of each annotator, float64 [n_annotators]."""
    patterns = model.patterns
    weights = patterns.weights[patterns.owner].astype(np.float64)
    annotators = patterns.codes // patterns.n_steps
    labels = np.bincount(annotators, weights=weights, minlength=patterns.n_annotators)
    return labels.astype(np.float64)


def _resampled_accuracy(
    model: LabelModel, smoothing: float, rng: np.random.Generator
) -> FloatArray:
    """Return the accuracies in resamples of the items, float64 [n_annotators, resamples].

    Blocks of resamples are computed one after another, so that only one of them is in memory.
    """
    patterns = model.patterns
    tables = _tables(patterns)
    affordable = _ENTRIES // (len(patterns.codes) * patterns.n_steps)
    resamples = min(_MAX_RESAMPLES, max(_MIN_RESAMPLES, affordable))
    block = max(_MIN_BLOCK, _BLOCK_CELLS // model.pattern_posterior.size)
    n_items = int(patterns.weights.sum())
    accuracies = []
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        drawn = rng.multinomial(n_items, patterns.weights / n_items, size)
        weights = np.ascontiguousarray(drawn.T, np.float64)
        accuracies.append(_accuracy_of_weights(model, tables, weights, smoothing))
    return np.concatenate(accuracies, axis=1)


@dataclass(frozen=True, slots=True)
class _Tables:
    """Which codes each pattern contains, as sparse matrices [P, codes] and [codes, P]."""

    by_pattern: Any
    by_code: Any


def _tables(patterns: LabelPatterns) -> _Tables:
    from scipy import sparse  # type: ignore[import-untyped]  # slow to import

    entries = np.ones(len(patterns.codes)), (patterns.owner, patterns.codes)
    shape = (len(patterns.starts), patterns.n_annotators * patterns.n_steps)
    by_pattern = sparse.csr_matrix(entries, shape=shape)
    return _Tables(by_pattern, by_pattern.T.tocsr())


def _accuracy_of_weights(
    model: LabelModel, tables: _Tables, weights: FloatArray, smoothing: float
) -> FloatArray:
    """Fit the model to resamples, and return the accuracies [n_annotators, resamples].

    weights: float64 [P, resamples], the number of times that each pattern was drawn.
    """
    n_annotators, n_steps = model.patterns.n_annotators, model.patterns.n_steps
    resamples = weights.shape[1]
    posterior = np.repeat(model.pattern_posterior.T[:, :, None], resamples, axis=2)
    moved = np.empty_like(posterior)
    for _ in range(_ROUNDS):
        priors, correct = [], []
        for true, chances in enumerate(posterior):
            weighted = chances * weights
            prior = weighted.sum(axis=0) + smoothing
            counts = np.asarray(tables.by_code @ weighted)
            confusion = counts.reshape(n_annotators, n_steps, resamples) + smoothing
            confusion /= confusion.sum(axis=1, keepdims=True)
            priors.append(prior)
            correct.append(confusion[:, true])
            logs = np.log(confusion).reshape(-1, resamples)
            moved[true] = tables.by_pattern @ logs + np.log(prior)
        moved -= moved.max(axis=0)
        np.exp(moved, out=moved)
        moved /= moved.sum(axis=0)
        posterior -= moved
        if np.abs(posterior, out=posterior).max() < _TOLERANCE:
            break
        posterior, moved = moved, posterior
    shares = np.stack(priors) / np.sum(priors, axis=0)
    return np.asarray(np.einsum("kb,kab->ab", shares, np.stack(correct)))
