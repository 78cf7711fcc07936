"""Import a proxy that another program computed."""

from __future__ import annotations

from typing import Any

from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.options import read_options
from pooling.core.proxies.request import ProxyUpload
from pooling.selectors.benchmarks import get_benchmark
from pooling.services import add_proxy


class Command(HearthCommand):
    help = (
        "Import a proxy that another program computed: a .npy matrix of captions x videos with "
        "values from 0 to 1, or embeddings of captions, videos or both."
    )
    action = ProxyUpload

    def run(self, **options: Any) -> dict[str, Any]:
        done = add_proxy(
            benchmark=get_benchmark(options["key"]),
            sent=read_options(ProxyUpload, options),
            by=OPERATOR,
            progress=self.progress,
        )
        return {**done.report()}

    def report(self, result: dict[str, Any]) -> None:
        self.stdout.write(proxy_line(result))


def proxy_line(result: dict[str, Any]) -> str:
    already = "" if result["created"] else " (already stored)"
    line = "proxy {proxy}: {method}, {captions:,} captions x {videos:,} videos, sha256 {sha256}"
    return line.format(**result) + already
