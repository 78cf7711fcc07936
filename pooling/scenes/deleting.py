"""The scenes that are deleted together with a benchmark."""

from __future__ import annotations

from collections.abc import Iterator

from hearth.shared.deleting import Obstacle, Part, belongs_to
from pooling.models import Benchmark
from pooling.scenes.models import Scene, VideoScenes


@belongs_to(Benchmark)
def scenes_of_benchmark(benchmark: Benchmark) -> Iterator[Part | Obstacle]:
    yield Part("scene", Scene.objects.filter(of__video__benchmark=benchmark))
    found = VideoScenes.objects.filter(video__benchmark=benchmark)
    yield Part("video with scenes", found, "videos with scenes", files=("picture",))
