from __future__ import annotations

from django.contrib import admin

from hearth.jobs.models import Job
from hearth.shared.admin import ReadOnlyAdmin


@admin.register(Job)
class JobAdmin(ReadOnlyAdmin):
    list_display = ["title", "kind", "state", "attempts", "created_at", "finished_at"]
    list_filter = ["state", "kind"]
    search_fields = ["title", "error"]
