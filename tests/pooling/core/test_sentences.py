"""Sentence embeddings by numpy, on a small model. Another program computed the expected numbers."""

from __future__ import annotations

import json

import numpy as np
import pytest

from hearth.shared.errors import InvalidInput
from pooling.core.proxies.embeddings import fill_sentences
from pooling.core.sentences import MISSING, embed, is_installed
from tests.pooling.core.tiny_model import make_tiny_model

TEXTS = ["a dog runs", "the cat sits fast", "a dog runs", "", "the dog plays guitar fast a cat"]
EXPECTED = [
    [0.44706, -0.353008, -0.687083, 0.022208, -0.105048, -0.042323, 0.07654, 0.429258],
    [0.387757, -0.565606, -0.646946, 0.116313, 0.230448, 0.047957, -0.120958, 0.166219],
    [0.44706, -0.353008, -0.687083, 0.022208, -0.105048, -0.042323, 0.07654, 0.429258],
    [0.351736, 0.037365, -0.310982, -0.068125, -0.262241, -0.372724, -0.310698, 0.685061],
    [0.399985, -0.532952, -0.703045, 0.071782, 0.110422, 0.133973, 0.092909, 0.133321],
]


def test_embeddings_of_a_small_model(tmp_path) -> None:
    """The last text is longer than the model allows, and is cut."""
    folder = make_tiny_model(tmp_path / "model")
    found = embed(TEXTS, folder)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, EXPECTED, atol=2e-6)
    assert embed([], folder).shape == (0, 8)


def test_a_folder_that_is_no_model(tmp_path) -> None:
    with pytest.raises(InvalidInput, match="a model in the layout of sentence-transformers needs"):
        embed(TEXTS, tmp_path)
    folder = make_tiny_model(tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "model_type": "t5"}))
    with pytest.raises(InvalidInput, match="only models of the type BERT"):
        embed(TEXTS, folder)


@pytest.mark.skipif(is_installed(), reason="sentence embeddings are installed")
def test_without_the_package_the_error_says_how_to_install() -> None:
    with pytest.raises(InvalidInput) as error:
        embed(TEXTS)
    assert error.value.reason == MISSING


@pytest.mark.skipif(not is_installed(), reason="sentence embeddings are not installed")
def test_the_installed_model() -> None:
    one, other, third = embed(["a man is playing a guitar", "A man plays the guitar.", "cat sits"])
    assert one @ other == pytest.approx(0.977797, abs=1e-5)
    assert one[:3] == pytest.approx([0.020166, -0.006758, -0.006763], abs=1e-5)
    assert one @ third == pytest.approx(0.019408, abs=1e-5)


@pytest.mark.parametrize("own_is_one", [True, False])
def test_captions_are_compared_with_the_other_captions_of_a_video(own_is_one) -> None:
    """Video 0 has captions 0 and 1, video 1 has caption 2, and video 2 has none."""
    vectors = np.array([[1, 0], [0.6, 0.8], [0, -1]], np.float32)
    own = (np.array([0, 0, 1]), np.array([0, 1, 2]))
    out = np.full((3, 3), 9, np.float32)
    assert fill_sentences(out, vectors, own, 3, own_is_one) == 1
    # Alone, each caption of video 0 has the cosine 0.6 with the other; caption 2 has no other.
    same = [1, 1] if own_is_one else [0.6, 0.6]
    alone = 1 if own_is_one else 0
    np.testing.assert_allclose(out, [[*same, 0], [0, 0, alone], [0, 0, 0]], atol=1e-6)
