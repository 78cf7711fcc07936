from __future__ import annotations

from django.apps import AppConfig

from annotation.questions.packages import modules


class AnnotationConfig(AppConfig):
    name = "annotation"

    def import_models(self) -> None:
        super().import_models()
        list(modules("models"))

    def ready(self) -> None:
        # The kinds come first, because their rows are deleted before the tasks they refer to.
        list(modules("receivers"))
        from annotation import receivers  # noqa: F401
        from annotation.selectors import deleting  # noqa: F401
