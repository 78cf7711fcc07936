"""Reading train splits and tags."""

from __future__ import annotations

import hashlib

from django.db.models import QuerySet

from pooling.core.packing import unpack_numbers, unpack_texts
from pooling.models import Benchmark, Tag, TrainSplit
from pooling.selectors.arrays import Int32Array


def train_splits_of(benchmark: Benchmark) -> QuerySet[TrainSplit]:
    """Return the train splits in the order of their names. Their texts are loaded on access."""
    return TrainSplit.objects.filter(benchmark=benchmark).defer("texts")


def get_train_split(benchmark: Benchmark, name: str) -> TrainSplit:
    """Return the train split of this name. Raises `TrainSplit.DoesNotExist` if there is none."""
    return train_splits_of(benchmark).get(name=name)


def train_texts(split: TrainSplit) -> list[str]:
    """Return the captions of a split in the order of its file."""
    return unpack_texts(bytes(split.texts))


def tags_of(benchmark: Benchmark) -> QuerySet[Tag]:
    """Return the tags, the most frequent first. Their captions are loaded on access."""
    return Tag.objects.filter(benchmark=benchmark).defer("queries")


def tagged_queries(benchmark: Benchmark) -> dict[str, Int32Array]:
    """Return the query numbers of each tag by its name, int32 [n], ascending."""
    rows = Tag.objects.filter(benchmark=benchmark).values_list("name", "queries")
    return {name: unpack_numbers(bytes(packed)) for name, packed in rows.iterator(100)}


def tags_sha256(benchmark: Benchmark) -> str:
    """Return a hash of all tags with their captions. It does not depend on primary keys."""
    rows = Tag.objects.filter(benchmark=benchmark).values_list("name", "sha256")
    lines = sorted(f"{sha256} {name}\n" for name, sha256 in rows)
    return hashlib.sha256("".join(lines).encode()).hexdigest()
