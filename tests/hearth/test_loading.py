"""Commands start without Celery and the `tasks` modules. Other processes load all of these."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from hearth.accounts.actors import OPERATOR
from hearth.jobs.registry import job_kinds
from hearth.operations.housekeeping import run_housekeeping
from tests.conftest import ROOT, database_url_of_tests

COMMANDS = """
import django; django.setup()
from django.apps import apps
from django.core.management import CommandError, call_command
for words in (
    ["import_run", "unknown", "lists.run", "--system", "S"],
    ["build_pool", "unknown", "--depth", "1"],
    ["import_judgments", "unknown", "judgments.csv"],
    ["agreement", "unknown"],
    ["publish_labels", "unknown"],
    ["evaluate", "unknown"],
    ["export_labels", "unknown", "--format", "csv", "--output", "labels.csv"],
):
    try:
        call_command(*words)
    except CommandError as error:
        assert "There is no benchmark 'unknown'" in str(error), error
avoided = ["celery", "kombu", *(f"{app.name}.tasks" for app in apps.get_app_configs())]
print(json.dumps([name for name in avoided if name in sys.modules]))
"""
REGISTRIES = """
import django; django.setup()
from hearth.accounts.actors import OPERATOR
from hearth.jobs.registry import job_kinds
from hearth.operations.housekeeping import run_housekeeping
steps = [figures["step"] for figures in run_housekeeping(by=OPERATOR, dry_run=True)]
print(json.dumps([steps, sorted(job_kinds())]))
"""
# What Celery does at the start of a worker and of the scheduler.
WORKER = """
from config.celery import app
app.loader.init_worker()
tasks = sorted(name for name in app.tasks if not name.startswith("celery."))
scheduled = sorted(entry["task"] for entry in app.conf.beat_schedule.values())
print(json.dumps([tasks, scheduled, "hearth.operations.receivers" in sys.modules]))
"""
WEB = """
import config.wsgi
from hearth.jobs import registry
views, scipy = "evaluation.portal.views.home" in sys.modules, "scipy" in sys.modules
print(json.dumps([sorted(registry._kinds), views, scipy]))
"""
# Messages in the queue contain these names, so the names must not change.
TASKS = [
    "annotation.tasks.count_new_tasks_task",
    "annotation.tasks.expire_leases_task",
    "evaluation.estimates.tasks.advance_draws_task",
    "evaluation.tasks.renew_analyses_task",
    "evaluation.tasks.renew_drafts_task",
    "evaluation.tasks.renew_figures_task",
    "hearth.audit.tasks.delete_old_addresses_task",
    "hearth.jobs.tasks.run_job_task",
    "hearth.jobs.tasks.sweep_incoming_files_task",
    "hearth.jobs.tasks.sweep_jobs_task",
    "hearth.operations.tasks.housekeeping_task",
    "hearth.webhooks.tasks.deliver_task",
    "hearth.webhooks.tasks.sweep_deliveries_task",
    "pooling.tasks.queue_uploads_task",
    "pooling.tasks.settle_run_uploads_task",
]
ON_REQUEST = {"hearth.jobs.tasks.run_job_task", "hearth.webhooks.tasks.deliver_task"}

pytestmark = pytest.mark.django_db(transaction=True)


def printed(program: str) -> Any:
    """Run the program in a new process, and return the value that it prints as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", f"import json, sys\n{program}"],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": database_url_of_tests()},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_commands_load_neither_celery_nor_tasks() -> None:
    assert printed(COMMANDS) == []


def test_housekeeping_steps_and_kinds_of_jobs_are_complete_when_first_read() -> None:
    steps = [figures["step"] for figures in run_housekeeping(by=OPERATOR, dry_run=True)]
    assert {"sessions", "imports", "drafts"} < set(steps)
    assert printed(REGISTRIES) == [steps, sorted(job_kinds())]


def test_web_processes_load_kinds_of_jobs_and_views_at_their_start_but_not_scipy() -> None:
    assert printed(WEB) == [sorted(job_kinds()), True, False]


def test_workers_and_the_scheduler_load_all_tasks_and_receivers() -> None:
    scheduled = [name for name in TASKS if name not in ON_REQUEST]
    assert printed(WORKER) == [TASKS, scheduled, True]
