from __future__ import annotations

from django.urls import path

from config.accounts import views

urlpatterns = [
    path("invitations/<str:token>/", views.invitation_link, name="invitation-link"),
    path("invitation/", views.invitation, name="invitation"),
    path("consent/", views.consent, name="consent"),
    path("account/token/", views.token, name="token"),
    path("people/consent/", views.consent_write, name="consent-write"),
]
