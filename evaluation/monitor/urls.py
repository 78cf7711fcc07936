from __future__ import annotations

from django.urls import path

from evaluation.monitor.views import agreement

urlpatterns = [
    path("benchmarks/<str:key>/agreement/", agreement.agreement_compute, name="agreement-compute"),
]
