from __future__ import annotations

from django.urls import path

from evaluation.views import (
    actions,
    analyses,
    annotators,
    campaigns,
    compare,
    overview,
    results,
    runs,
)

urlpatterns = [
    path("", overview.home, name="home"),
    path("benchmarks/<str:key>/", overview.benchmark, name="benchmark"),
    path("benchmarks/<str:key>/results/", results.results, name="results"),
    path(
        "benchmarks/<str:key>/results/<str:format>/",
        results.results_download,
        name="results-download",
    ),
    path("benchmarks/<str:key>/runs/<int:pk>/", runs.run, name="run"),
    path("benchmarks/<str:key>/runs/<int:pk>/confirm/", runs.run_confirm, name="run-confirm"),
    path("benchmarks/<str:key>/runs/<int:pk>/pool/", runs.run_pool, name="run-pool"),
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
        "benchmarks/<str:key>/analyses/<str:name>/charts/<str:part>/",
        analyses.analysis_chart,
        name="analysis-chart",
    ),
    path("benchmarks/<str:key>/compare/", compare.compare, name="compare"),
    path(
        "benchmarks/<str:key>/compare/<str:format>/",
        compare.compare_download,
        name="compare-download",
    ),
    path("benchmarks/<str:key>/agreement/", actions.agreement_compute, name="agreement-compute"),
    path("benchmarks/<str:key>/labels/publish/", actions.labels_publish, name="labels-publish"),
    path("benchmarks/<str:key>/labels/draft/", actions.draft_make, name="draft-make"),
    path("benchmarks/<str:key>/evaluate/", actions.evaluate, name="evaluate"),
    path(
        "benchmarks/<str:key>/labels/<int:version>/<str:format>/",
        actions.label_set_export,
        name="label-set-export",
    ),
    path("campaigns/<int:pk>/", campaigns.campaign, name="campaign"),
    path(
        "campaigns/<int:pk>/progress/", campaigns.campaign_progress_part, name="campaign-progress"
    ),
    path("campaigns/<int:pk>/csv/", campaigns.campaign_csv, name="campaign-csv"),
    path("campaigns/<int:pk>/compute/", campaigns.campaign_compute, name="campaign-compute"),
    path("campaigns/<int:pk>/people/", annotators.campaign_people, name="campaign-people"),
    path(
        "campaigns/<int:pk>/people/csv/",
        annotators.campaign_people_csv,
        name="campaign-people-csv",
    ),
    path(
        "campaigns/<int:pk>/people/<str:pseudonym>/",
        annotators.campaign_person,
        name="campaign-person",
    ),
]
