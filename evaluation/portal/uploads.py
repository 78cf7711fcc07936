"""The uploads of the last day, each with the address that undoes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count
from django.urls import reverse
from django.utils import timezone

from annotation.models import Campaign
from annotation.selectors.deleting import UNDO_FOR
from hearth.shared.words import counted
from pooling.models import Benchmark, Proxy, Run, Tag, TrainSplit


@dataclass(frozen=True, slots=True)
class Upload:
    """An upload.

    undo_url: the page that undoes the upload. For tags, it is the address to which a form posts
    `at`, and `is_posted` is True. has_author: whether the database stores who uploads such a file.
    """

    noun: str
    name: str
    at: datetime
    by: Any
    undo_url: str
    is_posted: bool = False
    has_author: bool = True


def recent_uploads(benchmark: Benchmark) -> list[Upload]:
    """Return the uploads of the last day, and the proxies computed in it, newest first."""
    recent = {"benchmark": benchmark, "created_at__gte": timezone.now() - UNDO_FOR}
    found = [
        *_runs(benchmark.key, recent),
        *_proxies(benchmark.key, recent),
        *_train_splits(benchmark.key, recent),
        *_tags(benchmark.key, recent),
        *_judgments(recent),
    ]
    return sorted(found, key=lambda upload: upload.at, reverse=True)


def _runs(key: str, recent: dict[str, Any]) -> Iterator[Upload]:
    for run in Run.objects.filter(**recent).select_related("created_by"):
        url = reverse("run-delete", args=[key, run.pk])
        yield Upload("run", run.name, run.created_at, run.created_by, url)


def _proxies(key: str, recent: dict[str, Any]) -> Iterator[Upload]:
    for proxy in Proxy.objects.filter(**recent).select_related("created_by"):
        url = reverse("proxy-delete", args=[key, proxy.pk])
        yield Upload("proxy", proxy.name, proxy.created_at, proxy.created_by, url)


def _train_splits(key: str, recent: dict[str, Any]) -> Iterator[Upload]:
    for split in TrainSplit.objects.filter(**recent).defer("texts"):
        url = reverse("train-captions-delete", args=[key, split.pk])
        yield Upload("train captions", split.name, split.created_at, None, url, has_author=False)


def _tags(key: str, recent: dict[str, Any]) -> Iterator[Upload]:
    """Yield one upload for each file of tags. All tags of a file have the same time."""
    times = Tag.objects.filter(**recent).order_by().values_list("created_at")
    url = reverse("tags-delete", args=[key])
    for at, number in times.annotate(Count("pk")):
        name = counted(number, "tag")
        yield Upload("tags", name, at, None, url, is_posted=True, has_author=False)


def _judgments(recent: dict[str, Any]) -> Iterator[Upload]:
    imports = Campaign.objects.filter(**recent).exclude(source_sha256="")
    for campaign in imports.select_related("created_by"):
        url = reverse("campaign-delete", args=[campaign.pk])
        yield Upload("judgments", campaign.name, campaign.created_at, campaign.created_by, url)
