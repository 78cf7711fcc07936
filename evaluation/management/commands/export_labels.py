"""Write a label set in a format for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.release.exports import FORMATS, ExportOptions
from evaluation.release.selectors import LATEST, get_published
from evaluation.release.services import export_label_set
from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.files import write_output
from hearth.shared.options import add_options, read_options
from pooling.selectors.benchmarks import get_benchmark


class Command(HearthCommand):
    help = "Write a label set as a file for other programs."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="key of the benchmark")
        parser.add_argument(
            "--version",
            dest="label_set",
            default=LATEST,
            help="label set: latest or a version number; default: latest",
        )
        parser.add_argument(
            "--format", required=True, choices=tuple(FORMATS), help="format of the file"
        )
        parser.add_argument(
            "--output", type=Path, required=True, metavar="FILE", help="file to write"
        )
        add_options(parser, ExportOptions)

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        # This command has its own option --version, which replaces that of Django.
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def run(self, **options: Any) -> dict[str, Any]:
        label_set = get_published(get_benchmark(options["key"]), options["label_set"])
        chosen = read_options(ExportOptions, options)
        pieces = export_label_set(
            label_set=label_set, format=options["format"], options=chosen, by=OPERATOR
        )
        with write_output(options["output"]) as out:
            size = sum(out.write(piece) for piece in pieces)
        return {
            "version": label_set.reference,
            "sha256": label_set.sha256,
            "format": options["format"],
            "output": str(options["output"]),
            "bytes": size,
        }

    def report(self, result: dict[str, Any]) -> None:
        self.stdout.write(
            "label set {version} as {format}: {output} ({bytes:,} bytes)".format(**result)
        )
