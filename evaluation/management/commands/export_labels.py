"""Write a label set in a format for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.management.inputs import LabelSetCommand
from evaluation.release.exports import FORMATS, ExportOptions
from evaluation.release.services import export_label_set
from hearth.accounts.actors import OPERATOR
from hearth.shared.files import write_output
from hearth.shared.options import add_options, read_options


class Command(LabelSetCommand):
    help = "Write a label set as a file for other programs."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--format", required=True, choices=tuple(FORMATS), help="format of the file"
        )
        parser.add_argument(
            "--output", type=Path, required=True, metavar="FILE", help="file to write"
        )
        add_options(parser, ExportOptions)

    def run(self, **options: Any) -> dict[str, Any]:
        label_set = self.label_set(options)
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
