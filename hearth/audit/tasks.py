"""Scheduled work on the audit log."""

from __future__ import annotations

from config.celery import app
from hearth.audit.services import delete_old_addresses


@app.task
def delete_old_addresses_task() -> None:
    delete_old_addresses()
