"""People who asked the leads of benchmarks to confirm them for uploads."""

from __future__ import annotations

from django.db.models import Count, F, QuerySet

from pooling.models import Benchmark, Uploader


def uploaders_of(benchmark: Benchmark) -> QuerySet[Uploader]:
    """Return the active people with a request. Those who wait come first, oldest request first."""
    found = Uploader.objects.filter(benchmark=benchmark, person__is_active=True)
    waiting_first = F("confirmed_at").asc(nulls_first=True)
    return found.select_related("person").order_by(waiting_first, "pk")


def unconfirmed_uploaders() -> dict[int, int]:
    """Return the number of active people who wait, by the benchmark's primary key."""
    waiting = Uploader.objects.filter(confirmed_at=None, person__is_active=True).order_by()
    return dict(waiting.values_list("benchmark").annotate(n=Count("pk")))
