"""The times of scenes that are deleted with a campaign or a benchmark."""

from __future__ import annotations

from collections.abc import Iterator

from annotation.models import Campaign
from annotation.questions.scene.models import StudyScene
from hearth.shared.deleting import Obstacle, Part, belongs_to
from pooling.models import Benchmark


@belongs_to(Campaign)
def scenes_of_campaign(campaign: Campaign) -> Iterator[Part | Obstacle]:
    scenes = StudyScene.objects.filter(item__campaign=campaign)
    yield Part("scene of a study", scenes, "scenes of studies")


@belongs_to(Benchmark)
def scenes_of_studies(benchmark: Benchmark) -> Iterator[Part | Obstacle]:
    scenes = StudyScene.objects.filter(item__campaign__benchmark=benchmark)
    yield Part("scene of a study", scenes, "scenes of studies")
