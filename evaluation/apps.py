from __future__ import annotations

from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    name = "evaluation"

    def ready(self) -> None:
        from evaluation import dependents, receivers  # noqa: F401
        from evaluation.release import enums  # noqa: F401 - its acts, for the filter of the log
        from hearth.shared import checks  # noqa: F401
        from hearth.shared.version import code_version

        # Determine the version now, because the files may change while the process runs.
        code_version()
