from __future__ import annotations

from evaluation.estimates import views
from hearth.shared.addresses import addresses

urlpatterns = addresses(
    "benchmarks/<str:key>/runs/<int:pk>/",
    [
        ("estimate/", views.run_estimate),
        ("estimate/chart/", views.run_estimate_chart),
    ],
)
