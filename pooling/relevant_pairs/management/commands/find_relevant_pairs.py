"""Find potentially relevant pairs of the captions of a benchmark."""

from __future__ import annotations

from typing import Any

from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.options import read_options
from pooling.relevant_pairs.core.request import RelevantPairsRequest
from pooling.relevant_pairs.services import find_relevant_pairs
from pooling.selectors.benchmarks import get_benchmark


class Command(HearthCommand):
    help = (
        "Find captions that share an action. The moment of one is then a candidate for the other, "
        "with a confidence that is stored as a proxy."
    )
    action = RelevantPairsRequest

    def run(self, **options: Any) -> dict[str, Any]:
        done = find_relevant_pairs(
            benchmark=get_benchmark(options["key"]),
            request=read_options(RelevantPairsRequest, options),
            by=OPERATOR,
            progress=self.progress,
        )
        return {**done.report()}

    def report(self, result: dict[str, Any]) -> None:
        already = "" if result["created"] else " (already stored)"
        line = "{proxy}: {pairs:,} pairs of captions, {candidates:,} candidates, {parts:,} parts"
        self.stdout.write(line.format(**result) + already)
