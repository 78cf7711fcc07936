from __future__ import annotations

from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "config.jobs"
    label = "jobs"

    def ready(self) -> None:
        # Tasks belong to the Celery application that was made last. Without this import, Celery
        # would make one without the settings of Hearth.
        import config.celery  # noqa: F401
