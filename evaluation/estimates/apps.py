from __future__ import annotations

from django.apps import AppConfig


class EstimatesConfig(AppConfig):
    name = "evaluation.estimates"
    label = "estimates"

    def ready(self) -> None:
        from evaluation.estimates import deleting  # noqa: F401
