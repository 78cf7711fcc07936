"""The administrative acts on people, roles, invitations and accounts."""

from __future__ import annotations

from django.db import models

from hearth.audit.acts import register_acts


@register_acts
class AccountAct(models.TextChoices):
    SIGNED_IN = "signed_in", "Signed in"
    SIGNED_OUT = "signed_out", "Signed out"
    SESSIONS_ENDED = "sessions_ended", "Sessions ended"
    SIGN_IN_FAILED = "sign_in_failed", "Sign-in failed"
    PASSWORD_CHANGED = "password_changed", "Password changed"
    PASSWORD_RESET = "password_reset", "Password reset by e-mail"
    TOKEN_MADE = "token_made", "API token created"
    TOKEN_WITHDRAWN = "token_withdrawn", "API token revoked"
    EMAIL_ADDED = "email_added", "E-mail address added"
    EMAIL_CONFIRMED = "email_confirmed", "E-mail address confirmed"
    EMAIL_CHANGED = "email_changed", "Primary e-mail address changed"
    EMAIL_REMOVED = "email_removed", "E-mail address removed"
    FACTOR_ADDED = "factor_added", "Second factor added"
    FACTOR_REMOVED = "factor_removed", "Second factor removed"
    FACTOR_REFUSED = "factor_refused", "Second factor refused"
    SIGN_ON_CONNECTED = "sign_on_connected", "Single sign-on connected"
    SIGN_ON_REMOVED = "sign_on_removed", "Single sign-on removed"
    PERSON_CREATED = "person_created", "Account created"
    PERSON_MARKED_DEMO = "person_marked_demo", "Account marked as demo"
    PERSON_DEACTIVATED = "person_deactivated", "Person deactivated"
    PERSON_REACTIVATED = "person_reactivated", "Person reactivated"
    PERSON_ERASED = "person_erased", "Person erased"
    ROLE_GRANTED = "role_granted", "Role granted"
    ROLE_WITHDRAWN = "role_withdrawn", "Role withdrawn"
    INVITED = "invited", "Invitation created"
    INVITATION_REVOKED = "invitation_revoked", "Invitation revoked"
    INVITATION_ACCEPTED = "invitation_accepted", "Invitation accepted"
    CONSENT_WRITTEN = "consent_written", "Consent text written"
    CONSENT_GIVEN = "consent_given", "Consent given"
    ADMIN_CHANGED = "admin_changed", "Changed in the Django admin"
