from __future__ import annotations

from django.apps import AppConfig


class OperationsConfig(AppConfig):
    name = "hearth.operations"
    label = "operations"

    def ready(self) -> None:
        from hearth.operations import checks  # noqa: F401
