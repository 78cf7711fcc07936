from __future__ import annotations

from django.urls import path

from hearth.accounts.views import consent, invitations, registration, tokens

urlpatterns = [
    path("invitations/<str:token>/", invitations.invitation_link, name="invitation-link"),
    path("invitation/", invitations.invitation, name="invitation"),
    path("register/", registration.register, name="register"),
    path("consent/", consent.consent, name="consent"),
    path("account/token/", tokens.tokens, name="token"),
    path("account/token/<int:public_id>/revoke/", tokens.token_revoke, name="token-revoke"),
    path("people/consent/", consent.consent_write, name="consent-write"),
]
