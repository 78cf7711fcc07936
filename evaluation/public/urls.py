from __future__ import annotations

from django.urls import path

from evaluation.public import views

urlpatterns = [
    path("public/", views.benchmarks, name="public-benchmarks"),
    path("public/<str:key>/", views.benchmark, name="public-benchmark"),
    path("public/<str:key>/results/<str:format>/", views.leaderboard, name="public-results"),
    path(
        "public/<str:key>/labels/<str:version>/<str:format>/",
        views.label_set_file,
        name="public-label-set",
    ),
    path("public/<str:key>/ids/<str:kind>/", views.ids, name="public-ids"),
    path("uploads/", views.uploads, name="run-uploads"),
    path(
        "benchmarks/<str:key>/runs/uploads/",
        views.uploads_of_benchmark,
        name="benchmark-run-uploads",
    ),
]
