from __future__ import annotations

from django.apps import AppConfig


class ParagraphsConfig(AppConfig):
    name = "pooling.paragraphs"

    def ready(self) -> None:
        from pooling.paragraphs import receivers  # noqa: F401
