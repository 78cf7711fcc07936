"""Export a run in TREC format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from config.shared.commands import HearthCommand
from config.shared.files import write_atomically
from pooling.core.export import trec_lines
from pooling.core.packing import unpack_list
from pooling.models import RankedList
from pooling.selectors.arrays import video_keys
from pooling.selectors.benchmarks import get_benchmark
from pooling.selectors.runs import get_run


class Command(HearthCommand):
    help = (
        "Write a run in TREC format. Importing the file restores the same lists in the same order."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="key of the benchmark")
        parser.add_argument("name", help="name of the run")
        parser.add_argument("--output", type=Path, required=True, help="file to write")

    def run(self, **options: Any) -> dict[str, Any]:
        benchmark = get_benchmark(options["key"])
        run = get_run(benchmark, options["name"])
        rows = RankedList.objects.filter(run=run).order_by("query__number")
        lists = (
            (key, *unpack_list(bytes(videos), bytes(scores)))
            for key, videos, scores in rows.values_list("query__key", "videos", "scores").iterator()
        )
        with write_atomically(options["output"]) as out:
            for lines in trec_lines(lists, video_keys(benchmark), run.name):
                out.write(lines.encode())
        return {"run": run.name, "queries": run.n_queries, "output": str(options["output"])}

    def report(self, result: dict[str, Any]) -> None:
        self.stdout.write("run {run}: {queries:,} lists in {output}".format(**result))
