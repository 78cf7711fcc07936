"""The app with the spans files of label sets."""

from __future__ import annotations

from django.apps import AppConfig


class SpansConfig(AppConfig):
    name = "evaluation.spans"
    label = "label_spans"
    default_auto_field = "django.db.models.BigAutoField"
