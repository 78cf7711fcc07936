"""Gold items of the demo: pairs with a known correct answer and an explanation."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from evaluation.demo.benchmark import DemoBenchmark, make_benchmark
from evaluation.demo.captions import Meaning, Phrase
from evaluation.demo.explaining import explain
from evaluation.demo.files import write_gold
from evaluation.demo.gold import GoldPair, choose_gold
from evaluation.demo.shapes import Background, Colour, Figure, Form, Motion, Relation, Scene, Size

STAR = Figure(Form.STAR, Colour.BLUE, Size.SMALL, Motion.STILL, column=0, row=0)
CIRCLE = Figure(Form.CIRCLE, Colour.RED, Size.LARGE, Motion.STILL, column=0, row=2)
SCENE = Scene((STAR, CIRCLE), Background.WHITE)
ALL_OF_STAR = Phrase(Form.STAR, Colour.BLUE, Size.SMALL, Motion.STILL)


@pytest.mark.parametrize(
    ("meaning", "why"),
    [
        (
            Meaning((ALL_OF_STAR,), background=Background.WHITE, count=2),
            "Everything is there: a small blue star stands still on a white background in a video "
            "of just two shapes.",
        ),
        (
            Meaning((Phrase(Form.STAR), Phrase(colour=Colour.RED)), Relation.ABOVE),
            "Everything is there: a star above a red shape.",
        ),
        (
            Meaning((Phrase(Form.CIRCLE, Colour.GREEN),)),
            "The circle is red, the caption says green.",
        ),
        (
            Meaning((Phrase(Form.SQUARE, Colour.BLUE, Size.SMALL),)),
            "The blue shape is a star, the caption says square.",
        ),
        (
            Meaning((replace(ALL_OF_STAR, size=Size.LARGE),)),
            "The star is small, the caption says large.",
        ),
        (
            Meaning((replace(ALL_OF_STAR, motion=Motion.LEFT),)),
            "The star stands still, the caption says that it moves left.",
        ),
        (
            Meaning((Phrase(Form.STAR), Phrase(Form.CIRCLE)), Relation.BELOW),
            "The star is not always below the circle.",
        ),
        (
            Meaning((Phrase(Form.STAR),), background=Background.GREY),
            "The background is white, the caption says grey.",
        ),
        (
            Meaning((Phrase(Form.STAR),), count=1),
            "There are two shapes, the caption says one shape.",
        ),
        (
            Meaning((Phrase(Form.STAR), Phrase(Form.CIRCLE), Phrase(Form.SQUARE, Colour.GREEN))),
            "The green square is missing.",
        ),
        # All differences are named. Phrases are compared with the shapes that meet most demands.
        (
            Meaning((Phrase(Form.CIRCLE, Colour.GREEN, Size.LARGE),), count=3),
            "The circle is red, the caption says green; there are two shapes, the caption says "
            "three shapes.",
        ),
    ],
)
def test_explanation_of_a_pair(meaning: Meaning, why: str) -> None:
    assert explain(meaning, SCENE) == why


def test_one_of_several_shapes_is_named_by_its_colour() -> None:
    other = replace(STAR, colour=Colour.GREEN, column=2)
    scene = Scene((STAR, other), Background.BLACK)
    large = Meaning((Phrase(Form.STAR, Colour.GREEN, Size.LARGE),))
    assert explain(large, scene) == "The green star is small, the caption says large."
    purple = Meaning((Phrase(Form.STAR, Colour.PURPLE),))
    assert explain(purple, scene) == "One star is blue, the caption says purple."
    alone = Scene((STAR,), Background.BLACK)
    two = Meaning((Phrase(Form.STAR),), count=2)
    assert explain(two, alone) == "There is one shape, the caption says two shapes."


@pytest.fixture(scope="module")
def demo() -> DemoBenchmark:
    return make_benchmark(4, n_videos=12, n_captions=60)


def test_half_of_the_pairs_are_relevant_and_half_nearly_relevant(demo: DemoBenchmark) -> None:
    pooled = {(caption, video) for caption in range(60) for video in range(6)}
    chosen = choose_gold(demo, 20, seed=1, without=pooled)
    assert Counter(pair.is_relevant for pair in chosen) == {True: 10, False: 10}
    assert len({pair.caption for pair in chosen}) == 20
    assert all(pair.video >= 6 for pair in chosen)
    for pair in chosen:
        meaning = demo.captions[pair.caption].meaning
        unmet = round((1 - float(demo.met[pair.caption, pair.video])) * meaning.demands())
        assert unmet == (0 if pair.is_relevant else 1)
        assert demo.truth[pair.caption, pair.video] == pair.is_relevant
        assert pair.explanation == explain(meaning, demo.scenes[pair.video])
        assert pair.explanation.startswith("Everything is there") == pair.is_relevant
        # A single difference is described by one part of a sentence.
        assert ";" not in pair.explanation


def test_the_items_are_determined_by_the_seed(demo: DemoBenchmark) -> None:
    assert choose_gold(demo, 8, seed=1) == choose_gold(demo, 8, seed=1)
    assert choose_gold(demo, 8, seed=1) != choose_gold(demo, 8, seed=2)
    # The two kinds do not alternate.
    kinds = [pair.is_relevant for pair in choose_gold(demo, 20, seed=1)]
    assert kinds not in ([True, False] * 10, [False, True] * 10)


def test_gold_as_a_file(demo: DemoBenchmark, tmp_path: Path) -> None:
    pairs = [GoldPair(0, 3, True, "it is, all of it"), GoldPair(2, 1, False, "")]
    with write_gold(tmp_path / "gold.csv", demo, pairs).open(newline="") as file:
        assert list(csv.reader(file)) == [
            ["caption_id", "video_id", "label", "explanation"],
            [demo.captions[0].key, "v003", "1", "it is, all of it"],
            [demo.captions[2].key, "v001", "0", ""],
        ]
