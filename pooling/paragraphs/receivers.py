"""What belongs to paragraphs, and what paragraphs keep from being changed or deleted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import Q
from django.dispatch import receiver

from hearth.shared.deleting import Obstacle, Part, belongs_to
from hearth.shared.errors import Conflict
from pooling.models import Benchmark, Query, Run
from pooling.paragraphs.models import ClipSet, Paragraphs, Sentence, Similarities
from pooling.signals import captions_changing, unknown_row


@receiver(captions_changing)
def keep_captions(benchmark: Benchmark, **_: Any) -> None:
    """Refuse changes of captions that are paragraphs, or sentences of paragraphs."""
    linked = Paragraphs.objects.filter(Q(benchmark=benchmark) | Q(sentences=benchmark))
    if (found := linked.select_related("benchmark").first()) is not None:
        raise Conflict(
            f"These captions and the paragraphs {found.benchmark.key} belong together. Delete the "
            "benchmark of the paragraphs before you change them."
        )


@receiver(unknown_row)
def level_of_key(benchmark: Benchmark, key: str, **_: Any) -> str:
    """Name the benchmark of the other level if a run of one level contains its key."""
    is_other = Q(benchmark__paragraphs_of__benchmark=benchmark)
    is_other |= Q(benchmark__paragraphs__sentences=benchmark)
    found = Query.objects.filter(is_other, key=key).select_related("benchmark").first()
    if found is None:
        return ""
    noun = "paragraph" if hasattr(found.benchmark, "paragraphs") else "sentence"
    other = found.benchmark.key
    return f", which is a {noun} of {other}; a run has one level, so import this list into {other}"


@belongs_to(Run)
def rows_of_run(run: Run) -> Iterator[Part | Obstacle]:
    yield _similarities(Similarities.objects.filter(run=run))


@belongs_to(Benchmark)
def rows_of_benchmark(benchmark: Benchmark) -> Iterator[Part | Obstacle]:
    for found in Paragraphs.objects.filter(sentences=benchmark).select_related("benchmark"):
        yield Obstacle(f"Its captions are the sentences of {found.benchmark.key}.")
    yield _similarities(Similarities.objects.filter(run__benchmark=benchmark))
    yield _clip_sets(ClipSet.objects.filter(benchmark=benchmark))
    yield Part("sentence", Sentence.objects.filter(part_of__benchmark=benchmark))
    link = Paragraphs.objects.filter(benchmark=benchmark)
    yield Part("link to sentences", link, "links to sentences")


@belongs_to(ClipSet)
def rows_of_clip_set(found: ClipSet) -> Iterator[Part | Obstacle]:
    yield _clip_sets(ClipSet.objects.filter(pk=found.pk))


def _clip_sets(rows: Any) -> Part:
    return Part("file of clips", rows, "files of clips", files=("clips",))


def _similarities(rows: Any) -> Part:
    return Part("file of similarities", rows, "files of similarities", files=("index", "values"))
