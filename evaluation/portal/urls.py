from __future__ import annotations

from django.urls import path

from evaluation.portal.views import benchmarks, home

urlpatterns = [
    path("", home.home, name="home"),
    path("benchmarks/<str:key>/", benchmarks.benchmark, name="benchmark"),
]
