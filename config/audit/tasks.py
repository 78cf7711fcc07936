"""Scheduled work on the audit log."""

from __future__ import annotations

from celery import shared_task

from config.audit.services import forget_old_addresses


@shared_task
def forget_old_addresses_task() -> None:
    forget_old_addresses()
