"""The table of the shared cache."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone


class CacheEntries(models.QuerySet["CacheEntry"]):
    def valid(self) -> CacheEntries:
        return self.filter(Q(expires_at=None) | Q(expires_at__gt=timezone.now()))

    def expired(self) -> CacheEntries:
        return self.filter(expires_at__lte=timezone.now())


class CacheEntry(models.Model):
    """A value of the shared cache on a site without Redis (`hearth.accounts.caches`)."""

    key = models.CharField(max_length=64, primary_key=True)
    value = models.JSONField()
    expires_at = models.DateTimeField(null=True, db_index=True)

    objects = CacheEntries.as_manager()

    def __str__(self) -> str:
        return self.key
