"""Compute a proxy from the captions of a benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.options import add_options, read_options
from pooling.core.proxies.request import ProxyRequest, StopList
from pooling.management.commands.import_proxy import proxy_line
from pooling.selectors.benchmarks import get_benchmark
from pooling.services import compute_requested


class Command(HearthCommand):
    help = "Compute a proxy: the similarity of each caption to the captions of each video."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="key of the benchmark")
        add_options(parser, ProxyRequest, without=("stop_words", "own_words"))
        parser.add_argument(
            "--stop-words",
            default="spacy",
            metavar="LIST",
            help="stop words: spacy, none, or a file with one word per line; default: spacy",
        )

        parser.add_argument(
            "--model",
            type=Path,
            metavar="FOLDER",
            help="folder of a sentence model, in the layout of sentence-transformers; default: the "
            "installed one",
        )

    def run(self, **options: Any) -> dict[str, Any]:
        if options["stop_words"] not in (StopList.SPACY, StopList.NONE):
            options |= {"own_words": Path(options["stop_words"]), "stop_words": StopList.OWN}
        done = compute_requested(
            benchmark=get_benchmark(options["key"]),
            request=read_options(ProxyRequest, options),
            by=OPERATOR,
            model=options["model"],
            progress=self.progress,
        )
        return {**done.report()}

    def report(self, result: dict[str, Any]) -> None:
        self.stdout.write(proxy_line(result))
        for name, value in result["options"].items():
            self.stdout.write(f"{name}: {value}")
