"""Scheduled work on the audit log."""

from __future__ import annotations

from config.audit.services import delete_old_addresses
from config.celery import app


@app.task
def delete_old_addresses_task() -> None:
    delete_old_addresses()
