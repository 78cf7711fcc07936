from __future__ import annotations

from django.apps import AppConfig


class PoolingConfig(AppConfig):
    name = "pooling"

    def ready(self) -> None:
        # Web processes also need the kinds of jobs, because they start jobs.
        from pooling import tasks  # noqa: F401
        from pooling.selectors import deleting  # noqa: F401
