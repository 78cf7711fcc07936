from __future__ import annotations

from django.contrib import admin

from annotation.questions.order.models import OrderingCaption
from hearth.shared.admin import ReadOnlyAdmin


@admin.register(OrderingCaption)
class OrderingCaptionAdmin(ReadOnlyAdmin):
    list_display = ["task_id", "place", "level", "value", "query_id"]
    list_filter = ["level"]
    show_full_result_count = False
