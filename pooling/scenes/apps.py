from __future__ import annotations

from django.apps import AppConfig


class ScenesConfig(AppConfig):
    name = "pooling.scenes"
    label = "scenes"

    def ready(self) -> None:
        from pooling.scenes import deleting  # noqa: F401
