from __future__ import annotations

from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    name = "evaluation"

    def ready(self) -> None:
        from config.shared import checks  # noqa: F401
        from config.shared.version import code_version
        from evaluation import dependents, receivers  # noqa: F401
        from evaluation.release import enums  # noqa: F401 - its acts, for the filter of the log

        # Determine the version now, because the files may change while the process runs.
        code_version()
