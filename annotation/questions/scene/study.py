"""Studies in which people describe scenes, to caption videos for training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from annotation.enums import Joining
from annotation.models import Campaign
from annotation.policies import check_can_lead
from annotation.questions.scene.models import StudyScene
from annotation.services.policy import LABELS_MOST
from annotation.services.studies import open_study
from hearth.accounts.actors import Actor
from hearth.shared.bulk import long_transaction
from hearth.shared.errors import InvalidInput
from hearth.shared.limits import check_seed
from hearth.shared.options import Entry, Option, Seed
from pooling.core.hashing import mix
from pooling.enums import MediaState
from pooling.models import Benchmark
from pooling.scenes.models import Scene

SCENES_MAX = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeScenes:
    """A study in which people write what happens in scenes.

    scenes: If there are more, the seed draws them.
    labels_each: Each description of a scene comes from a different annotator.
    shortest: Shorter scenes are left out.
    name: Annotators see this name.
    seed: The seed draws the scenes, and puts them in order.
    """

    scenes: Annotated[int, Option("Maximum number of scenes", low=1, high=SCENES_MAX)] = 1000
    labels_each: Annotated[
        int, Option("Descriptions per scene", low=1, high=LABELS_MOST, flag="labels")
    ] = 1
    shortest: Annotated[float, Option("Shortest scene, in seconds", low=0, high=60)] = 0.5
    name: Annotated[
        str, Option("Name", length=150, attrs={"autocomplete": "off", "dir": "auto"})
    ] = ""
    joining: Annotated[Joining, Option("Who may judge", entry=Entry.RADIO, in_commands=False)] = (
        Joining.ALL
    )
    seed: Seed = 0

    def check(self) -> None:
        check_seed(self.seed)


def open_scene_study(*, benchmark: Benchmark, by: Actor, options: DescribeScenes) -> Campaign:
    """Open a study of scenes. Raises `InvalidInput` if there is no scene to describe."""
    check_can_lead(by, benchmark)
    options.check()
    scenes = _drawn(benchmark, options)
    if not scenes:
        raise InvalidInput("There is no scene to describe. Find the scenes of the videos first.")
    with long_transaction():
        study = open_study(
            benchmark=benchmark,
            by=by,
            question="scene",
            items=[(scene.of.video_id, str(scene)) for scene in scenes],
            labels_each=options.labels_each,
            seed=options.seed,
            name=options.name,
            joining=options.joining,
            options={"shortest": options.shortest},
        )
        items = study.items.order_by("pk")
        StudyScene.objects.bulk_create(
            StudyScene(item=item, start=scene.start, end=scene.end)
            for item, scene in zip(items, scenes, strict=True)
        )
    return study


def _drawn(benchmark: Benchmark, options: DescribeScenes) -> list[Scene]:
    """Return the scenes in the order in which annotators get them."""
    found = [
        scene
        for scene in Scene.objects.filter(
            of__video__benchmark=benchmark, of__video__state=MediaState.PLAYABLE
        )
        .select_related("of")
        .order_by("of__video__number", "number")
        if scene.end - scene.start >= options.shortest
    ]
    order = np.argsort(mix(np.arange(len(found)), options.seed), kind="stable")
    return [found[place] for place in order[: options.scenes].tolist()]
