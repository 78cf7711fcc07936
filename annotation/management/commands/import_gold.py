"""Import gold items."""

from __future__ import annotations

from typing import Any

from annotation.services import ImportGold, import_gold
from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.options import arguments_of, read_options
from hearth.shared.words import counted
from pooling.selectors.benchmarks import get_benchmark


class Command(HearthCommand):
    help = "Import gold items for training or control, with labels or with spans."
    action = ImportGold

    def run(self, **options: Any) -> dict[str, Any]:
        sent = read_options(ImportGold, options)
        count = import_gold(
            benchmark=get_benchmark(options["key"]),
            by=OPERATOR,
            progress=self.progress,
            **arguments_of(sent),
        )
        return {"gold": count, "use": sent.use.value}

    def report(self, result: dict[str, Any]) -> None:
        self.stdout.write(f"{counted(result['gold'], 'gold item')} for {result['use']}")
