"""The scheduled task of this app.

Workers and the scheduler load this module, which connects the receivers of Celery's signals.
"""

from __future__ import annotations

from config.accounts.actors import OPERATOR
from config.celery import app
from config.operations import receivers  # noqa: F401
from config.operations.housekeeping import run_housekeeping


@app.task
def housekeeping_task() -> None:
    run_housekeeping(by=OPERATOR)
