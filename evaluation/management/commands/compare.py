"""Compare ranked lists: list captions, or show the ranked lists of one caption."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from evaluation.lab.analyses.forms import COMMON_FIELDS
from evaluation.lab.analyses.question import source_line
from evaluation.lab.comparison.captions import compare_lists, look_up_caption
from evaluation.lab.comparison.form import RUNS_SHOWN, CompareForm
from evaluation.lab.comparison.lists import caption_as_json
from evaluation.management.inputs import add_input_options, read_inputs
from hearth.shared.commands import HearthCommand
from hearth.shared.numbers import UNDEFINED
from hearth.shared.words import counted

ROWS_MAX = 40
TEXT_MAX = 60
OWN = [name for name in CompareForm.base_fields if name not in COMMON_FIELDS]


class Command(HearthCommand):
    help = (
        "List captions with the rank of the first positive in each run, or show the ranked "
        "lists of one caption."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add_input_options(parser, f"the {RUNS_SHOWN} best by C@1")
        for name in OWN:
            field = CompareForm.base_fields[name]
            choices = [value for value, _ in getattr(field, "choices", [])]
            help_text = f"{field.label}: {', '.join(choices)}" if choices else str(field.label)
            parser.add_argument(f"--{name}", metavar="VALUE", help=help_text.replace("%", "%%"))

    def run(self, **options: Any) -> dict[str, Any]:
        benchmark, data = read_inputs(options, OWN, self.progress)
        comparison = compare_lists(benchmark, data)
        if options["caption"] is None and options["at"] is None:
            return {**comparison.as_json()}
        return {**caption_as_json(comparison, look_up_caption(comparison))}

    def report(self, result: dict[str, Any]) -> None:
        inputs = result["inputs"]
        self.stdout.write(source_line(inputs))
        for name, sha256 in inputs["runs"].items():
            self.stdout.write(f"run: {name}   sha256: {sha256}")
        for line in list_lines(result) if "captions" in result else caption_lines(result):
            self.stdout.write(line)


def list_lines(result: dict[str, Any]) -> list[str]:
    """Return lines with the number of captions, the first captions and how many are hidden."""
    shown = result["captions"][:ROWS_MAX]
    selected = counted(result["count"], "caption")
    lines = [
        f"{selected}; rank of the first positive in each run: by original positives → by labels"
    ]
    for row in shown:
        ranks = "  ".join(f"{name} {change(run)}" for name, run in row["runs"].items())
        lines.append(f"{row['caption_id']}  {ranks}  {row['caption'][:TEXT_MAX]}")
    n_hidden = result["count"] - len(shown)
    return lines + ([f"... {n_hidden:,} more; --json prints all"] if n_hidden > 0 else [])


def caption_lines(result: dict[str, Any]) -> list[str]:
    """Return the lines of each list: its videos, their labels, and their ranks in other lists."""
    lines = [f"{result['caption_id']}  {result['caption']}"]
    for name, run in result["runs"].items():
        lines += ["", f"{name}   first positive {change(run)}"]
        for video in run["videos"]:
            also = ", ".join(f"{other} {rank}" for other, rank in video["also"].items())
            line = f"{video['rank']:>4}  {video['video_id']}  {video['kind']}"
            lines.append(f"{line}  also {also}" if also else line)
    return lines


def change(run: dict[str, Any]) -> str:
    """Return the rank of the first positive by the original positives and by the labels."""
    ranks = [run[kind]["rank"] for kind in ("original", "labelled") if run[kind] is not None]
    return " → ".join(UNDEFINED if rank is None else str(rank) for rank in ranks)
