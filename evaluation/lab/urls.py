from __future__ import annotations

from django.urls import path

from evaluation.lab.views import analyses, comparison, paper

urlpatterns = [
    path("benchmarks/<str:key>/analyses/", analyses.analyses, name="analyses"),
    path("benchmarks/<str:key>/analyses/<str:name>/", analyses.analysis, name="analysis"),
    path(
        "benchmarks/<str:key>/analyses/<str:name>/compute/",
        analyses.analysis_compute,
        name="analysis-compute",
    ),
    path(
        "benchmarks/<str:key>/analyses/<str:name>/json/",
        analyses.analysis_json,
        name="analysis-json",
    ),
    path(
        "benchmarks/<str:key>/analyses/<str:name>/tables/<str:part>/",
        analyses.analysis_table,
        name="analysis-table",
    ),
    path(
        "benchmarks/<str:key>/analyses/<str:name>/tables/<str:part>/latex/",
        analyses.analysis_latex,
        name="analysis-latex",
    ),
    path(
        "benchmarks/<str:key>/analyses/<str:name>/charts/<str:part>/",
        analyses.analysis_chart,
        name="analysis-chart",
    ),
    path("benchmarks/<str:key>/paper/<str:version>/", paper.paper, name="paper"),
    path(
        "benchmarks/<str:key>/paper/<str:version>/compute/",
        paper.paper_compute,
        name="paper-compute",
    ),
    path(
        "benchmarks/<str:key>/paper/<str:version>/zip/",
        paper.paper_download,
        name="paper-download",
    ),
    path("benchmarks/<str:key>/compare/", comparison.compare, name="compare"),
    path(
        "benchmarks/<str:key>/compare/<str:format>/",
        comparison.compare_download,
        name="compare-download",
    ),
]
