from __future__ import annotations

from django.apps import AppConfig


class PoolingConfig(AppConfig):
    name = "pooling"

    def ready(self) -> None:
        # Whoever asks for a job must know its kind, not only the worker that does it.
        from pooling import tasks  # noqa: F401
