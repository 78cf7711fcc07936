from __future__ import annotations

from django.apps import AppConfig


class EstimatesConfig(AppConfig):
    name = "evaluation.estimates"
    label = "estimates"

    def ready(self) -> None:
        # The acts of `enums` are for the filter of the log.
        from evaluation.estimates import deleting, enums  # noqa: F401
