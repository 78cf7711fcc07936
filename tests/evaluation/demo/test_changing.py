"""Shapes that change what they do: the known times are those at which they visibly do it."""

from __future__ import annotations

import random

import pytest

from evaluation.demo.changing import (
    MOTIONS,
    SECONDS,
    Meaning,
    draw_changing,
    hits,
    make_changing,
    overlap,
)
from evaluation.demo.moments import _shifted
from evaluation.demo.shapes import Colour, Motion


@pytest.mark.parametrize("seed", range(5))
def test_phases_cover_the_video_and_the_shape_moves_as_they_say(seed: int) -> None:
    scene = draw_changing(random.Random(seed))
    (figure,) = scene.figures
    assert figure.phases[0].start == 0
    assert figure.phases[-1].end == SECONDS
    for one, other in zip(figure.phases, figure.phases[1:], strict=False):
        assert one.end == other.start
        assert one.motion is not other.motion
    for phase in figure.phases:
        early, late = (
            figure.at(phase.start + share * (phase.end - phase.start)) for share in (0.2, 0.8)
        )
        moved = {Motion.LEFT: late.x < early.x, Motion.RIGHT: late.x > early.x}
        assert moved.get(phase.motion, late.x == early.x)
        assert (early.angle != late.angle) == (phase.motion is Motion.SPINS)


def test_each_caption_is_true_of_its_moment_and_some_texts_are_shared() -> None:
    demo = make_changing(2)
    assert demo == make_changing(2)
    for number, line in enumerate(demo.lines):
        assert line.meaning.motion in MOTIONS
        assert line.span in demo.spans(number, line.video)
    texts = [line.meaning.text for line in demo.lines]
    assert len(set(texts)) < len(texts)
    several = [n for n in range(len(texts)) if sum(len(demo.spans(n, v)) for v in range(20)) > 1]
    assert len(several) > len(texts) / 2
    assert Meaning(Colour.RED, None, Motion.SPINS).text == "a red shape spins."


def test_overlaps_and_marks() -> None:
    assert overlap((0, 4), (2, 6)) == pytest.approx(1 / 3)
    assert hits((0, 4), [(9, 10), (0, 8)])
    assert not hits((0, 3.9), [(0, 8)])
    assert _shifted([[0.3, 2.4], [2.5, 4.4]], 0.4) == [[0.0, 2.0], [2.1, 4.0]]
