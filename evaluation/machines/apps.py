from __future__ import annotations

from django.apps import AppConfig


class MachinesConfig(AppConfig):
    name = "evaluation.machines"
    label = "machines"

    def ready(self) -> None:
        from evaluation.machines import deleting  # noqa: F401
