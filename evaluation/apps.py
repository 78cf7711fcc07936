from __future__ import annotations

from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    name = "evaluation"

    def ready(self) -> None:
        # Whoever asks for a job must know its kind, not only the worker that does it.
        from evaluation import receivers, tasks  # noqa: F401
