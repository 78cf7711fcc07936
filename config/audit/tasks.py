"""Scheduled work on the audit log."""

from __future__ import annotations

from celery import shared_task

from config.audit.services import delete_old_addresses


@shared_task
def delete_old_addresses_task() -> None:
    delete_old_addresses()
