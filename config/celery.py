"""The Celery application, with its schedule.

All other settings of Celery are the CELERY_* names of `config.settings`. They are not in one module
with the application, so that commands can start without loading Celery.
"""

from __future__ import annotations

import logging.config
import os
from pathlib import Path
from typing import Any

from celery import Celery, signals
from celery.schedules import crontab
from django.conf import settings
from kombu.transport import TRANSPORT_ALIASES

from hearth.processes import collect_garbage_rarely, hide_memory, limit_memory

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# The transport of "filesystem://" broker addresses. With Kombu's own transport, a worker can read
# a message before it is completely written.
TRANSPORT_ALIASES["filesystem"] = "hearth.shared.file_broker:Transport"

app = Celery("hearth")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.beat_schedule = {
    "sweep-jobs": {"task": "hearth.jobs.tasks.sweep_jobs_task", "schedule": 20.0},
    "sweep-incoming-files": {
        "task": "hearth.jobs.tasks.sweep_incoming_files_task",
        "schedule": 600.0,
    },
    "queue-uploads": {"task": "pooling.tasks.queue_uploads_task", "schedule": 20.0},
    "settle-run-uploads": {"task": "pooling.tasks.settle_run_uploads_task", "schedule": 20.0},
    "delete-addresses": {
        "task": "hearth.audit.tasks.delete_old_addresses_task",
        "schedule": 86_400.0,
    },
    "sweep-deliveries": {
        "task": "hearth.webhooks.tasks.sweep_deliveries_task",
        "schedule": 60.0,
    },
    "expire-leases": {"task": "annotation.tasks.expire_leases_task", "schedule": 60.0},
    "count-new-tasks": {"task": "annotation.tasks.count_new_tasks_task", "schedule": 60.0},
    "renew-figures": {"task": "evaluation.tasks.renew_figures_task", "schedule": 600.0},
    "renew-drafts": {"task": "evaluation.tasks.renew_drafts_task", "schedule": 60.0},
    "renew-analyses": {"task": "evaluation.tasks.renew_analyses_task", "schedule": 300.0},
    "advance-draws": {
        "task": "evaluation.estimates.tasks.advance_draws_task",
        "schedule": 20.0,
    },
    "housekeeping": {
        "task": "hearth.operations.tasks.housekeeping_task",
        "schedule": crontab(hour=3, minute=17),
    },
}
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
        except link.channel_errors:  # in Redis, a queue without messages does not exist
            return 0
        return int(declared.message_count)


@signals.worker_init.connect
@signals.beat_init.connect
def hide_secrets(**_: object) -> None:
    """Hide the memory of the worker or scheduler from other processes, such as decoders."""
    hide_memory()


@signals.worker_process_init.connect
def prepare_worker(**_: object) -> None:
    """Limit the memory of a worker process, so that a bad file stops one job, not the machine."""
    collect_garbage_rarely()
    if settings.WORKER_MEMORY_MB:
        limit_memory(settings.WORKER_MEMORY_MB)


@signals.setup_logging.connect
def keep_own_format(loglevel: int, **_: object) -> None:
    """Let workers and the scheduler write their log in the format of the web processes."""
    root = {**settings.LOGGING["root"], "level": loglevel}
    logging.config.dictConfig({**settings.LOGGING, "root": root})
