"""Options of commands for label sets, and for the labels and runs that an analysis uses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandParser

from evaluation.models import LabelSet
from evaluation.release.selectors import LATEST, get_published
from evaluation.release.services import update_requested_draft
from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.progress import Progress
from pooling.models import Benchmark
from pooling.selectors.benchmarks import get_benchmark


class LabelSetCommand(HearthCommand):
    """A command for one published label set of a benchmark."""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        # The option --version replaces that of Django.
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="key of the benchmark")
        parser.add_argument(
            "--version",
            dest="label_set",
            default=LATEST,
            help="label set: latest or a version number; default: latest",
        )

    @staticmethod
    def label_set(options: dict[str, Any]) -> LabelSet:
        return get_published(get_benchmark(options["key"]), options["label_set"])


def add_input_options(parser: CommandParser, default_runs: str = "all") -> None:
    """Add the key of the benchmark, and the options for labels and runs.

    default_runs: the runs that are used if none is named, for the help text.
    """
    parser.add_argument("key", help="key of the benchmark")
    parser.add_argument(
        "--labels",
        default="",
        help="label set: latest, draft (updated first), original or a version number; default: "
        "the newest labels",
    )
    parser.add_argument(
        "--labels-only", action="store_true", help="leave out the original positives"
    )
    parser.add_argument(
        "--run",
        dest="runs",
        action="append",
        default=[],
        metavar="NAME",
        help=f"a run to use, repeatable; default: {default_runs}",
    )


def read_inputs(
    options: dict[str, Any], own: Iterable[str], progress: Progress
) -> tuple[Benchmark, dict[str, Any]]:
    """Return the benchmark, and the data of the form. A draft that is requested is updated first.

    own: the names of the form's own fields, whose options may be None.
    """
    given = {
        "labels": options["labels"],
        "only": options["labels_only"],
        "runs": options["runs"],
    }
    # Empty values are left out, because an analysis that reads no labels has no field for them.
    data = {name: value for name, value in given.items() if value}
    data |= {name: options[name] for name in own if options[name] is not None}
    benchmark = get_benchmark(options["key"])
    update_requested_draft(
        benchmark=benchmark, labels=options["labels"], by=OPERATOR, progress=progress
    )
    return benchmark, data
