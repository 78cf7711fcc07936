"""People with an account, their roles, their consent and their invitations."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import Q
from django.db.models.functions import Length
from django.db.models.lookups import LessThanOrEqual
from django.utils import timezone
from django.utils.crypto import salted_hmac

from hearth.accounts.roles import EVERYWHERE, Role
from hearth.shared.folding import fold, tidy

SCOPE_LENGTH = 100
NOTE_LENGTH = 200
INVITATION_DAYS = 14
CONSENT_LENGTH = 50_000
USER_NAME_LENGTH = 150


class PersonState(models.TextChoices):
    ACTIVE = "active", "Active"
    DEACTIVATED = "deactivated", "Deactivated"
    ERASED = "erased", "Erased"


class User(AbstractUser):
    """A person. The row is never deleted; erasing a person removes everything that names them.

    `session_generation` is part of the signature of every session. It grows whenever all sessions
    of the person must end (`sign_out`), so that earlier sessions end permanently.
    """

    # Folding makes up to three characters of one.
    username_folded = models.CharField(max_length=3 * USER_NAME_LENGTH, editable=False)
    session_generation = models.PositiveIntegerField(default=0, editable=False)
    deactivated_at = models.DateTimeField(null=True, editable=False)
    erased_at = models.DateTimeField(null=True, editable=False)
    # Created by the demo, with a published password. See `policies.can_sign_in`.
    is_demo = models.BooleanField(default=False, editable=False)

    class Meta(AbstractUser.Meta):
        constraints = [
            # "Émile" and "émile" must not be two people. Databases fold letters outside ASCII by
            # different rules, or not at all, so the application folds the names.
            models.UniqueConstraint(fields=["username_folded"], name="user_name_in_any_case"),
            models.CheckConstraint(
                condition=Q(erased_at=None) | Q(is_active=False), name="user_erased_is_inactive"
            ),
        ]

    def save(self, *args: Any, **options: Any) -> None:
        self.username = tidy(self.username)
        self.username_folded = fold(self.username)
        if (fields := options.get("update_fields")) is not None and "username" in fields:
            options["update_fields"] = {*fields, "username_folded"}
        super().save(*args, **options)

    @property
    def state(self) -> PersonState:
        if self.erased_at is not None:
            return PersonState.ERASED
        return PersonState.ACTIVE if self.is_active else PersonState.DEACTIVATED

    def session_hash_of(self, generation: int, *, secret: str | None = None) -> str:
        """Return the hash that sessions of this generation contain, for the current password."""
        # The first generation is signed as in Django, so that sessions survive an upgrade.
        signed = f"{generation}:{self.password}" if generation else self.password
        salt = "django.contrib.auth.models.AbstractBaseUser.get_session_auth_hash"
        return salted_hmac(salt, signed, secret=secret, algorithm="sha256").hexdigest()

    def _get_session_auth_hash(self, secret: str | None = None) -> str:
        """Return the hash for a secret key. Django calls this for each of its fallback keys."""
        return self.session_hash_of(self.session_generation, secret=secret)


class Grant(models.Model):
    """A role in one benchmark. A role that applies everywhere is a Django group."""

    user = models.ForeignKey(User, models.CASCADE, related_name="grants", db_index=False)
    role = models.CharField(max_length=10, choices=Role)
    scope = models.CharField(max_length=SCOPE_LENGTH, db_index=True, help_text="key of a benchmark")
    granted_by = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")
    granted_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["scope", "role"]
        constraints = [
            models.UniqueConstraint(fields=["user", "role", "scope"], name="grant_once"),
            models.CheckConstraint(condition=~Q(scope=EVERYWHERE), name="grant_has_scope"),
            models.CheckConstraint(condition=~Q(role=Role.ADMIN), name="grant_admin_is_everywhere"),
        ]

    def __str__(self) -> str:
        return f"{self.role} of {self.scope}"


class ConsentText(models.Model):
    """One version of the text that annotators agree to. Versions never change."""

    version = models.PositiveIntegerField(unique=True)
    text = models.TextField(max_length=CONSENT_LENGTH)
    written_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-version"]
        constraints = [
            models.CheckConstraint(
                condition=LessThanOrEqual(Length("text"), CONSENT_LENGTH),
                name="consent_text_length",
            )
        ]

    def __str__(self) -> str:
        return f"consent text {self.version}"


class Consent(models.Model):
    """The agreement of a person to one version of the consent text."""

    user = models.ForeignKey(User, models.PROTECT, related_name="consents", db_index=False)
    text = models.ForeignKey(ConsentText, models.PROTECT, related_name="consents")
    given_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-text__version"]
        constraints = [models.UniqueConstraint(fields=["user", "text"], name="consent_once")]

    def __str__(self) -> str:
        return f"consent of {self.user_id} to {self.text_id}"


class InvitationState(models.TextChoices):
    OPEN = "open", "Open"
    ACCEPTED = "accepted", "Accepted"
    REVOKED = "revoked", "Revoked"
    EXPIRED = "expired", "Expired"


def in_two_weeks() -> datetime:
    return timezone.now() + timedelta(days=INVITATION_DAYS)


class Invitation(models.Model):
    """A link that gives one role to one person. Only the hash of its token is stored."""

    token_sha256 = models.CharField(max_length=64, unique=True, editable=False)
    role = models.CharField(max_length=10, choices=Role)
    scope = models.CharField(
        max_length=SCOPE_LENGTH, blank=True, help_text="key of a benchmark; empty: all benchmarks"
    )
    note = models.CharField(
        max_length=NOTE_LENGTH, blank=True, help_text="name of the person to invite, or a reminder"
    )
    made_by = models.ForeignKey(User, models.PROTECT, related_name="invitations_made")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(default=in_two_weeks)
    accepted_by = models.ForeignKey(
        User, models.PROTECT, null=True, blank=True, related_name="invitations_accepted"
    )
    accepted_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(accepted_by=None, accepted_at=None)
                | Q(accepted_by__isnull=False, accepted_at__isnull=False, revoked_at=None),
                name="invitation_accepted_or_revoked",
            ),
            models.CheckConstraint(
                condition=~Q(role=Role.ADMIN) | Q(scope=EVERYWHERE),
                name="invitation_admin_is_everywhere",
            ),
        ]

    def __str__(self) -> str:
        return f"invitation {self.pk}"

    @property
    def role_held(self) -> Role:
        return Role(self.role)

    @property
    def state(self) -> InvitationState:
        if self.accepted_at is not None:
            return InvitationState.ACCEPTED
        if self.revoked_at is not None:
            return InvitationState.REVOKED
        if self.expires_at <= timezone.now():
            return InvitationState.EXPIRED
        return InvitationState.OPEN
