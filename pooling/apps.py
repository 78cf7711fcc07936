from __future__ import annotations

from django.apps import AppConfig


class PoolingConfig(AppConfig):
    name = "pooling"

    def ready(self) -> None:
        # Web processes, too, need the kinds of jobs in order to start one.
        from pooling import tasks  # noqa: F401
