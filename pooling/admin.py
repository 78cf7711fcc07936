"""The models of the pooling app in Django's admin."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from hearth.shared.admin import ReadOnlyAdmin
from pooling.models import Benchmark, Pool, Proxy, Run, System, Tag, TrainSplit, Video


@admin.register(Benchmark)
class BenchmarkAdmin(ReadOnlyAdmin):
    list_display = ["key", "name", "n_queries", "n_videos", "licence"]


@admin.register(System)
class SystemAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # generic only in the stubs
    list_display = ["key", "name", "paper"]


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    list_display = [
        "name",
        "benchmark",
        "system",
        "depth",
        "n_queries",
        "created_by",
        "created_at",
    ]
    list_select_related = ["benchmark", "system", "created_by"]
    list_filter = ["benchmark"]


@admin.register(Proxy)
class ProxyAdmin(ReadOnlyAdmin):
    list_display = ["name", "benchmark", "method", "sha256", "created_by", "created_at"]
    list_select_related = ["benchmark", "created_by"]
    list_filter = ["method", "benchmark"]


@admin.register(TrainSplit)
class TrainSplitAdmin(ReadOnlyAdmin):
    list_display = ["name", "benchmark", "n_captions", "sha256", "created_at"]
    list_select_related = ["benchmark"]
    list_filter = ["benchmark"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[TrainSplit]:
        return super().get_queryset(request).defer("texts")


@admin.register(Tag)
class TagAdmin(ReadOnlyAdmin):
    list_display = ["name", "benchmark", "n_queries", "created_at"]
    list_select_related = ["benchmark"]
    list_filter = ["benchmark"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Tag]:
        return super().get_queryset(request).defer("queries")


@admin.register(Pool)
class PoolAdmin(ReadOnlyAdmin):
    list_display = ["id", "benchmark", "strategy", "depth", "n_pairs", "n_new_pairs", "created_by"]
    list_select_related = ["benchmark", "created_by"]


@admin.register(Video)
class VideoAdmin(ReadOnlyAdmin):
    list_display = ["key", "benchmark", "state", "duration"]
    list_select_related = ["benchmark"]
    list_filter = ["state", "benchmark"]
    search_fields = ["key"]
