"""The Celery application. Its settings are the CELERY_* names of `config.settings`."""

from __future__ import annotations

import logging.config
import os
from pathlib import Path
from typing import Any

from celery import Celery, signals
from django.conf import settings
from kombu.transport import TRANSPORT_ALIASES

from config.shared.processes import collect_garbage_rarely, limit_memory

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# The transport of "filesystem://" broker addresses. With Kombu's own transport, a worker can read
# a message before it is completely written.
TRANSPORT_ALIASES["filesystem"] = "config.shared.file_broker:Transport"

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


def waiting_messages() -> int:
    """Return the number of messages in the queue that no worker has taken yet."""
    with app.connection_for_read() as link:
        try:
            channel: Any = link.default_channel
            declared = channel.queue_declare(app.conf.task_default_queue, passive=True)
        except link.channel_errors:  # Redis has no queue without messages
            return 0
        return int(declared.message_count)


@signals.worker_process_init.connect
def prepare_worker(**_: object) -> None:
    """Limit the memory of a worker process, so that a bad file fails one job, not the machine."""
    collect_garbage_rarely()
    if settings.WORKER_MEMORY_MB:
        limit_memory(settings.WORKER_MEMORY_MB)


@signals.setup_logging.connect
def keep_own_format(loglevel: int, **_: object) -> None:
    """Let workers and the scheduler write their log in the format of the web processes."""
    root = {**settings.LOGGING["root"], "level": loglevel}
    logging.config.dictConfig({**settings.LOGGING, "root": root})
