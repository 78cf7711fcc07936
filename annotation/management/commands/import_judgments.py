"""Import judgments from a file."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser

from annotation import services
from annotation.core.readers.judgments import JUDGMENTS
from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.options import add_options, read_options
from hearth.shared.words import counted
from pooling.selectors.benchmarks import get_benchmark


class Command(HearthCommand):
    help = f"Import judgments made elsewhere as a closed campaign: {JUDGMENTS.explained()}."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="key of the benchmark")
        add_options(parser, services.ImportJudgments)
        parser.add_argument("--plan", action="store_true", help="only show what would be stored")

    def run(self, **options: Any) -> dict[str, Any]:
        sent = read_options(services.ImportJudgments, options)
        file: dict[str, Any] = {
            "benchmark": get_benchmark(options["key"]),
            "by": OPERATOR,
            "progress": self.progress,
            **sent.of_plan(),
        }
        if options["plan"]:
            return {"plan": asdict(services.plan_judgments(**file))}
        done = services.import_judgments(**file, licence=sent.licence)
        return {
            "judgments": done.judgments,
            "pairs": done.pairs,
            "tasks": done.campaign.n_tasks,
            "campaign": done.campaign.pk,
            "created": done.created,
            "notes": list(done.notes),
        }

    def report(self, result: dict[str, Any]) -> None:
        if "plan" in result:
            for line in plan_lines(result["plan"]):
                self.stdout.write(line)
            return
        judgments = counted(result["judgments"], "judgment")
        pairs = counted(result["pairs"], "pair")
        already = "" if result["created"] else " (already imported)"
        self.stdout.write(f"campaign {result['campaign']}: {judgments} of {pairs}{already}")
        for note in result["notes"]:
            self.stdout.write(f"note: {note}")


def plan_lines(plan: dict[str, Any]) -> list[str]:
    """Return the lines that describe a plan. plan: the fields of an `ImportPlan`."""
    people = (
        counted(plan["annotators"], "annotator") if plan["has_annotators"] else "unnamed people"
    )
    judgments, pairs = counted(plan["judgments"], "judgment"), counted(plan["pairs"], "pair")
    labels = ", ".join(f"{label} {number:,}" for label, number in plan["labels"].items())
    lines = [
        f"{plan['format']}, sha256 {plan['sha256']}",
        f"{judgments} of {pairs} by {people}, {'with' if plan['has_times'] else 'without'} times",
        f"labels: {labels}",
        f"pairs that no pool contains: {plan['new_pairs']:,}",
        f"repeated labels, which would not count: {plan['repeated']:,}",
        f"equal captions share labels: {'yes' if plan['pool_equal'] else 'no'}",
        *(f"licence: {licence}" for licence in plan["licences"]),
        *(f"note: {note}" for note in plan["notes"]),
        "first judgments:",
        *("  " + "  ".join(row) for row in plan["first_rows"]),
    ]
    if plan["campaign"] is not None:
        lines.append(f"The file is already imported as campaign {plan['campaign']}.")
    return lines
