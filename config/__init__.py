"""Settings, the Celery application, and the modules that every app may use."""

from __future__ import annotations

from config.celery import app as celery_app

__all__ = ["celery_app"]
