"""Request second labels for the sole positives of a run, or for all positives."""

from __future__ import annotations

from typing import Any

from annotation.services import open_confirmation
from evaluation.release.selectors import ConfirmOptions, find_label_set, positives_to_confirm
from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.options import read_options
from pooling.selectors.benchmarks import get_benchmark
from pooling.selectors.runs import get_run


class Command(HearthCommand):
    help = (
        "Request second labels for the sole positives on which C@k of a run depends, or for all "
        "positives, on which AP, R@k and nDCG depend."
    )
    action = ConfirmOptions

    def run(self, **options: Any) -> dict[str, Any]:
        benchmark, wanted = get_benchmark(options["key"]), read_options(ConfirmOptions, options)
        wanted.check()
        run = None if wanted.all else get_run(benchmark, wanted.run)
        label_set = find_label_set(benchmark, wanted.labels)
        count, codes = positives_to_confirm(label_set, run, wanted.cutoff or 10)
        campaign = open_confirmation(
            benchmark=benchmark,
            by=OPERATOR,
            codes=codes,
            seed=wanted.seed,
            name=wanted.name,
        )
        return {
            "campaign": campaign.pk,
            "name": campaign.name,
            # The number of sole positives; null with --all.
            "deciding": None if run is None else count,
            "positives": count,
            "tasks": campaign.n_tasks,
        }

    def report(self, result: dict[str, Any]) -> None:
        kind = "positives" if result["deciding"] is None else "sole positives"
        self.stdout.write(
            "campaign {campaign} ({name})\nsecond labels requested: {tasks:,}\n"
            "{kind}: {positives:,}".format(kind=kind, **result)
        )
