"""Import a proxy that another program computed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.errors import InvalidInput
from pooling.core.proxies.request import sent_file
from pooling.selectors.benchmarks import get_benchmark
from pooling.services import import_embeddings, import_proxy


class Command(HearthCommand):
    help = (
        "Import a proxy that another program computed: a .npy matrix of captions x videos with "
        "values from 0 to 1, or embeddings of captions, videos or both."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="key of the benchmark")
        parser.add_argument("file", type=Path, nargs="?", help="the .npy file of a matrix")
        parser.add_argument(
            "--name", default="", help="name of the proxy; default: the name of the file"
        )
        parser.add_argument(
            "--keys", type=Path, metavar="FILE", help="JSON file with the keys of rows and columns"
        )
        parser.add_argument(
            "--caption-embeddings",
            type=Path,
            metavar="FILE",
            help=".npy matrix with a row for each caption; the proxy is the cosine of embeddings",
        )
        parser.add_argument(
            "--video-embeddings",
            type=Path,
            metavar="FILE",
            help=".npy matrix with a row for each video",
        )
        parser.add_argument(
            "--own-as-computed",
            action="store_true",
            help="embeddings: keep the computed value of a video and its own caption, instead of 1",
        )

    def run(self, **options: Any) -> dict[str, Any]:
        benchmark, name = get_benchmark(options["key"]), options["name"]
        captions, videos = (
            sent_file(options["caption_embeddings"]),
            sent_file(options["video_embeddings"]),
        )
        if (options["file"] is None) == (captions is None and videos is None):
            raise InvalidInput("Name either the file of a matrix, or embeddings.")
        if options["file"] is None:
            done = import_embeddings(
                benchmark=benchmark,
                captions=captions,
                videos=videos,
                name=name,
                own_is_one=not options["own_as_computed"],
                by=OPERATOR,
                progress=self.progress,
            )
        else:
            done = import_proxy(
                benchmark=benchmark,
                path=options["file"],
                keys=sent_file(options["keys"]),
                name=name,
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
