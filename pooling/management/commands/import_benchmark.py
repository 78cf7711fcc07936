"""Import captions, videos and original positives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import BAD_INPUT, HearthCommand
from hearth.shared.errors import InvalidInput
from hearth.shared.words import counted
from pooling.core.lines import SourceFile
from pooling.core.readers.benchmarks import BENCHMARKS, TABLE
from pooling.core.readers.benchmarks.table import KEY, KNOWN_NAMES
from pooling.core.readers.registry import AUTO
from pooling.enums import EqualTexts
from pooling.services import Details, ImportFiles, import_benchmark, plan_benchmark


class Command(HearthCommand):
    help = (
        "Import a benchmark: captions, videos and original positives. With --update, change the "
        "captions of a benchmark."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "key", help="key of the benchmark, which identifies it in commands and addresses"
        )
        files = parser.add_mutually_exclusive_group(required=True)
        files.add_argument(
            "--captions",
            type=Path,
            help="table of captions (CSV, TSV, JSON or Parquet): caption_id,caption,video_id",
        )
        files.add_argument(
            "--from",
            dest="source",
            type=Path,
            nargs="+",
            metavar=("FORMAT", "FILE"),
            help="; ".join(f"{one.name}: {one.option}" for one in BENCHMARKS if one.option),
        )
        parser.add_argument(
            "--column",
            dest="columns",
            action="append",
            default=[],
            metavar="COLUMN=NAME",
            help="NAME of the table's column that contains COLUMN, which is caption_id, caption or "
            "video_id; an id can be made of several columns: video_id=video_id+start+end; an empty "
            "NAME of caption_id makes ids from the videos; repeatable; default: the usual names",
        )
        parser.add_argument("--videos", type=Path, help="CSV file: video_id,file,url,duration")
        parser.add_argument(
            "--media", type=Path, help="folder with the video files named in the file of --videos"
        )
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
        parser.add_argument(
            "--update", action="store_true", help="change the captions of an existing benchmark"
        )
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="print the plan with all errors, and write nothing; the exit code is 2 if there "
            "are errors",
        )
        parser.add_argument(
            "--plan",
            default="",
            metavar="HASH",
            help="hash of the plan that --dry-run printed; stop if the files or the benchmark have "
            "changed since then",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        self.refused = 0
        super().handle(*args, **options)
        if self.refused:
            errors = counted(self.refused, "error")
            raise CommandError(f"The plan has {errors}.", returncode=BAD_INPUT)

    def run(self, **options: Any) -> dict[str, Any]:
        common: dict[str, Any] = {
            "key": options["key"],
            "files": _files(options),
            "details": Details(
                name=options["name"],
                licence=options["licence"],
                description=options["description"],
                equal_texts=options["equal_texts"],
            ),
            "update": options["update"],
            "by": OPERATOR,
            "progress": self.progress,
        }
        if options["dry_run"]:
            plan = plan_benchmark(**common).report()
            self.refused = plan["refused"]
            return {**plan}
        done = import_benchmark(media_dir=options["media"], plan=options["plan"], **common)
        return {
            "queries": done.benchmark.n_queries,
            "videos": done.benchmark.n_videos,
            "original_positives": done.original_positives,
            "spans": done.spans,
            "created": done.created,
            "changed": done.changed,
            "notes": list(done.notes),
        }

    def report(self, result: dict[str, Any]) -> None:
        if "plan" in result:
            self._report_plan(result)
            return
        state = " (updated)" if result["changed"] else " (already stored)"
        self.stdout.write(
            "{queries:,} captions, {videos:,} videos, {original_positives:,} original positives"
            "{state}".format(state="" if result["created"] else state, **result)
        )
        for note in result["notes"]:
            self.stdout.write(f"note: {note}")

    def _report_plan(self, plan: dict[str, Any]) -> None:
        for file in plan["files"]:
            self.stdout.write(f"{file['file']}: {file['format']}")
        self.stdout.write(
            "{queries:,} captions, {videos:,} videos, {original_positives:,} original "
            "positives".format(**plan)
        )
        for what in ("captions", "videos", "original_positives"):
            new, removed = plan["new"][what], plan["removed"][what]
            self.stdout.write(f"{what.replace('_', ' ')}: {new:,} new, {removed:,} removed")
        self.stdout.write(counted(plan["changed"], "changed caption"))
        for row in plan["first_rows"]:
            videos = " ".join(row["video_ids"])
            self.stdout.write(f"  {row['caption_id']}  {row['caption']!r}  {videos}")
        for row in plan["changes"]:
            self.stdout.write(f"change: {row['caption_id']}: {row['before']!r} > {row['after']!r}")
        for note in plan["notes"]:
            self.stdout.write(f"note: {note}")
        for row in plan["problems"]:
            error = InvalidInput(row["reason"], source=row["file"], line=row["line"])
            self.stdout.write(f"error: {error}")
        if plan["refused"] > len(plan["problems"]):
            self.stdout.write(f"{plan['refused']:,} errors; the first are listed")
        self.stdout.write(f"plan {plan['plan']}")


def _files(options: dict[str, Any]) -> ImportFiles:
    columns = dict(_column(text) for text in options["columns"])
    videos = SourceFile.maybe(options["videos"])
    if options["captions"]:
        return ImportFiles(
            SourceFile.at(options["captions"]),
            videos=videos,
            expected=TABLE,
            columns=columns,
        )
    form, *paths = options["source"]
    expected = str(form)
    known = [AUTO, *(one.name for one in BENCHMARKS if one.option)]
    if expected not in known or not 1 <= len(paths) <= 3:
        raise InvalidInput(f"--from needs a format ({', '.join(known)}) and one to three files")
    first, *others = map(SourceFile.at, paths)
    return ImportFiles(first, others, videos, expected, columns)


def _column(text: str) -> tuple[str, str]:
    column, _, name = text.partition("=")
    if column not in KNOWN_NAMES or not (name or text == f"{KEY}="):
        known = ", ".join(KNOWN_NAMES)
        raise InvalidInput(
            f"--column {text!r} must have the form COLUMN=NAME, where COLUMN is one of {known}"
        )
    return column, name
