"""The app with the tables of moments."""

from __future__ import annotations

from django.apps import AppConfig


class MomentsConfig(AppConfig):
    name = "pooling.moments"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from pooling.moments import deleting  # noqa: F401
