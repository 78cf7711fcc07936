"""Import the ranked lists of a system."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from hearth.accounts.actors import OPERATOR
from hearth.jobs.models import Job, JobState
from hearth.jobs.services import run_job
from hearth.shared.commands import HearthCommand
from pooling.core.direction import DIRECTIONS, Direction
from pooling.core.lines import SourceFile
from pooling.core.readers.registry import AUTO
from pooling.core.readers.runs import RUNS
from pooling.selectors.benchmarks import get_benchmark
from pooling.services import import_run


class Command(HearthCommand):
    help = f"Import a run: {RUNS.listed()}, of captions x videos."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="key of the benchmark")
        parser.add_argument("file", type=Path, help="file with the ranked lists")
        parser.add_argument("--system", required=True, help="retrieval model that produced the run")
        parser.add_argument(
            "--name", default="", help="name of the run; default: the name of the system"
        )
        parser.add_argument(
            "--format",
            choices=[AUTO, *RUNS.names()],
            default=AUTO,
            help="format of the file; default: auto, from the content",
        )
        parser.add_argument(
            "--direction",
            choices=DIRECTIONS,
            default=Direction.TEXT_TO_VIDEO.value,
            help="what the lists contain: videos for each caption, or captions for each video; "
            "both: a run of each direction, from a matrix; default: text-to-video",
        )
        parser.add_argument(
            "--keys",
            type=Path,
            metavar="FILE",
            help="JSON file with the keys of the rows and columns of a matrix; default: they are "
            "in the order of the benchmark",
        )
        parser.add_argument(
            "--depth",
            type=int,
            metavar="K",
            help="number of results to keep per list; default: all, or the top 100 of a matrix",
        )

    def run(self, **options: Any) -> dict[str, Any]:
        done = import_run(
            benchmark=get_benchmark(options["key"]),
            path=options["file"],
            system=options["system"],
            by=OPERATOR,
            name=options["name"],
            format=options["format"],
            depth=options["depth"],
            direction=options["direction"],
            keys=SourceFile.maybe(options["keys"]),
            progress=self.progress,
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
