from __future__ import annotations

from django.contrib import admin

from evaluation.models import AgreementReport, Evaluation, LabelSet
from hearth.shared.admin import ReadOnlyAdmin


@admin.register(LabelSet)
class LabelSetAdmin(ReadOnlyAdmin):
    list_display = ["benchmark", "version", "n_pairs", "n_relevant", "sha256", "created_at"]
    list_select_related = ["benchmark"]


@admin.register(AgreementReport)
class AgreementReportAdmin(ReadOnlyAdmin):
    list_display = ["benchmark", "code_version", "created_at"]
    list_select_related = ["benchmark"]


@admin.register(Evaluation)
class EvaluationAdmin(ReadOnlyAdmin):
    list_display = ["run", "label_set", "labels_only", "code_version", "created_at"]
    list_select_related = ["run", "label_set"]
