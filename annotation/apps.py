from __future__ import annotations

from django.apps import AppConfig

from annotation.questions.packages import modules


class AnnotationConfig(AppConfig):
    name = "annotation"

    def import_models(self) -> None:
        super().import_models()
        list(modules("models"))

    def ready(self) -> None:
        from annotation import receivers  # noqa: F401
        from annotation.selectors import deleting  # noqa: F401

        # The kinds come last: what is registered last is deleted first, before its tasks.
        list(modules("receivers"))
