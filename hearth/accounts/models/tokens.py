"""The API tokens of people."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hearth.accounts.models.people import User
from hearth.shared.public_ids import PublicIds

TOKEN_NAME_LENGTH = 100
TOKENS = PublicIds("token")


class TokenRight(models.TextChoices):
    """What a token may do, as far as its owner's roles permit it."""

    READ = "read", _("Read")
    JUDGE = "judge", _("Judge")
    WRITE = "write", _("Write")


class ApiToken(models.Model):
    """A secret with which a script acts as a person. Only the hash of the secret is stored."""

    user = models.ForeignKey(User, models.CASCADE, related_name="api_tokens", db_index=False)
    name = models.CharField(max_length=TOKEN_NAME_LENGTH)
    key_sha256 = models.CharField(max_length=64, unique=True, editable=False)
    may_read = models.BooleanField(default=False)
    may_judge = models.BooleanField(default=False)
    may_write = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(null=True, blank=True)
    # Updated at most once an hour, so that a script that only reads causes few writes.
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["user", "name"], name="api_token_name_once"),
            models.CheckConstraint(
                condition=Q(may_read=True) | Q(may_judge=True) | Q(may_write=True),
                name="api_token_has_a_right",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def public_id(self) -> int:
        return TOKENS.of(self.pk)

    @property
    def rights(self) -> list[TokenRight]:
        return [right for right in TokenRight if self.has(right)]

    @property
    def rights_shown(self) -> str:
        return ", ".join(str(right.label) for right in self.rights)

    def has(self, right: TokenRight) -> bool:
        return bool(getattr(self, f"may_{right.value}"))

    @property
    def is_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= timezone.now()
