from __future__ import annotations

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "hearth.accounts"
    label = "accounts"

    def ready(self) -> None:
        from hearth.accounts import audit_receivers, receivers  # noqa: F401
