"""How far the annotators of a benchmark agree."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from config.shared.commands import HearthCommand
from evaluation.services import compute_agreement
from evaluation.services.agreement import RESAMPLES
from pooling.selectors import get_benchmark

SHOWN = (
    "pairs",
    "labels",
    "resolved",
    "conflicted",
    "relevant",
    "multiply_labelled",
    "agreement",
    "pairwise_agreement",
    "alpha",
    "alpha_interval",
)


class Command(HearthCommand):
    help = "Compute agreement and Krippendorff's alpha over all judgments of a benchmark."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="the benchmark")
        parser.add_argument(
            "--resamples", type=int, default=RESAMPLES, help="bootstrap resamples for the interval"
        )

    def run(self, **options: Any) -> dict[str, Any]:
        report = compute_agreement(
            benchmark=get_benchmark(options["key"]),
            resamples=options["resamples"],
            progress=self.progress,
        )
        result: dict[str, Any] = {**report.result, "code_version": report.code_version}
        return result

    def report(self, result: dict[str, Any]) -> None:
        for name in SHOWN:
            value = result[name]
            reason = result["undefined"].get(name)
            self.stdout.write(f"{name:20} {f'undefined: {reason}' if reason else _text(value)}")


def _text(value: Any) -> str:
    if isinstance(value, list):
        return " to ".join(map(_text, value))
    return f"{value:.6f}" if isinstance(value, float) else f"{value:,}"
