"""The scheduled task of this app."""

from __future__ import annotations

from celery import shared_task

from config.accounts.actors import OPERATOR
from config.operations.housekeeping import run_housekeeping


@shared_task
def housekeeping_task() -> None:
    run_housekeeping(by=OPERATOR)
