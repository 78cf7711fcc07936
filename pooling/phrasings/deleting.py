"""The rows that are deleted with phrasings, or together with a benchmark."""

from __future__ import annotations

from collections.abc import Iterator

from django.urls import reverse

from hearth.shared.deleting import Obstacle, Part, belongs_to
from pooling.models import Benchmark, Run
from pooling.phrasings.models import (
    FusedParent,
    ModelAnswer,
    PhrasedList,
    PhrasedLists,
    Phrasing,
    PhrasingSet,
    TextVectors,
    TextVectorsPart,
)


@belongs_to(PhrasingSet)
def rows_of_phrasing_set(added: PhrasingSet) -> Iterator[Part | Obstacle]:
    numbers = Phrasing.objects.filter(set=added).order_by().values("number")
    for run in Run.everything.filter(
        benchmark=added.benchmark, phrased__phrasing__in=numbers, is_private=False
    ).distinct():
        yield Obstacle(
            f"The run {run.name} has lists for phrasings with these numbers.",
            url=reverse("run", args=[added.benchmark.key, run.pk]),
            link="To the run",
        )
    yield Part("phrasing", Phrasing.objects.filter(set=added))
    yield Part("set of phrasings", PhrasingSet.objects.filter(pk=added.pk), "sets of phrasings")


@belongs_to(Run)
def phrased_lists_of_run(run: Run) -> Iterator[Part | Obstacle]:
    for made in Run.objects.filter(fused_parents__parent=run):
        yield Obstacle(
            f"The run {made.name} was fused from this run.",
            url=reverse("run", args=[run.benchmark.key, made.pk]),
            link="To the fused run",
        )
    yield Part("list of a phrasing", PhrasedList.objects.filter(of__run=run), "lists of phrasings")
    lists = "sets of lists of a phrasing"
    yield Part("set of lists of a phrasing", PhrasedLists.objects.filter(run=run), lists)
    parents = FusedParent.objects.filter(run=run)
    yield Part("link to a parent", parents, "links to parents")


@belongs_to(Benchmark)
def phrasings_of_benchmark(benchmark: Benchmark) -> Iterator[Part | Obstacle]:
    lists = PhrasedList.objects.filter(of__run__benchmark=benchmark)
    yield Part("list of a phrasing", lists, "lists of phrasings")
    of_runs = PhrasedLists.objects.filter(run__benchmark=benchmark)
    yield Part("set of lists of a phrasing", of_runs, "sets of lists of a phrasing")
    parents = FusedParent.objects.filter(run__benchmark=benchmark)
    yield Part("link of a fused run to a parent", parents, "links of fused runs to parents")
    yield Part("phrasing", Phrasing.objects.filter(set__benchmark=benchmark))
    sets = PhrasingSet.objects.filter(benchmark=benchmark)
    yield Part("set of phrasings", sets, "sets of phrasings")
    answers = ModelAnswer.objects.filter(query__benchmark=benchmark)
    yield Part("answer of a language model", answers, "answers of a language model")
    parts = TextVectorsPart.objects.filter(of__benchmark=benchmark)
    yield Part("part of embeddings of texts", parts, "parts of embeddings of texts")
    vectors = TextVectors.objects.filter(benchmark=benchmark)
    yield Part("set of embeddings of texts", vectors, "sets of embeddings of texts")
