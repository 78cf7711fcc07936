"""Export a proxy as a matrix with its keys, or as files for training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from hearth.shared.commands import HearthCommand
from hearth.shared.errors import InvalidInput
from hearth.shared.files import is_standard_output, regular_target, write_output
from hearth.shared.options import add_options, read_options
from pooling.exports import EXPORTS, TrainingOptions
from pooling.models import Proxy
from pooling.selectors.benchmarks import get_benchmark
from pooling.selectors.proxies import get_proxy

KINDS = [name for name in EXPORTS if name != "keys"]


class Command(HearthCommand):
    help = (
        "Write a proxy as a .npy matrix of float16, captions x videos, and its keys and options as "
        "JSON in a second file; or write pairs or triplets for training as CSV."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="key of the benchmark")
        parser.add_argument("name", help="name of the proxy")
        parser.add_argument("--output", type=Path, required=True, help="file to write")
        parser.add_argument(
            "--as", dest="kind", choices=KINDS, default="matrix", help="default: matrix"
        )
        add_options(parser, TrainingOptions)

    def run(self, **options: Any) -> dict[str, Any]:
        proxy = get_proxy(get_benchmark(options["key"]), options["name"])
        training = read_options(TrainingOptions, options)
        training.check()
        output, kind = options["output"], options["kind"]
        if kind == "matrix" and (is_standard_output(output) or regular_target(output) is None):
            raise InvalidInput("The keys are written beside the matrix, so it must be a file.")
        _write(proxy, kind, training, output)
        if kind != "matrix":
            return {"proxy": proxy.name, "output": str(output)}
        keys = output.with_name(f"{output.stem}.keys.json")
        _write(proxy, "keys", training, keys)
        return {"proxy": proxy.name, "output": str(output), "keys": str(keys)}

    def report(self, result: dict[str, Any]) -> None:
        files = [result[name] for name in ("output", "keys") if name in result]
        self.stdout.write(f"proxy {result['proxy']}: {', '.join(files)}")


def _write(proxy: Proxy, kind: str, training: TrainingOptions, path: Path) -> None:
    with write_output(path) as out:
        for piece in EXPORTS[kind].pieces(proxy, training):
            out.write(piece)
