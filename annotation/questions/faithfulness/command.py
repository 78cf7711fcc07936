"""Open a faithfulness campaign."""

from __future__ import annotations

from typing import Any

from annotation.questions.faithfulness.opening import (
    NewFaithfulness,
    open_faithfulness,
    report_of,
)
from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.options import read_options
from pooling.selectors.benchmarks import get_benchmark


class Command(HearthCommand):
    help = "Open a campaign in which people say whether phrasings say the same as their captions."
    action = NewFaithfulness

    def run(self, **arguments: Any) -> dict[str, Any]:
        campaign = open_faithfulness(
            benchmark=get_benchmark(arguments["key"]),
            options=read_options(NewFaithfulness, arguments),
            by=OPERATOR,
        )
        return {**report_of(campaign)}

    def report(self, result: dict[str, Any]) -> None:
        text = (
            "campaign {campaign} ({name}): {phrasings:,} phrasings; answers to collect: {labels:,}"
        )
        self.stdout.write(text.format(**result))
