"""Add the lists of one phrasing to a stored run."""

from __future__ import annotations

from typing import Any

from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.options import arguments_of, read_options
from hearth.shared.words import counted
from pooling.phrasings.services.phrased_runs import PhrasedListsUpload, add_phrased_lists
from pooling.selectors.benchmarks import get_benchmark


class Command(HearthCommand):
    help = "Add to a stored run the lists that it has for one phrasing of the captions."
    action = PhrasedListsUpload

    def run(self, **options: Any) -> dict[str, Any]:
        done = add_phrased_lists(
            benchmark=get_benchmark(options["key"]),
            by=OPERATOR,
            progress=self.progress,
            **arguments_of(read_options(PhrasedListsUpload, options)),
        )
        return {**done}

    def report(self, result: dict[str, Any]) -> None:
        lists = counted(result["lists"], "list")
        place = f"run {result['run']}, phrasing {result['phrasing']}"
        self.stdout.write(f"{place}: {lists}, sha256 {result['sha256']}")
