from __future__ import annotations

from evaluation.scores.views import results, runs
from hearth.shared.addresses import addresses

urlpatterns = [
    *addresses(
        "benchmarks/<str:key>/",
        [
            ("results/", results.results),
            ("results/<str:format>/", results.results_download),
            ("runs/<int:pk>/", runs.run),
            ("runs/<int:pk>/pool/", runs.run_pool),
            ("runs/<int:pk>/moments/<str:form>/", runs.run_moments),
            ("evaluate/", results.evaluate),
        ],
    ),
]
