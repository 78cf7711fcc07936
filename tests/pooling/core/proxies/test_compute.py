"""The proxies BoW, PoS and SYN with their options."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from hearth.shared.errors import Cancelled
from pooling.core.proxies.compute import SYN, BoW, PoS, compute
from pooling.core.proxies.parsing import ParsedCaption, Word
from pooling.core.proxies.senses import ClassTable, Lesk
from pooling.core.proxies.stop_words import NO_STOP_WORDS, own_stop_words, spacy_stop_words
from pooling.core.proxies.wordnet import Part
from pooling.core.proxies.words import Split
from tests.reference.epic import StatedClasses

BAG, PLAIN = BoW(spacy_stop_words()), BoW(NO_STOP_WORDS)


def parsed(text: str, verbs: dict[str, str], nouns: dict[str, str]) -> ParsedCaption:
    """Return a caption with words, and their lemmas or classes."""
    return ParsedCaption(
        text,
        tuple(Word(word, lemma) for word, lemma in verbs.items()),
        tuple(Word(word, lemma) for word, lemma in nouns.items()),
    )


# Verbs and nouns with their classes, in the notation of EPIC-KITCHENS-100.
CAPTIONS = {
    caption.text: caption
    for caption in [
        parsed("take plate", {"take": "0"}, {"plate": "2"}),
        parsed("put down plate", {"put-down": "1"}, {"plate": "2"}),
        parsed("take plates", {"take": "0"}, {"plate": "2"}),
        parsed("wash hands", {"wash": "2"}, {"hand": "11"}),
        parsed("rinse hand", {"rinse": "2"}, {"hand": "11"}),
        parsed("put down wooden spoon", {"put-down": "1"}, {"spoon:wooden": "1"}),
        parsed("put down spoon", {"put-down": "1"}, {"spoon": "1"}),
        parsed("put can", {"put": "1"}, {"can": "14"}),
        parsed("stir", {"stir": "10"}, {"food": "8"}),
    ]
}
# Row, column, and the values of BoW, BoW without a stop list, PoS, PoS with nouns split at
# colons, and SYN.
WORKED = [
    ("take plate", "put down plate", (1.0, 0.25, 0.5, 0.5, 0.5)),
    ("take plate", "take plates", (0.0, 1 / 3, 1.0, 1.0, 1.0)),
    ("wash hands", "rinse hand", (0.0, 0.0, 0.5, 0.5, 1.0)),
    ("put down wooden spoon", "put down spoon", (0.5, 0.75, 0.5, 0.75, 1.0)),
    ("put can", "put can", (0.0, 1.0, 1.0, 1.0, 1.0)),
    ("stir", "stir", (1.0, 1.0, 1.0, 1.0, 1.0)),
]


def values(proxy, rows, columns, **options) -> list[list[float]]:
    out = np.zeros((len(rows), len(columns)))
    return compute(proxy, rows, columns, out=out, **options).tolist()


@pytest.mark.parametrize(("row", "column", "expected"), WORKED)
def test_worked_pairs(row, column, expected) -> None:
    found = [values(bag, [[row]], [[column]]) for bag in (BAG, PLAIN)]
    rows, columns = [[CAPTIONS[row]]], [[CAPTIONS[column]]]
    proxies = (PoS(), PoS(split_nouns=True), SYN(StatedClasses()))
    found += [values(proxy, rows, columns) for proxy in proxies]
    assert found == [[[value]] for value in expected]


def test_words_are_split_and_compared_as_they_are_written() -> None:
    texts = [["Cut plate."], ["cut plate"], ["cut  plate"]]
    assert values(PLAIN, texts, [["cut plate"]]) == [[0.0], [1.0], [2 / 3]]
    bag = BoW(NO_STOP_WORDS, Split.WHITE_SPACE)
    assert values(bag, texts, [["cut plate"]]) == [[0.0], [1.0], [1.0]]


def test_stop_words_can_be_chosen() -> None:
    assert len(spacy_stop_words().words) == 326
    assert {"take", "put", "empty", "can", "n't", "’ve"} < spacy_stop_words().words
    bag = BoW(own_stop_words(["plate", "cut"]))
    assert values(bag, [["cut a plate"]], [["a b"]]) == [[0.5]]
    assert bag.options == {
        "method": "BoW",
        "stop words": "own (2 words)",
        "split at": "single spaces",
        "least share of captions": "25 %",
    }
    assert BAG.options["stop words"] == "spaCy 3.8.18 (326 words)"


def test_a_video_has_the_words_of_a_quarter_of_its_captions() -> None:
    captions = ["man cooks"] * 2 + ["woman"] + ["food"] * 5
    assert values(BAG, [captions], [["food"], ["man"], ["woman"]]) == [[1 / 3, 1 / 3, 0.0]]


def test_own_captions_can_be_set_to_1() -> None:
    rows, columns = [["put can"], ["stir"]], [["put can"], ["stir"], ["take can"]]
    assert values(BAG, rows, columns) == [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    own = np.array([0, 1, 0]), np.array([0, 1, 2])
    assert values(BAG, rows, columns, own=own) == [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]


def test_the_matrix_has_single_precision_by_default() -> None:
    assert compute(BAG, [["stir"]], [["stir"]]).dtype == np.float32


def test_senses_of_a_table() -> None:
    """A word without a class forms its own class. So the word "2" differs from class 2."""
    table = ClassTable({Part.VERB: {"take": 0, "get": 0}, Part.NOUN: {"plate": 2}})
    rows = [[parsed("took a 2", {"took": "take"}, {"2": "2"})]]
    columns = [
        [parsed("get a 2", {"get": "get"}, {"2": "2"})],
        [parsed("get a plate", {"get": "get"}, {"plate": "plate"})],
        [parsed("cut", {"cut": "cut"}, {})],
    ]
    assert values(SYN(table), rows, columns) == [[1.0, 0.5, 0.0]]
    assert SYN(table).options["senses"] == "table of classes"


def test_senses_of_wordnet(wordnet) -> None:
    """The sense whose definition has the most words of the caption is chosen.

    If several definitions have equally many, the first of these senses is chosen.
    """
    lesk = Lesk.of(wordnet)
    bank, river, either = Word("bank", "bank"), {"river", "sloping"}, {"house", "river"}
    first, second = wordnet.senses("bank", Part.NOUN)
    assert lesk.sense(bank, Part.NOUN, frozenset(river)) == second
    assert lesk.sense(bank, Part.NOUN, frozenset(either)) == first
    assert lesk.sense(bank, Part.NOUN, frozenset()) == first
    assert lesk.sense(Word("Robot", "robot"), Part.NOUN, frozenset()) == "Robot"
    car, auto = (parsed(word, {}, {word: word}) for word in ("cars", "automobile"))
    assert values(SYN(lesk), [[car]], [[auto], [car]]) == [[0.5, 0.5]]
    assert SYN(lesk).options["senses"] == "WordNet 3.0, simplified Lesk"


def test_progress_can_cancel() -> None:
    def cancel(done: int, total: int | None, phase: str = "") -> None:
        raise Cancelled(f"{done} of {total} {phase}")

    with pytest.raises(Cancelled, match="0 of 2 comparing captions"):
        compute(BAG, [["stir"], ["cut"]], [["stir"]], progress=cancel)


def test_slow_packages_are_imported_only_when_needed() -> None:
    program = (
        "import sys, pooling.core.proxies.compute;"
        "print(sorted({'nltk', 'HanTa', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
