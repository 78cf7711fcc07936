"""Compute the agreement of the annotators of a benchmark."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotation.core.alpha_words import alpha_in_words
from evaluation.core.people.agreement_figures import RESAMPLES
from evaluation.monitor.services import compute_agreement
from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from pooling.selectors.benchmarks import get_benchmark

COUNTS = (
    "pairs",
    "labels",
    "resolved",
    "pending",
    "conflicted",
    "relevant",
    "multiply_labelled",
)
# A paper should report the figures of the planned labels, because those of all labels are biased.
PARTS = {
    "first_labels": "Planned labels of each pair",
    "all_labels": "All labels, including those requested because two differed",
}
NAMES = {
    "labels": "labels",
    "multiply_labelled": "pairs with two or more labels",
    "agreement": "all labels of a pair equal",
    "pairwise_agreement": "two labels of a pair equal",
    "alpha": "alpha",
    "alpha_interval": "  95 % interval, annotators resampled",
    "alpha_interval_pairs": "  95 % interval, pairs resampled",
    "alpha_nominal": "alpha, nominal",
    "alpha_nominal_interval": "  95 % interval, pairs resampled",
    "ac1": "Gwet's AC1",
    "ac1_interval": "  95 % interval, pairs resampled",
    "ac2": "Gwet's AC2, ordinal",
    "ac2_interval": "  95 % interval, pairs resampled",
    "relevance_agreement": "all relevant, or all not relevant",
    "relevance_alpha": "alpha, relevant or not relevant",
}


class Command(HearthCommand):
    help = "Compute the agreement of the annotators over all judgments of a benchmark."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="key of the benchmark")
        parser.add_argument(
            "--resamples",
            type=int,
            default=RESAMPLES,
            metavar="N",
            help=f"number of resamples for the intervals; default: {RESAMPLES}",
        )

    def run(self, **options: Any) -> dict[str, Any]:
        report = compute_agreement(
            benchmark=get_benchmark(options["key"]),
            by=OPERATOR,
            resamples=options["resamples"],
            progress=self.progress,
        )
        result: dict[str, Any] = {**report.result, "code_version": report.code_version}
        return result

    def report(self, result: dict[str, Any]) -> None:
        for name in COUNTS:
            self.stdout.write(f"{name:20} {_text(result[name])}")
        for part, title in PARTS.items():
            figures = result[part]
            self.stdout.write(f"\n{title}")
            for key, name in NAMES.items():
                if key in figures:
                    self.stdout.write(f"  {_name(key, name, figures):37} {_figure(key, figures)}")
        for own in result["questions"].values():
            self.stdout.write(f"\nTimes of {own['pairs']:,} pairs")
            for figure in own["figures"]:
                value = "undefined" if figure["value"] is None else _text(figure["value"])
                self.stdout.write(f"  {figure['name']:49} {value}")


def _name(key: str, name: str, figures: dict[str, Any]) -> str:
    return f"{name}, {figures['alpha_level']}" if key == "alpha" else name


def _figure(key: str, figures: dict[str, Any]) -> str:
    reason, value = figures["undefined"].get(key), figures[key]
    if reason:
        return f"undefined: {reason}"
    return f"{_text(value)}, {alpha_in_words(value)}" if key == "alpha" else _text(value)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return " to ".join(map(_text, value))
    return f"{value:.6f}" if isinstance(value, float) else f"{value:,}"
