from __future__ import annotations

from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    name = "evaluation"

    def ready(self) -> None:
        from config.shared import checks  # noqa: F401
        from config.shared.version import code_version

        # All processes need the kinds of jobs, to queue them and to show their results.
        from evaluation import dependents, receivers, tasks  # noqa: F401

        # Fix the version now, because the files may change while the process runs.
        code_version()
