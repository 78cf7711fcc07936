"""Celery tasks that send deliveries."""

from __future__ import annotations

import uuid

from celery import shared_task

from config.webhooks import services


@shared_task
def deliver_task(delivery_id: str) -> None:
    services.deliver(uuid.UUID(delivery_id))


@shared_task
def sweep_deliveries_task() -> None:
    services.sweep_deliveries()
