from __future__ import annotations

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "config.accounts"
    label = "accounts"

    def ready(self) -> None:
        from config.accounts import audit_receivers, receivers  # noqa: F401
