from __future__ import annotations

from evaluation.public import views
from hearth.shared.addresses import addresses

urlpatterns = [
    *addresses(
        "benchmarks/<str:key>/",
        [
            ("runs/uploads/", views.uploads_of_benchmark, "benchmark-run-uploads"),
        ],
    ),
    *addresses(
        "",
        [
            ("public/", views.benchmarks, "public-benchmarks"),
            ("public/<str:key>/", views.benchmark, "public-benchmark"),
            ("public/<str:key>/results/<str:format>/", views.leaderboard, "public-results"),
            (
                "public/<str:key>/labels/<str:version>/<str:format>/",
                views.label_set_file,
                "public-label-set",
            ),
            ("public/<str:key>/ids/<str:kind>/", views.ids, "public-ids"),
            ("uploads/", views.uploads, "run-uploads"),
        ],
    ),
]
