"""The request to a machine judge, the same on the page, in the API, the command and the client."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from evaluation.machines.core.protocol import NAME_LENGTH
from hearth.shared.options import Entry, Group, Option, OptionFault
from pooling.core.lines import SourceFile
from pooling.core.proxies.request import NAME

CALL = Group("A machine that Hearth asks")
FILE = Group("Answers in a file", is_folded=True)
BUDGET = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineRequest:
    """What a machine judge is asked, or a file with its answers.

    judge: The operator sets up judges in MACHINE_JUDGES.
    runs: The machine judges the top of these runs.
    pools: The machine also judges the pairs of all pools, which people judge. The report and the
        calibration of the machine need them.
    budget: The maximum number of pairs. If there are more, pairs are drawn at random.
    guidelines: By default, the guidelines of the annotators.
    restart: Discard the answers of the same request that did not finish.
    file: A table with the columns caption_id, video_id and p, and optionally error.
    machine: Needed for a file.
    family: Models that the machine is related to, such as clip.
    """

    judge: Annotated[
        str, Option("Machine judge", entry=Entry.OFFERED, metavar="NAME", group=CALL)
    ] = ""
    runs: Annotated[
        tuple[str, ...], Option("Runs", entry=Entry.CHECKBOXES, flag="run", group=CALL)
    ] = ()
    depth: Annotated[int, Option("Depth", low=1, high=1000, group=CALL)] = 10
    pools: Annotated[bool, Option("Pairs of the pools", group=CALL)] = False
    budget: Annotated[int, Option("Budget, pairs", low=1, high=10_000_000, group=CALL)] = BUDGET
    guidelines: Annotated[
        str, Option("Guidelines", entry=Entry.AREA, length=20_000, group=CALL)
    ] = ""
    restart: Annotated[bool, Option("Start again", group=CALL)] = False
    file: Annotated[SourceFile | None, Option("File", expected="A text file", group=FILE)] = None
    machine: Annotated[
        str, Option("Name of the machine", length=NAME_LENGTH, printable=True, group=FILE)
    ] = ""
    version: Annotated[
        str,
        Option("Version", length=NAME_LENGTH, printable=True, group=FILE, flag="machine-version"),
    ] = ""
    family: Annotated[str, Option("Family", length=NAME_LENGTH, printable=True, group=FILE)] = ""
    name: Annotated[
        str, NAME, Option(help="By default, the name of the judge or of the machine.")
    ] = ""

    def check(self) -> None:
        """Raise `OptionFault` unless there is either a judge with pairs, or a file."""
        if (self.file is None) == (not self.judge):
            raise OptionFault("judge", "Choose a machine judge, or add a file with its answers.")
        if self.file is None and not self.runs and not self.pools:
            raise OptionFault("runs", "Select runs, or the pairs of the pools.")
        if self.file is not None and not self.machine:
            raise OptionFault("machine", "State the name of the machine.")
