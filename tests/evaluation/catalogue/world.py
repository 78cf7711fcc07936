"""A benchmark with four captions, of which two are equal, and three videos."""

from __future__ import annotations

from pathlib import Path

from annotation.services import open_campaign
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from pooling.enums import MediaState
from pooling.models import Benchmark, Video
from tests import factories
from tests.replay import replayed

CAPTIONS = [
    ("c#0", "a man plays", "v/0"),
    ("c#1", "a woman sings a song", "v/1"),
    ("c#2", "A man plays.", "v/1"),
    ("c#3", "=a dog", "v/2"),
]
LABELS = {("c#0", "v/1"): 1, ("c#1", "v/2"): 0}


@replayed
def make_catalogue(folder: Path) -> Benchmark:
    """Make the benchmark.

    Runs A and B are pooled to depth 2. Two of the five pairs are judged in label set 1.

    The label of c#0 and v/1 also applies to c#2, whose text is equal.
    """
    made = factories.import_benchmark(
        key="tiny",
        captions=factories.write_captions(folder, CAPTIONS),
        videos=factories.write_videos(folder, [(f"v/{i}", "", "") for i in range(3)]),
    ).benchmark
    factories.make_run(folder, made, {"c#0": ["v/1", "v/0"], "c#1": ["v/2"]}, system="A")
    factories.make_run(folder, made, {"c#0": ["v/0"], "c#1": ["v/0", "v/1"]}, system="B")
    factories.build_pool(benchmark=made, depth=2)
    campaign = open_campaign(benchmark=made, by=OPERATOR, name="round")
    for held in factories.claim(campaign, factories.make_annotator("anna")):
        label = LABELS.get((held.task.query.key, held.task.video.key))
        if label is not None:
            factories.submit(held, label)
    publish_label_set(benchmark=made, allow_pending=True, by=OPERATOR)
    factories.add_tags(folder, made, ("c#1", "music"))
    Video.objects.filter(key="v/2").update(state=MediaState.BROKEN)
    Video.objects.filter(key="v/0").update(state=MediaState.PLAYABLE, duration=4.5)
    return made
