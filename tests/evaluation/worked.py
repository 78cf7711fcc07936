"""A benchmark that is small enough to check every analysis by hand."""

from __future__ import annotations

from pathlib import Path

from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from pooling.models import Benchmark
from tests.factories import (
    add_judgments,
    add_proxy,
    add_tags,
    add_train_captions,
    import_benchmark,
    make_run,
    make_study,
    order_all,
    write_captions,
)
from tests.replay import replayed

CAPTIONS = [
    ("c0", "a dog", "v0"),
    ("c1", "a dog runs", "v1"),
    ("c2", "the black dog runs home", "v2"),
]
RUNS = {
    "A": {"c0": ["v0", "v1", "v2"], "c1": ["v0", "v1", "v3"], "c2": ["v3", "v2", "v0"]},
    "B": {"c0": ["v1", "v3", "v0"], "c1": ["v1", "v2", "v0"], "c2": ["v3", "v1", "v2"]},
}
# The original positive of c1 is labelled as not relevant. It still counts as a positive.
LABELS = {
    "c0": {"v0": 1, "v1": 1, "v2": 0, "v3": 0},
    "c1": {"v0": 1, "v1": 0, "v2": 1, "v3": 0},
    "c2": {"v0": 0, "v1": 0, "v2": 1, "v3": 1},
}


TRAIN = ["a dog", "a dog runs", "zebra"]
# Two tags have one caption each. c0 and c1 have two tags each, and c2 has none.
TAGS = [("c1", "running"), ("c0", "dogs"), ("c1", "dogs"), ("c0", "still")]


# A row of values for each caption, and a column for each video. v3 has only zeros by `words`.
PROXIES = {
    "near": [[1, 0.5, 0, 0], [0.5, 1, 0.25, 0], [0, 0.25, 1, 0.75]],
    "words": [[1, 0, 0, 0], [0.5, 1, 0.5, 0], [0, 0, 1, 0]],
}

# The orders of three people, which are the same for all videos: the levels of the captions, the
# most similar caption first.
BEST_FIRST = (0, 1, 2, 3, 4)
ORDERS = (BEST_FIRST, (1, 0, 2, 3, 4), BEST_FIRST)


@replayed
def make_worked_benchmark(folder: Path) -> Benchmark:
    """Make a benchmark with the captions, runs, labels, train captions, tags and proxies above.

    It has four videos. v3 is not an original positive of any caption.
    """
    videos = folder / "videos.csv"
    videos.write_text("video_id\nv0\nv1\nv2\nv3\n")
    import_benchmark(key="tiny", captions=write_captions(folder, CAPTIONS), videos=videos)
    benchmark = Benchmark.objects.get(key="tiny")
    for name, lists in RUNS.items():
        make_run(folder, benchmark, lists, system=name)
    judged = [
        (caption, video, "anna", label)
        for caption, labels in LABELS.items()
        for video, label in labels.items()
    ]
    add_judgments(folder, benchmark, judged)
    publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)
    add_train_captions(folder, benchmark, *TRAIN)
    add_tags(folder, benchmark, *TAGS)
    for name, values in PROXIES.items():
        add_proxy(folder, benchmark, values, name)
    return benchmark


def make_ordered_benchmark(folder: Path) -> Benchmark:
    """Make six captions and three videos, with an ordering study that all people have completed."""
    study = make_study(folder, key="ordered", name="Study 1")
    order_all(study, ORDERS)
    return study.benchmark
