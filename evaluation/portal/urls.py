from __future__ import annotations

from django.urls import path

from evaluation.portal.views import benchmarks, home, label_sets

urlpatterns = [
    path("", home.home, name="home"),
    path("benchmarks/<str:key>/", benchmarks.overview, name="benchmark"),
    path("benchmarks/<str:key>/captions/", benchmarks.captions, name="benchmark-captions"),
    path("benchmarks/<str:key>/runs/", benchmarks.runs, name="benchmark-runs"),
    path("benchmarks/<str:key>/campaigns/", benchmarks.campaigns, name="benchmark-campaigns"),
    path("benchmarks/<str:key>/labels/", benchmarks.labels, name="benchmark-labels"),
    path("benchmarks/<str:key>/labels/<str:version>/", label_sets.label_set, name="label-set"),
    path("benchmarks/<str:key>/people/", benchmarks.people, name="benchmark-people"),
    path("benchmarks/<str:key>/settings/", benchmarks.settings, name="benchmark-settings"),
]
