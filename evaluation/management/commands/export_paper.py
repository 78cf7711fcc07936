"""Write tables and texts for a paper about a label set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.lab.paper.paper import plan_paper, write_paper
from evaluation.lab.services import compute_paper
from evaluation.management.inputs import LabelSetCommand
from hearth.accounts.actors import OPERATOR
from hearth.shared.files import write_output


class Command(LabelSetCommand):
    help = "Write LaTeX tables, a methods paragraph and BibTeX about a label set."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--output", type=Path, required=True, metavar="FILE", help="zip archive to write"
        )

    def run(self, **options: Any) -> dict[str, Any]:
        label_set = self.label_set(options)
        stored = compute_paper(label_set=label_set, by=OPERATOR, progress=self.progress)
        plan = plan_paper(label_set)
        with write_output(options["output"]) as out:
            out.write(write_paper(plan, stored).archive())
        return {
            "version": label_set.reference,
            "sha256": label_set.sha256,
            "output": str(options["output"]),
            "analyses": list(stored),
            "missing": dict(plan.missing),
        }

    def report(self, result: dict[str, Any]) -> None:
        self.stdout.write("label set {version} as a paper: {output}".format(**result))
        for name, reason in result["missing"].items():
            self.stdout.write(f"without {name}: {reason}")
