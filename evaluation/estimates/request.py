"""What is estimated, the same on the page, in the API, the command and the client."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from hearth.shared.options import Entry, Option, OptionFault


@dataclass(frozen=True, kw_only=True)
class EstimateOptions:
    """Estimates from the captions that were drawn and judged.

    runs: One run gives its score. Several runs give the difference of each two, with p corrected by
        Holm for the number of differences.
    proxy: Use captions that were drawn with this machine, and for C@k also its predictions.
    future: The interval is for other captions and videos instead of those of the benchmark.
    corrected: Correct C@k for wrong labels, with error rates from pairs that were labelled twice
        before the draw.
    """

    runs: Annotated[tuple[str, ...], Option("Runs", entry=Entry.CHECKBOXES, flag="run")] = ()
    measure: Annotated[str, Option("Measure", length=50)] = "C@10"
    proxy: Annotated[str, Option("Machine", entry=Entry.OFFERED, metavar="NAME")] = ""
    future: Annotated[bool, Option("For other captions and videos")] = False
    corrected: Annotated[bool, Option("Corrected for wrong labels")] = False

    def check(self) -> None:
        """Raise `OptionFault` if options contradict each other."""
        if not self.runs:
            raise OptionFault("runs", "Select a run.")
        if len(set(self.runs)) < len(self.runs):
            raise OptionFault("runs", "Select each run once.")
        if self.future and self.corrected:
            reason = "Corrected scores are for the captions of the benchmark. Choose one of both."
            raise OptionFault("corrected", reason)
        if len(self.runs) > 1 and (self.future or self.corrected or self.proxy):
            name = "future" if self.future else "corrected" if self.corrected else "proxy"
            raise OptionFault(name, "This is available for one run only, not for differences.")
