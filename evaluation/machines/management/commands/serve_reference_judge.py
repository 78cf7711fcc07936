"""Serve the reference judge of a benchmark on this machine."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

from django.core.management.base import CommandParser

from evaluation.machines.reference import ReferenceServer, caption_judge
from hearth.shared.commands import HearthCommand
from pooling.selectors.benchmarks import get_benchmark


class Command(HearthCommand):
    help = (
        "Serve the reference judge on 127.0.0.1. It answers from the captions of videos, so it is "
        "an example of the protocol and no good judge. If JUDGE_KEY is set, clients must send it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="key of the benchmark")
        parser.add_argument("--port", type=int, default=8010, help="port; default: 8010")

    def run(self, **options: Any) -> dict[str, Any]:
        judge = caption_judge(get_benchmark(options["key"]))
        address = ("127.0.0.1", options["port"])
        with ReferenceServer(address, judge, os.environ.get("JUDGE_KEY", "")) as server:
            self.stdout.write(f"http://127.0.0.1:{server.server_port} (Ctrl-C stops it)")
            with suppress(KeyboardInterrupt):
                server.serve_forever()
        return {"port": server.server_port}

    def report(self, result: dict[str, Any]) -> None:
        self.stdout.write("stopped")
