"""Celery tasks that send deliveries."""

from __future__ import annotations

import uuid

from config.celery import app
from hearth.webhooks import services


@app.task
def deliver_task(delivery_id: str) -> None:
    services.deliver(uuid.UUID(delivery_id))


@app.task
def sweep_deliveries_task() -> None:
    services.sweep_deliveries()
