from __future__ import annotations

from django.contrib import admin

from annotation.models import Adjudication, Annotator, Campaign, Guideline, Judgment
from annotation.questions.packages import modules
from hearth.shared.admin import ReadOnlyAdmin


@admin.register(Campaign)
class CampaignAdmin(ReadOnlyAdmin):
    list_display = ["name", "kind", "question", "pool", "state", "n_tasks", "created_at"]
    list_select_related = ["pool"]
    list_filter = ["kind", "question", "state"]


@admin.register(Judgment)
class JudgmentAdmin(ReadOnlyAdmin):
    list_display = ["id", "task_id", "annotator_id", "label", "state", "seconds", "created_at"]
    list_filter = ["state", "label"]
    show_full_result_count = False


@admin.register(Adjudication)
class AdjudicationAdmin(ReadOnlyAdmin):
    list_display = ["task_id", "lead", "label", "created_at"]


@admin.register(Annotator)
class AnnotatorAdmin(ReadOnlyAdmin):
    list_display = ["id", "user", "benchmark", "key"]


@admin.register(Guideline)
class GuidelineAdmin(ReadOnlyAdmin):
    list_display = ["benchmark", "version", "created_at"]


list(modules("admin"))
