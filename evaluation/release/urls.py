from __future__ import annotations

from django.urls import path

from evaluation.release.views import confirmations, label_sets

urlpatterns = [
    path(
        "benchmarks/<str:key>/runs/<int:pk>/confirm/", confirmations.run_confirm, name="run-confirm"
    ),
    path("benchmarks/<str:key>/labels/publish/", label_sets.labels_publish, name="labels-publish"),
    path("benchmarks/<str:key>/labels/draft/", label_sets.draft_make, name="draft-make"),
    path(
        "benchmarks/<str:key>/labels/<int:version>/<str:format>/",
        label_sets.label_set_export,
        name="label-set-export",
    ),
]
