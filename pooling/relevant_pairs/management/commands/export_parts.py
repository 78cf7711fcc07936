"""Write the parts of captions that a detector compares."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from hearth.shared.commands import HearthCommand
from hearth.shared.files import write_output
from hearth.shared.options import add_options, read_options
from pooling.relevant_pairs.core.request import PartsRequest
from pooling.relevant_pairs.selectors import parts_of_benchmark
from pooling.selectors.benchmarks import get_benchmark


class Command(HearthCommand):
    help = (
        "Write the different parts of the captions as JSON, to compute embeddings of them for "
        "find_relevant_pairs."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="key of the benchmark")
        add_options(parser, PartsRequest)
        parser.add_argument("--output", type=Path, required=True, help="file to write")

    def run(self, **options: Any) -> dict[str, Any]:
        wanted = read_options(PartsRequest, options)
        benchmark = get_benchmark(options["key"])
        parts, _ = parts_of_benchmark(benchmark, wanted.detector, self.progress)
        with write_output(options["output"]) as out:
            text = json.dumps({"parts": parts.texts}, ensure_ascii=False, indent=1)
            out.write(f"{text}\n".encode())
        return {"parts": len(parts.texts), "output": str(options["output"])}

    def report(self, result: dict[str, Any]) -> None:
        self.stdout.write(f"{result['parts']:,} parts: {result['output']}")
