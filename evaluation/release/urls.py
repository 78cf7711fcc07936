"""Addresses of the pages that publish, compare and download labels."""

from __future__ import annotations

from evaluation.release.views import confirmations, diffs, label_sets, paragraphs, training
from hearth.shared.addresses import addresses

urlpatterns = [
    *addresses(
        "benchmarks/<str:key>/",
        [
            ("runs/<int:pk>/confirm/", confirmations.run_confirm),
            ("relevant-pairs/<int:pk>/training/", training.training_moments),
            ("paragraphs/outcomes/", paragraphs.paragraphs_outcomes),
            ("paragraphs/settle/", paragraphs.paragraphs_settle),
            ("labels/publish/", label_sets.labels_publish),
            ("labels/draft/", label_sets.draft_make),
            ("labels/compare/", diffs.label_set_compare),
            ("labels/<str:version>/since/<str:other>/", diffs.label_set_diff),
            ("labels/<str:version>/since/<str:other>/csv/", diffs.label_set_diff_csv),
            ("labels/<str:version>/verify/", label_sets.label_set_verify),
            ("labels/<str:version>/<str:format>/", label_sets.label_set_export),
        ],
    ),
]
