"""The scheduled task of this app.

Workers and the scheduler load this module, which connects the receivers of Celery's signals.
"""

from __future__ import annotations

from config.celery import app
from hearth.accounts.actors import OPERATOR
from hearth.operations import receivers  # noqa: F401
from hearth.operations.housekeeping import run_housekeeping


@app.task
def housekeeping_task() -> None:
    run_housekeeping(by=OPERATOR)
