"""Kernel temporal segmentation, on a worked example."""

from __future__ import annotations

import numpy as np
import pytest

from pooling.scenes.core.segmentation import middles, segment

FRAMES = np.array([0, 0, 0, 0, 1, 1, 1, 5, 5, 5, 5, 5.0])[:, None]


@pytest.mark.parametrize(
    ("steady", "costs", "changes"),
    [
        (1, [5.222222, 0.288062, 0.232647, 0.298287, 0.349769], (4, 7)),
        (5, [5.222222, 0.868879, 1.163233, 1.491434, 1.748844], (7,)),
    ],
)
def test_the_worked_example(steady, costs, changes) -> None:
    found = segment(FRAMES, 4, steady)
    assert found.scatters == pytest.approx([62.666667, 1.714286, 0, 0, 0], abs=1e-6)
    assert found.costs == pytest.approx(costs, abs=1e-6)
    assert found.changes == changes


def test_scenes_of_one_frame_and_of_equal_frames() -> None:
    assert segment(FRAMES[:1], 4).changes == ()
    assert segment(np.ones((6, 3)), 4).changes == ()
    with pytest.raises(ValueError, match="a row for each frame"):
        segment(np.empty((0, 3)), 4)


def test_the_middle_frame_of_each_scene() -> None:
    assert middles((4, 7), 12) == (1, 5, 9)
    assert middles((), 1) == (0,)
