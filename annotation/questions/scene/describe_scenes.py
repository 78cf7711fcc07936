"""Open a study in which people describe scenes."""

from __future__ import annotations

from typing import Any

from annotation.questions.scene.study import DescribeScenes, open_scene_study
from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.options import read_options
from pooling.selectors.benchmarks import get_benchmark


class Command(HearthCommand):
    help = "Open a campaign in which people write what happens in each scene."
    action = DescribeScenes

    def run(self, **options: Any) -> dict[str, Any]:
        study = open_scene_study(
            benchmark=get_benchmark(options["key"]),
            by=OPERATOR,
            options=read_options(DescribeScenes, options),
        )
        labels = study.n_tasks * study.labels_each
        return {
            "campaign": study.pk,
            "name": study.name,
            "scenes": study.n_tasks,
            "descriptions": labels,
        }

    def report(self, result: dict[str, Any]) -> None:
        line = "campaign {campaign} ({name}): {scenes:,} scenes, {descriptions:,} descriptions"
        self.stdout.write(line.format(**result))
