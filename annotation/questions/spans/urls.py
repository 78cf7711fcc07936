from __future__ import annotations

from django.urls import path

from annotation.questions.spans import views

urlpatterns = [
    path("benchmarks/<str:key>/gold/spans/new/", views.gold_spans, name="gold-spans"),
]
