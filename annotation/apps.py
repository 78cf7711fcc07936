from __future__ import annotations

from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"

    def ready(self) -> None:
        # Both the process that starts a job and the worker that does it need the kinds of jobs.
        from annotation import receivers, tasks  # noqa: F401
        from annotation.selectors import deleting  # noqa: F401
