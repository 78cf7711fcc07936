"""Export a run in TREC format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from hearth.shared.commands import HearthCommand
from hearth.shared.files import write_output
from hearth.shared.words import counted
from pooling.core.direction import Direction
from pooling.core.export import trec_lines
from pooling.core.whole_matrix import write_similarities
from pooling.models import Run
from pooling.moments.exports import RUN_FORMS, open_run_form
from pooling.selectors.arrays import query_keys, video_keys
from pooling.selectors.benchmarks import get_benchmark
from pooling.selectors.runs import get_run, scored_lists, similarities_of


class Command(HearthCommand):
    help = (
        "Write a run in TREC format. Importing the file in the same direction restores the same "
        "lists in the same order."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="key of the benchmark")
        parser.add_argument("name", help="name of the run")
        parser.add_argument(
            "--format",
            choices=("trec", "npy", *RUN_FORMS),
            default="trec",
            help="npy: the similarities of a run that was imported as a matrix, captions x videos, "
            "rounded to float16; tvr, windows, segments, moments: the moments of a run, as in the "
            "files of TVR, QVHighlights and Charades-STA, DiDeMo, and as CSV; default: trec",
        )
        parser.add_argument(
            "--raw-scores",
            action="store_true",
            help="write equal scores as they are; default: lower them a little, so that programs "
            "that ignore ranks keep the order",
        )
        parser.add_argument("--output", type=Path, required=True, help="file to write")

    def run(self, **options: Any) -> dict[str, Any]:
        benchmark = get_benchmark(options["key"])
        run = get_run(benchmark, options["name"])
        if options["format"] == "npy":
            similarities = similarities_of(run)
            with write_output(options["output"]) as out:
                write_similarities(similarities, out.write)
            return self._result(run, options)
        if options["format"] in RUN_FORMS:
            pieces = open_run_form(run, options["format"])
            with write_output(options["output"]) as out:
                for piece in pieces:
                    out.write(piece.encode())
            return self._result(run, options)
        rows, items = query_keys(benchmark), video_keys(benchmark)
        if run.facing is Direction.VIDEO_TO_TEXT:
            rows, items = items, rows
        lists = ((rows[row], listed, scores) for row, listed, scores in scored_lists(run))
        with write_output(options["output"]) as out:
            for lines in trec_lines(lists, items, run.name, is_raw=options["raw_scores"]):
                out.write(lines.encode())
        return self._result(run, options)

    def _result(self, run: Run, options: dict[str, Any]) -> dict[str, Any]:
        return {
            "run": run.name,
            "direction": run.direction,
            "queries": run.n_queries,
            "output": str(options["output"]),
        }

    def report(self, result: dict[str, Any]) -> None:
        lists = counted(result["queries"], f"{result['direction']} list")
        self.stdout.write(f"run {result['run']}: {lists} in {result['output']}")
