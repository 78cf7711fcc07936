from __future__ import annotations

from django.apps import AppConfig


class IdempotencyConfig(AppConfig):
    name = "hearth.idempotency"
    label = "idempotency"
