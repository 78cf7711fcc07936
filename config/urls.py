"""The addresses of all pages and of the API."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

from config.accounts.views import api_docs, password_reset

urlpatterns = [
    path("", include("evaluation.portal.urls")),
    path("", include("evaluation.lab.urls")),
    path("", include("evaluation.monitor.urls")),
    path("", include("evaluation.scores.urls")),
    path("", include("evaluation.release.urls")),
    path("", include("annotation.urls")),
    path("", include("pooling.urls")),
    path("", include("config.jobs.urls")),
    path("", include("config.operations.urls")),
    path("", include("config.accounts.urls")),
    path("", include("config.audit.urls")),
    path("accounts/password/reset/", password_reset),
    path("accounts/", include("allauth.urls")),
    path("admin/", admin.site.urls),
    path("api/v1/docs/", api_docs, name="api-docs"),
    path("api/v1/", include("config.api_urls")),
]

handler400 = "config.shared.http.bad_request"
handler404 = "config.shared.http.not_found"
handler500 = "config.shared.http.server_error"
