from __future__ import annotations

from django.urls import path

from annotation.questions.scene import views

urlpatterns = [
    path("benchmarks/<str:key>/scenes/describe/", views.scenes_describe, name="scenes-describe"),
]
