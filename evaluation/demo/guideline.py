"""The guidelines of the demo, with two example pictures."""

from __future__ import annotations

from collections.abc import Collection

import av

from annotation.services import Example
from evaluation.demo.benchmark import DemoBenchmark
from evaluation.demo.gold import GoldPair, choose_gold
from evaluation.demo.render import render_frame
from pooling.media.pictures import encode_jpeg

GUIDELINE = """\
A pair is relevant if everything in the caption is also in the video. Every shape, colour, size, \
movement and number must be there. Extra shapes in the video do not matter.

"Above", "below", "left of" and "right of" must be true from the first frame to the last. If a \
shape grows, its final size counts.

If one thing is missing or different, the pair is not relevant. If you are still in doubt after \
watching the whole video, judge the pair as not relevant.
"""


def make_examples(demo: DemoBenchmark, without: Collection[tuple[int, int]]) -> list[Example]:
    """Return a relevant example and a nearly relevant one.

    without: pairs of caption and video to avoid.
    """
    pairs = choose_gold(demo, 2, seed=demo.seed + 1, without=without)
    return [_example(demo, pair) for pair in sorted(pairs, key=lambda pair: not pair.is_relevant)]


def _example(demo: DemoBenchmark, pair: GoldPair) -> Example:
    pixels = render_frame(demo.scenes[pair.video], 0.5)
    frame = av.VideoFrame.from_ndarray(pixels, format="rgb24").reformat(format="yuvj420p")
    caption = demo.captions[pair.caption].text
    return Example(
        text=f"“{caption}”: {pair.explanation}",
        is_match=pair.is_relevant,
        content=encode_jpeg(frame),
    )
