"""Import phrasings of captions."""

from __future__ import annotations

from typing import Any

from hearth.accounts.actors import OPERATOR
from hearth.shared.commands import HearthCommand
from hearth.shared.options import arguments_of, read_options
from hearth.shared.words import counted
from pooling.phrasings.services import import_phrasings
from pooling.phrasings.services.phrasings import PhrasingsUpload
from pooling.selectors.benchmarks import get_benchmark


class Command(HearthCommand):
    help = (
        "Import phrasings, further texts of captions: CSV or JSON lines with caption_id, phrasing, "
        "text and origin."
    )
    action = PhrasingsUpload

    def run(self, **options: Any) -> dict[str, Any]:
        done = import_phrasings(
            benchmark=get_benchmark(options["key"]),
            by=OPERATOR,
            progress=self.progress,
            **arguments_of(read_options(PhrasingsUpload, options)),
        )
        return {**done.report()}

    def report(self, result: dict[str, Any]) -> None:
        phrasings, captions = (
            counted(result["phrasings"], "phrasing"),
            counted(result["captions"], "caption"),
        )
        already = "" if result["created"] else " (already stored)"
        self.stdout.write(f"{phrasings} of {captions}, sha256 {result['sha256']}{already}")
        for note in result["notes"]:
            self.stdout.write(f"note: {note}")
