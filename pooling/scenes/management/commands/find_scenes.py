"""Divide the videos of a benchmark into scenes."""

from __future__ import annotations

from typing import Any

from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.options import read_options
from hearth.shared.words import counted
from pooling.scenes.actions import FindScenes
from pooling.scenes.services import find_scenes
from pooling.selectors.benchmarks import get_benchmark


class Command(HearthCommand):
    help = (
        "Divide videos into scenes by kernel temporal segmentation, and store the times and the "
        "middle frames of the scenes."
    )
    action = FindScenes

    def run(self, **options: Any) -> dict[str, Any]:
        report = find_scenes(
            benchmark=get_benchmark(options["key"]),
            options=read_options(FindScenes, options),
            by=OPERATOR,
            progress=self.progress,
        )
        return {**report}

    def report(self, result: dict[str, Any]) -> None:
        scenes, videos = counted(result["scenes"], "scene"), counted(result["videos"], "video")
        self.stdout.write(f"{scenes} in {videos}")
        for key, reason in result["errors"].items():
            self.stdout.write(f"{key}: {reason}")
