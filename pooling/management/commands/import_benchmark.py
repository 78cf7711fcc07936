"""Bring in captions, videos and original positives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from config.shared.commands import HearthCommand
from pooling.enums import EqualTexts
from pooling.services import import_benchmark


class Command(HearthCommand):
    help = "Import a benchmark: captions, videos and original positives."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="what the benchmark is called in commands and addresses")
        parser.add_argument(
            "--captions", type=Path, required=True, help="CSV: caption_id,caption,video_id"
        )
        parser.add_argument("--videos", type=Path, help="CSV: video_id,file,url,duration")
        parser.add_argument("--media", type=Path, help="folder of the files named in --videos")
        parser.add_argument("--name", default="", help="what people read; default: the key")
        parser.add_argument("--licence", default="")
        parser.add_argument("--description", default="")
        parser.add_argument(
            "--equal-texts",
            choices=EqualTexts.values,
            default=EqualTexts.FOLDED,
            help="when captions count as the same text and share a judgment",
        )

    def run(self, **options: Any) -> dict[str, Any]:
        done = import_benchmark(
            key=options["key"],
            captions=options["captions"],
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
            "{already}".format(already="" if result["created"] else " (were here)", **result)
        )
        for note in result["notes"]:
            self.stdout.write(f"note: {note}")
