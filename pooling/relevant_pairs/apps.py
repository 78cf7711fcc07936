from __future__ import annotations

from django.apps import AppConfig


class RelevantPairsConfig(AppConfig):
    name = "pooling.relevant_pairs"
    label = "relevant_pairs"

    def ready(self) -> None:
        from pooling.relevant_pairs import deleting  # noqa: F401
