"""Compute an analysis, or show its stored result."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.management.base import CommandParser

from evaluation.lab.analyses import ANALYSES, get_analysis
from evaluation.lab.analyses.forms import COMMON_FIELDS
from evaluation.lab.analyses.question import build_question, is_list, source_line
from evaluation.lab.analyses.tables import Column, Table
from evaluation.lab.services import analyse
from evaluation.management.inputs import add_input_options, read_inputs
from hearth.shared.commands import HearthCommand

ROWS_MAX = 40


def own_options() -> dict[str, list[tuple[str, forms.Field]]]:
    """Return the form fields of all analyses by name, with the analyses that have them."""
    found: dict[str, list[tuple[str, forms.Field]]] = {}
    for analysis in ANALYSES.values():
        for name, field in analysis.form.base_fields.items():
            if name not in COMMON_FIELDS:
                found.setdefault(name, []).append((analysis.name, field))
    return found


def option_help(owners: list[tuple[str, forms.Field]]) -> str:
    """Return the label and choices of an option, and the names of the analyses that have it."""
    names_by_text: dict[str, list[str]] = {}
    for analysis, field in owners:
        choices = ", ".join(value for value, _ in getattr(field, "choices", []) if value)
        text = f"{field.label}: {choices}" if choices else str(field.label)
        names_by_text.setdefault(text, []).append(analysis)
    return "; ".join(f"{text} (in {', '.join(names)})" for text, names in names_by_text.items())


class Command(HearthCommand):
    help = "Compute an analysis of a benchmark, or show its stored result."

    def add_arguments(self, parser: CommandParser) -> None:
        add_input_options(parser)
        parser.add_argument("analysis", help="name of the analysis: " + ", ".join(ANALYSES))
        for name, owners in own_options().items():
            flag = f"--{name.replace('_', '-')}"
            # argparse reads % in help texts as a format.
            text = option_help(owners).replace("%", "%%")
            if all(is_list(field) for _, field in owners):
                parser.add_argument(
                    flag, dest=name, metavar="NAME", action="append", help=f"{text}; repeatable"
                )
                continue
            parser.add_argument(flag, dest=name, metavar="VALUE", help=text)

    def run(self, **options: Any) -> dict[str, Any]:
        self.analysis = get_analysis(options["analysis"])
        benchmark, data = read_inputs(options, own_options(), self.progress)
        question = build_question(self.analysis, benchmark, data)
        found = analyse(question=question, progress=self.progress)
        return {**found.result, "inputs": found.inputs}

    def report(self, result: dict[str, Any]) -> None:
        inputs = result["inputs"]
        self.stdout.write(source_line(inputs))
        for text in (*self.analysis.findings(result), *self.analysis.warnings(result)):
            self.stdout.write(text)
        for table in self.analysis.tables(result):
            self.stdout.write(f"\n{table.title}")
            for line in table_lines(table):
                self.stdout.write(line)


def table_lines(table: Table) -> list[str]:
    """Return the lines of a table, with texts left-aligned and numbers right-aligned.

    Long tables are cut, and the last line has the number of hidden rows.
    """
    rows = [[column.title for column in table.written]]
    rows += [
        [column.format(row[column.key]) for column in table.written]
        for row in table.rows[:ROWS_MAX]
    ]
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            _aligned(cell, width, column)
            for cell, width, column in zip(row, widths, table.written, strict=True)
        ).rstrip()
        for row in rows
    ]
    n_hidden = len(table.rows) - ROWS_MAX
    return lines + ([f"... {n_hidden:,} more rows; --json has all"] if n_hidden > 0 else [])


def _aligned(cell: str, width: int, column: Column) -> str:
    return cell.rjust(width) if column.is_number else cell.ljust(width)
