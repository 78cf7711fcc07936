from __future__ import annotations

from django.urls import path

from evaluation.scores.views import results, runs

urlpatterns = [
    path("benchmarks/<str:key>/results/", results.results, name="results"),
    path(
        "benchmarks/<str:key>/results/<str:format>/",
        results.results_download,
        name="results-download",
    ),
    path("benchmarks/<str:key>/runs/<int:pk>/", runs.run, name="run"),
    path("benchmarks/<str:key>/runs/<int:pk>/pool/", runs.run_pool, name="run-pool"),
    path("benchmarks/<str:key>/evaluate/", results.evaluate, name="evaluate"),
]
