"""Requests to the API that are done only once, even if they arrive several times."""

from __future__ import annotations

from django.conf import settings
from django.db import models

KEY_LENGTH = 255


class KeyedRequest(models.Model):
    """A request that a person sent with an idempotency key, and its response when there is one."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, db_index=False)
    key = models.CharField(max_length=KEY_LENGTH)
    # The hash of the method, the address, the fields and the files.
    sha256 = models.CharField(max_length=64)
    # None while the request is being done.
    status = models.PositiveSmallIntegerField(null=True)
    # The body of the response, as JSON.
    body = models.TextField(blank=True)
    began_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "key"], name="idempotency_key_once"),
        ]

    def __str__(self) -> str:
        return self.key
