"""Videos of plain colours that change at known times."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import av
import numpy as np
from django.core.files import File

from pooling.enums import MediaState
from pooling.models import Benchmark
from tests.factories import import_benchmark, write_captions, write_videos

RED, GREEN, BLUE = (220, 20, 20), (20, 200, 20), (20, 20, 220)
Colour = tuple[int, int, int]


def make_scenes(path: Path, scenes: Sequence[tuple[Colour, float]], rate: int = 16) -> Path:
    """Write a video that shows each colour for some seconds."""
    with av.open(str(path), "w") as out:
        pictures: Any = out.add_stream("libx264", rate=rate)
        pictures.width, pictures.height, pictures.pix_fmt = 64, 48, "yuv420p"
        for colour, seconds in scenes:
            image = np.full((48, 64, 3), colour, np.uint8)
            for _ in range(round(seconds * rate)):
                out.mux(pictures.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
        out.mux(pictures.encode(None))
    return path


def import_scenes(folder: Path) -> Benchmark:
    """Import v0 with three scenes, v1 with one, and v2 without a file.

    The files are stored as they are. To prepare them would only take time.
    """
    captions = write_captions(folder, [(f"c{n}", f"caption {n}", f"v{n}") for n in range(3)])
    videos = write_videos(folder, [(f"v{n}", "", "") for n in range(3)])
    benchmark = import_benchmark(key="scenes", captions=captions, videos=videos).benchmark
    for key, scenes in (("v0", [(RED, 2), (GREEN, 1), (BLUE, 1.5)]), ("v1", [(RED, 2)])):
        video = benchmark.videos.get(key=key)
        with make_scenes(folder / f"{key}.mp4", scenes).open("rb") as stream:
            video.file.save("video.mp4", File(stream), save=False)
        video.duration, video.state = sum(seconds for _, seconds in scenes), MediaState.PLAYABLE
        video.save()
    return benchmark
