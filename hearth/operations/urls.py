from __future__ import annotations

from django.urls import path

from hearth.operations import views

urlpatterns = [
    # Without a slash at the end, because monitors usually request these addresses.
    path("healthz", views.healthz, name="healthz"),
    path("readyz", views.readyz, name="readyz"),
    path("metrics", views.metrics, name="metrics"),
    path("operations/", views.operations, name="operations"),
]
