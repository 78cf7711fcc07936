from __future__ import annotations

from django.contrib import admin

from config.shared.admin import ReadOnlyAdmin
from pooling.models import Benchmark, Pool, Run, System, Video


@admin.register(Benchmark)
class BenchmarkAdmin(admin.ModelAdmin):
    list_display = ["key", "name", "n_queries", "n_videos", "licence"]
    readonly_fields = ["key", "captions_sha256", "n_queries", "n_videos"]

    def has_add_permission(self, request: object) -> bool:
        return False


@admin.register(System)
class SystemAdmin(admin.ModelAdmin):
    list_display = ["key", "name", "paper"]


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    list_display = ["name", "benchmark", "system", "depth", "n_queries", "created_at"]
    list_select_related = ["benchmark", "system"]
    list_filter = ["benchmark"]


@admin.register(Pool)
class PoolAdmin(ReadOnlyAdmin):
    list_display = ["id", "benchmark", "strategy", "depth", "n_pairs", "n_new_pairs"]
    list_select_related = ["benchmark"]


@admin.register(Video)
class VideoAdmin(admin.ModelAdmin):
    list_display = ["key", "benchmark", "state", "duration"]
    list_select_related = ["benchmark"]
    list_filter = ["state", "benchmark"]
    search_fields = ["key"]
    readonly_fields = ["benchmark", "number", "key", "public_id", "sha256"]

    def has_add_permission(self, request: object) -> bool:
        return False
