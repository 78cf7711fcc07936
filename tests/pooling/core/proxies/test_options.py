"""Proxies computed from captions, with each method and its options."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hearth.shared.errors import InvalidInput
from hearth.shared.progress import no_progress
from pooling.core.proxies.options import Method, ProxyOptions, compute_from_captions
from pooling.core.proxies.stop_words import NO_STOP_WORDS
from pooling.core.proxies.wordnet import MISSING, Part

VIDEOS = [["wash hands", "rinse a hand"], ["take the car"]]
CAPTIONS = [["rinse hands"], ["take an automobile"]]
OWN = (np.array([0]), np.array([0]))
CLASSES = {Part.VERB: {"wash": 2, "rinse": 2}, Part.NOUN: {"hand": 11}}


def compute(method: Method, folder: Path, **options) -> tuple[list[list[float]], dict[str, str]]:
    out = np.zeros((2, 2))
    chosen = ProxyOptions(method, wordnet=folder, **options)
    stated = compute_from_captions(chosen, VIDEOS, CAPTIONS, OWN, out, no_progress)
    return out.round(4).tolist(), dict(stated)


def test_each_method_with_its_options(wordnet_folder) -> None:
    computed = {"own_is_one": False}
    bag, stated = compute(Method.BOW, wordnet_folder, stop_words=NO_STOP_WORDS, **computed)
    assert bag == [[0.4, 0.0], [0.0, 0.2]]
    assert stated == {
        "method": "BoW",
        "stop words": "none (0 words)",
        "split at": "single spaces",
        "least share of captions": "25 %",
        "own captions": "as computed",
    }
    words, stated = compute(Method.POS, wordnet_folder, commands=True, **computed)
    assert words == [[0.5, 0.0], [0.0, 0.5]]
    assert stated["tagger"] == "HanTa, captions are commands"
    senses, stated = compute(Method.SYN, wordnet_folder, commands=True, **computed)
    # A caption of the video has the word "a", so "hand" gets the sense whose definition has "a".
    assert senses == [[0.5, 0.0], [0.0, 1.0]]
    assert stated["senses"] == "WordNet 3.0, simplified Lesk"
    _, stated = compute(Method.METEOR, wordnet_folder)
    assert stated["synonyms"] == "of stems (as NLTK), WordNet 3.0"


def test_own_captions_have_the_value_1(wordnet_folder) -> None:
    values, stated = compute(Method.BOW, wordnet_folder, stop_words=NO_STOP_WORDS)
    assert (values, stated["own captions"]) == ([[1.0, 0.0], [0.0, 0.2]], "1")


@pytest.mark.parametrize(
    ("by_tagger", "name"),
    [
        (True, "table of classes, lemmas by HanTa"),
        (False, "table of classes, lemmas of WordNet 3.0"),
    ],
)
def test_a_table_of_classes(wordnet_folder, by_tagger, name) -> None:
    options = {"classes": CLASSES, "lemmas_by_tagger": by_tagger, "commands": True}
    values, stated = compute(Method.SYN, wordnet_folder, own_is_one=False, **options)
    assert (values, stated["senses"]) == ([[1.0, 0.0], [0.0, 0.5]], name)


def test_wordnet_is_needed_only_by_the_methods_that_use_it(tmp_path) -> None:
    compute(Method.BOW, tmp_path)
    compute(Method.POS, tmp_path)
    compute(Method.SYN, tmp_path, classes=CLASSES, lemmas_by_tagger=True)
    for method in (Method.SYN, Method.METEOR):
        with pytest.raises(InvalidInput, match=MISSING.partition(",")[0]):
            compute(method, tmp_path)
