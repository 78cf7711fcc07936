"""Publish the labels of a benchmark as its next label set."""

from __future__ import annotations

from typing import Any

from evaluation.release.services import PublishOptions, publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.options import arguments_of, read_options
from hearth.shared.words import counted
from pooling.selectors.benchmarks import get_benchmark


class Command(HearthCommand):
    help = "Publish the labels of a benchmark as a new, numbered label set, which never changes."
    action = PublishOptions

    def run(self, **options: Any) -> dict[str, Any]:
        label_set = publish_label_set(
            benchmark=get_benchmark(options["key"]),
            by=OPERATOR,
            progress=self.progress,
            **arguments_of(read_options(PublishOptions, options)),
        )
        return {
            "version": label_set.version,
            "sha256": label_set.sha256,
            "pairs": label_set.n_pairs,
            "relevant": label_set.n_relevant,
            "pending": label_set.n_pending,
            "conflicted": label_set.n_conflicted,
            "judgments": label_set.n_judgments,
        }

    def report(self, result: dict[str, Any]) -> None:
        self.stdout.write(
            f"label set {result['version']}: {counted(result['pairs'], 'pair')}, "
            f"{result['relevant']:,} relevant, {result['pending']:,} pending, "
            f"{result['conflicted']:,} in conflict, {counted(result['judgments'], 'judgment')}\n"
            f"sha256 {result['sha256']}"
        )
