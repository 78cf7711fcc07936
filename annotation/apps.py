from __future__ import annotations

from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"

    def ready(self) -> None:
        from annotation import receivers  # noqa: F401
        from annotation.selectors import deleting  # noqa: F401
