from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("", include("evaluation.portal.urls")),
    path("", include("evaluation.lab.urls")),
    path("", include("evaluation.monitor.urls")),
    path("", include("evaluation.scores.urls")),
    path("", include("evaluation.release.urls")),
    path("", include("annotation.urls")),
    path("", include("pooling.urls")),
    path("", include("config.jobs.urls")),
    path("", include("config.accounts.urls")),
    path("accounts/", include("allauth.urls")),
    path("admin/", admin.site.urls),
    path("api/v1/", include("config.api_urls")),
]
