"""Import the captions that systems were trained on."""

from __future__ import annotations

from typing import Any

from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.options import arguments_of, read_options
from hearth.shared.words import counted
from pooling.selectors.benchmarks import get_benchmark
from pooling.services import import_train_captions
from pooling.services.metadata import TrainCaptionsUpload


class Command(HearthCommand):
    help = "Import train captions: CSV (plain or gzip) with the column `caption`."
    action = TrainCaptionsUpload

    def run(self, **options: Any) -> dict[str, Any]:
        done = import_train_captions(
            benchmark=get_benchmark(options["key"]),
            by=OPERATOR,
            progress=self.progress,
            **arguments_of(read_options(TrainCaptionsUpload, options)),
        )
        return {**done.report()}

    def report(self, result: dict[str, Any]) -> None:
        self.stdout.write(
            "train split {split}: {number}, sha256 {sha256}{already}".format(
                number=counted(result["captions"], "caption"),
                already="" if result["created"] else " (already stored)",
                **result,
            )
        )
        for note in result["notes"]:
            self.stdout.write(f"note: {note}")
