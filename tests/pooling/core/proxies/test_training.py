"""The distribution of values, and training data, compared with a direct computation."""

from __future__ import annotations

import numpy as np
import pytest

from hearth.shared.errors import InvalidInput
from pooling.core.proxies.distribution import THRESHOLDS, distribution_of, highest_and_lowest
from pooling.core.proxies.lexicon import NAMES, members_of_wordnet
from pooling.core.proxies.training import positive_pairs, triplets


def test_the_distribution_counts_every_value() -> None:
    rng = np.random.default_rng(4)
    values = rng.integers(0, 21, (70, 90)).astype(np.float64) / 20
    stored = values.astype(np.float16)
    stored[0, 0] = -0.0
    values[0, 0] = 0
    found = distribution_of(stored)
    # The steps of 0.05 are on the edges of the bins, whatever their rounded values are.
    bins = [int((values == step / 20).sum()) for step in range(21)]
    assert found["bins"] == [*bins[:19], bins[19] + bins[20]]
    assert found["at_least"] == [int((values >= t - 1e-9).sum()) for t in THRESHOLDS]
    assert found["zeros"] == bins[0]
    assert found["mean"] == pytest.approx(stored.astype(float).mean(), abs=1e-12)
    empty = distribution_of(np.zeros((0, 3), np.float16))
    assert (empty["mean"], sum(empty["bins"])) == (0, 0)


def test_triplets_have_a_positive_and_a_negative_of_their_anchor() -> None:
    rng = np.random.default_rng(5)
    values = (rng.random((40, 30)) ** 3).astype(np.float16)
    values[3], values[7] = 0, 1
    found = [np.concatenate(part) for part in zip(*triplets(values, 0.3, 3, 9), strict=True)]
    anchors, positives, negatives = found
    is_positive = values >= np.float16(0.3)
    assert is_positive[anchors, positives].all()
    assert not is_positive[anchors, negatives].any()
    # Each positive of each row is in three triplets, except in rows without a negative.
    rows, columns = np.nonzero(is_positive)
    kept = rows != 7
    assert anchors.tolist() == np.repeat(rows[kept], 3).tolist()
    assert positives.tolist() == np.repeat(columns[kept], 3).tolist()
    again = np.concatenate([part[2] for part in triplets(values, 0.3, 3, 9)])
    other = np.concatenate([part[2] for part in triplets(values, 0.3, 3, 10)])
    assert again.tolist() == negatives.tolist() != other.tolist()
    pairs = list(positive_pairs(values, 0.3))
    assert np.concatenate([part[0] for part in pairs]).tolist() == rows.tolist()


def test_equal_values_are_in_the_order_of_their_numbers() -> None:
    values = np.array([0.5, 0, 1, 0, 0.5, 0], np.float16)
    highest, lowest = highest_and_lowest(values, 2)
    assert (highest.tolist(), lowest.tolist()) == ([2, 0], [1, 3])
    highest, lowest = highest_and_lowest(values[:3], 5)
    assert (highest.tolist(), lowest.tolist()) == ([2, 0, 1], [])


def test_wordnet_is_found_in_any_folder_of_an_archive() -> None:
    names = ["wordnet/README", *(f"wordnet/{name}" for name in sorted(NAMES)), "old/index.noun"]
    found = members_of_wordnet(names)
    assert {names[place] for place in found.values()} == {f"wordnet/{name}" for name in NAMES}
    with pytest.raises(InvalidInput, match=r"and data\.adv is missing$"):
        members_of_wordnet(name for name in names if name != "wordnet/data.adv")
