"""The addresses of all pages and of the API."""

from __future__ import annotations

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path

from hearth.accounts.views import sign_in
from hearth.accounts.views.tokens import api_docs
from hearth.shared.language import translated

# The Django admin uses the sign-in page of all people, with its limits and second factors.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

urlpatterns = [
    # Django tries the patterns one by one. Calls of the judging room are the most frequent
    # requests, so the API comes first, and these calls come first in it.
    path("api/v1/", include("config.api_urls")),
    # This comes before `evaluation.portal`, whose page of a label set also matches `labels/draft/`.
    path("", include("evaluation.release.urls")),
    path("", include("evaluation.portal.urls")),
    path("", include("evaluation.public.urls")),
    path("", include("evaluation.catalogue.urls")),
    path("", include("evaluation.lab.urls")),
    path("", include("evaluation.monitor.urls")),
    path("", include("evaluation.scores.urls")),
    path("", include("evaluation.estimates.urls")),
    path("", include("evaluation.machines.urls")),
    path("", include("annotation.urls")),
    path("", include("pooling.urls")),
    path("", include("pooling.paragraphs.urls")),
    path("", include("pooling.phrasings.urls")),
    path("", include("pooling.relevant_pairs.urls")),
    path("", include("pooling.scenes.urls")),
    path("", include("hearth.jobs.urls")),
    path("", include("hearth.operations.urls")),
    path("", include("hearth.accounts.urls")),
    path("", include("hearth.audit.urls")),
    # These replace allauth's own views with the same names.
    path("accounts/login/", translated(sign_in.SignInView.as_view()), name="account_login"),
    path("accounts/password/reset/", sign_in.password_reset, name="account_reset_password"),
    path("accounts/email/", sign_in.email_addresses, name="account_email"),
    path("accounts/2fa/", sign_in.security, name="mfa_index"),
    path(
        "accounts/oidc/<str:provider_id>/login/",
        sign_in.single_sign_on,
        name="openid_connect_login",
    ),
    path("accounts/sessions/", sign_in.sessions, name="sessions"),
    path("accounts/", include("allauth.urls")),
    path("admin/", admin.site.urls),
    path("api/v1/docs/", api_docs, name="api-docs"),
]

handler400 = "hearth.shared.http.bad_request"
handler404 = "hearth.shared.http.not_found"
handler500 = "hearth.shared.http.server_error"
