"""Import the ranked lists of a system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hearth.accounts.actors import OPERATOR
from hearth.jobs.models import Job, JobState
from hearth.jobs.services import run_job
from hearth.shared.commands import HearthCommand
from hearth.shared.options import arguments_of, read_options
from pooling.core.direction import Direction
from pooling.core.readers.runs import RUNS
from pooling.core.run_options import ImportRun
from pooling.selectors.benchmarks import get_benchmark
from pooling.services import import_run


class Command(HearthCommand):
    help = f"Import a run: {RUNS.listed()}, of captions x videos."
    action = ImportRun

    def run(self, **options: Any) -> dict[str, Any]:
        done = import_run(
            benchmark=get_benchmark(options["key"]),
            by=OPERATOR,
            progress=self.progress,
            **arguments_of(read_options(ImportRun, options)),
        )
        for sentence in do_jobs(done.all_jobs):
            self.stderr.write(f"warning: {sentence}")
        return {**done.report()}

    def report(self, result: dict[str, Any]) -> None:
        rows = f"{Direction(result['direction']).row}s"
        self.stdout.write(
            "run {run}: {queries:,} {rows}, depth {depth}, sha256 {sha256}{already}".format(
                rows=rows, already="" if result["created"] else " (already stored)", **result
            )
        )
        for warning in result["warnings"]:
            self.stdout.write(f"warning: {warning}")
        if "also" in result:
            self.report(result["also"])


def do_jobs(jobs: Sequence[Job]) -> list[str]:
    """Do the jobs that the import has queued, except those that a worker has already started.

    The command therefore works without a worker. Return a sentence for each job that is not done.
    """
    for job in jobs:
        run_job(job.pk)
        job.refresh_from_db()
    return [
        f"{job.title}: {job.get_state_display().lower()}. {job.error}".rstrip()
        for job in jobs
        if job.state != JobState.DONE
    ]
