from __future__ import annotations

from django.apps import AppConfig


class OperationsConfig(AppConfig):
    name = "config.operations"
    label = "operations"

    def ready(self) -> None:
        from config.operations import checks  # noqa: F401
