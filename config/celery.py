"""The Celery application. Its settings are the CELERY_* names of `config.settings`."""

from __future__ import annotations

import logging.config
import os
from pathlib import Path

from celery import Celery, signals

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("hearth")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


def make_queue_folders() -> None:
    """Create the folders that the filesystem broker needs."""
    options = app.conf.broker_transport_options
    for name in ("data_folder_in", "control_folder"):
        if name in options:
            Path(options[name]).mkdir(parents=True, exist_ok=True)


@app.on_after_configure.connect
def prepare(sender: Celery, **_: object) -> None:
    make_queue_folders()


@signals.setup_logging.connect
def keep_own_format(loglevel: int, **_: object) -> None:
    """Let workers and the scheduler write their log in the format of the web processes."""
    from django.conf import settings

    root = {**settings.LOGGING["root"], "level": loglevel}
    logging.config.dictConfig({**settings.LOGGING, "root": root})
