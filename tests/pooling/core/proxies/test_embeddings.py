"""Cosines of embeddings."""

from __future__ import annotations

import numpy as np
import pytest

from hearth.shared.errors import InvalidInput
from pooling.core.proxies import embeddings
from pooling.core.proxies.embeddings import fill_cosine, group_vectors, unit_vectors


def cosines(rows, columns) -> list[list[float]]:
    out = np.full((len(rows), len(columns)), -1.0)
    fill_cosine(out, unit_vectors(np.array(rows)), unit_vectors(np.array(columns)))
    return out.round(6).tolist()


@pytest.mark.parametrize("cells", [1, 1 << 22])
def test_negative_cosines_and_cosines_of_zero_vectors_become_0(cells, monkeypatch) -> None:
    monkeypatch.setattr(embeddings, "_BLOCK_CELLS", cells)
    rows = [[3.0, 4.0], [-1.0, 0.0], [0.0, 0.0]]
    assert cosines(rows, [[1.0, 0.0], [6.0, 8.0]]) == [[0.6, 1.0], [0.0, 0.0], [0.0, 0.0]]


def test_a_video_has_the_mean_of_its_captions() -> None:
    """Each caption has the same weight, whatever the length of its vector."""
    captions = unit_vectors(np.array([[9.0, 0.0], [0.0, 1.0], [1.0, 0.0]], np.float16))
    found = group_vectors(captions, [[0, 1], [2], []])
    assert found == pytest.approx(np.array([[0.5**0.5, 0.5**0.5], [1, 0], [0, 0]]), abs=1e-6)


def test_wrong_embeddings_are_refused() -> None:
    with pytest.raises(InvalidInput, match="the embeddings contain a number that is not finite"):
        unit_vectors(np.array([[np.inf, 0.0]]))
    with pytest.raises(InvalidInput, match="the embeddings have 1 and 2 numbers per row"):
        cosines([[1.0]], [[1.0, 0.0]])
