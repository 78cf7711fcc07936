from __future__ import annotations

from django.apps import AppConfig


class PhrasingsConfig(AppConfig):
    name = "pooling.phrasings"
    label = "phrasings"

    def ready(self) -> None:
        from pooling.phrasings import deleting, receivers  # noqa: F401
