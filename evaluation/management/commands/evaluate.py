"""Score runs by the original positives and by a label set."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from evaluation.scores.services import EvaluatedRuns, EvaluateOptions, evaluate_runs
from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.options import arguments_of, read_options
from pooling.enums import EqualTexts
from pooling.selectors.benchmarks import get_benchmark


class Command(HearthCommand):
    help = "Score the runs of a benchmark by the original positives and by a label set."
    action = EvaluateOptions

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--twins",
            nargs="?",
            const=EqualTexts.FOLDED.value,
            default=EqualTexts.OFF.value,
            choices=EqualTexts.values,
            help="share original positives among captions with equal texts, by this rule (folded "
            "if no rule is named); the scores are then not stored; default: off",
        )

    def run(self, **options: Any) -> dict[str, Any]:
        evaluated = evaluate_runs(
            benchmark=get_benchmark(options["key"]),
            by=OPERATOR,
            twins=options["twins"],
            progress=self.progress,
            **arguments_of(read_options(EvaluateOptions, options)),
        )
        return as_json(evaluated)

    def report(self, result: dict[str, Any]) -> None:
        for line in report_lines(result):
            self.stdout.write(line)


def as_json(evaluated: EvaluatedRuns) -> dict[str, Any]:
    label_set = evaluated.label_set
    return {
        "labels": label_set.version if label_set else "original",
        "labels_sha256": label_set.sha256 if label_set else None,
        "twins": evaluated.twins,
        "code_version": evaluated.code_version,
        "runs": {
            result.run.name: {
                "direction": result.run.direction,
                "sha256": result.run.sha256,
                "withdrawn": result.run.is_withdrawn,
                "original": result.original,
                "labelled": result.labelled,
                "judged": result.judged,
                "reads": result.reads,
                "undefined": result.undefined,
            }
            for result in evaluated.runs
        },
    }


def report_lines(result: dict[str, Any]) -> list[str]:
    """Return the lines of the table "A (B + C)", with the judged share for each measure.

    A is the score by the labels, B by the original positives only, and C the difference.
    """
    twins = "" if result["twins"] == EqualTexts.OFF else f"   twins: {result['twins']}"
    lines = [f"labels: {result['labels']}{twins}   code: {result['code_version']}"]
    for name, run in result["runs"].items():
        facts = f"{run['direction']}{'  withdrawn' if run['withdrawn'] else ''}"
        judged = f"judged@10 {_text(run['judged'].get('10'))}"
        lines.append(f"{name}  {facts}  sha256 {run['sha256'][:12]}  {judged}")
        for measure, original in run["original"].items():
            labelled = run["labelled"] and run["labelled"][measure]
            read = run["reads"][measure]
            judged = f"judged@{read} {_text(run['judged'].get(str(read)))}"
            lines.append(f"  {measure:12} {abc(original, labelled):27}  {judged}")
    return lines


def abc(original: float | None, labelled: float | None) -> str:
    """Return one cell of the table, such as `0.596 (0.455 + 0.142)`."""
    if labelled is None or original is None:
        return _text(original if labelled is None else labelled)
    sign = "+" if labelled >= original else "−"
    return f"{_text(labelled)} ({_text(original)} {sign} {_text(abs(labelled - original))})"


def _text(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"
