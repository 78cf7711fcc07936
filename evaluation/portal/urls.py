from __future__ import annotations

from evaluation.portal.views import benchmarks, home, label_sets, uploads
from hearth.shared.addresses import addresses

urlpatterns = [
    *addresses(
        "benchmarks/<str:key>/",
        [
            ("", benchmarks.overview, "benchmark"),
            ("runs/", benchmarks.runs, "benchmark-runs"),
            ("campaigns/", benchmarks.campaigns, "benchmark-campaigns"),
            ("labels/", benchmarks.labels, "benchmark-labels"),
            ("labels/<str:version>/", label_sets.label_set),
            ("people/", benchmarks.people, "benchmark-people"),
            ("uploads/", uploads.uploads, "recent-uploads"),
            ("settings/", benchmarks.settings, "benchmark-settings"),
        ],
    ),
    *addresses(
        "",
        [
            ("", home.home),
        ],
    ),
]
