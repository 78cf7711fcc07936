"""Ask a machine judge about pairs, or read its answers from a file."""

from __future__ import annotations

from typing import Any

from evaluation.machines.request import MachineRequest
from evaluation.machines.services import judge_by_machine
from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.options import read_options
from pooling.selectors.benchmarks import get_benchmark


class Command(HearthCommand):
    help = (
        "Ask a machine judge how likely pairs are relevant, or read its answers from a file. They "
        "are stored as a proxy and never become labels."
    )
    action = MachineRequest

    def run(self, **options: Any) -> dict[str, Any]:
        added = judge_by_machine(
            benchmark=get_benchmark(options["key"]),
            request=read_options(MachineRequest, options),
            by=OPERATOR,
            progress=self.progress,
        )
        return {**added.report()}

    def report(self, result: dict[str, Any]) -> None:
        already = "" if result["created"] else " (already stored)"
        line = "{proxy}: {pairs:,} pairs by {machine} {version}, {errors:,} without a value"
        self.stdout.write(line.format(**result) + already)
