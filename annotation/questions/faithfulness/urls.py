from __future__ import annotations

from django.urls import path

from annotation.questions.faithfulness import views

urlpatterns = [
    path(
        "benchmarks/<str:key>/faithfulness/new/", views.faithfulness_open, name="faithfulness-open"
    ),
]
