"""Addresses of the pages that publish, compare and download labels."""

from __future__ import annotations

from django.urls import path

from evaluation.release.views import confirmations, diffs, label_sets

urlpatterns = [
    path(
        "benchmarks/<str:key>/runs/<int:pk>/confirm/", confirmations.run_confirm, name="run-confirm"
    ),
    path("benchmarks/<str:key>/labels/publish/", label_sets.labels_publish, name="labels-publish"),
    path("benchmarks/<str:key>/labels/draft/", label_sets.draft_make, name="draft-make"),
    path("benchmarks/<str:key>/labels/compare/", diffs.label_set_compare, name="label-set-compare"),
    path(
        "benchmarks/<str:key>/labels/<str:version>/since/<str:other>/",
        diffs.label_set_diff,
        name="label-set-diff",
    ),
    path(
        "benchmarks/<str:key>/labels/<str:version>/since/<str:other>/csv/",
        diffs.label_set_diff_csv,
        name="label-set-diff-csv",
    ),
    path(
        "benchmarks/<str:key>/labels/<str:version>/verify/",
        label_sets.label_set_verify,
        name="label-set-verify",
    ),
    path(
        "benchmarks/<str:key>/labels/<str:version>/<str:format>/",
        label_sets.label_set_export,
        name="label-set-export",
    ),
]
