"""Import captions, videos and original positives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from config.accounts.actors import OPERATOR
from config.shared.commands import HearthCommand
from pooling.enums import EqualTexts
from pooling.services import import_benchmark


class Command(HearthCommand):
    help = "Import a benchmark: captions, videos and original positives."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "key", help="key of the benchmark, which identifies it in commands and addresses"
        )
        parser.add_argument(
            "--captions", type=Path, required=True, help="CSV file: caption_id,caption,video_id"
        )
        parser.add_argument("--videos", type=Path, help="CSV file: video_id,file,url,duration")
        parser.add_argument("--media", type=Path, help="folder with the files that --videos names")
        parser.add_argument("--name", default="", help="name on pages; default: the key")
        parser.add_argument("--licence", default="", help="licence of the data, shown on pages")
        parser.add_argument("--description", default="", help="text shown on pages")
        parser.add_argument(
            "--equal-texts",
            choices=EqualTexts.values,
            default=EqualTexts.FOLDED,
            help="rule by which captions count as the same text and share their judgments; "
            "default: folded",
        )

    def run(self, **options: Any) -> dict[str, Any]:
        done = import_benchmark(
            key=options["key"],
            captions=options["captions"],
            by=OPERATOR,
            videos=options["videos"],
            media_dir=options["media"],
            name=options["name"],
            licence=options["licence"],
            description=options["description"],
            equal_texts=options["equal_texts"],
            progress=self.progress,
        )
        return {
            "queries": done.benchmark.n_queries,
            "videos": done.benchmark.n_videos,
            "original_positives": done.original_positives,
            "created": done.created,
            "notes": list(done.notes),
        }

    def report(self, result: dict[str, Any]) -> None:
        self.stdout.write(
            "{queries:,} captions, {videos:,} videos, {original_positives:,} original positives"
            "{already}".format(already="" if result["created"] else " (already stored)", **result)
        )
        for note in result["notes"]:
            self.stdout.write(f"note: {note}")
