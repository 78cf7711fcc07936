"""The options of run uploads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from hearth.shared.filetypes import ZIP
from hearth.shared.options import DEPTH_MAX, NAME_LENGTH, Option
from pooling.core.direction import IMPORT_CHOICES, ONE_DIRECTION, Direction
from pooling.core.lines import SourceFile
from pooling.core.proxies.request import KEYS
from pooling.core.readers.registry import AUTO
from pooling.core.readers.runs import RUNS

FORMATS: Final = RUNS.choices()  # of the schema of the API
FILE = Option(expected=f"A run ({RUNS.listed()})", besides=ZIP, positional=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRun:
    """A file with the ranked lists of a system.

    file: One or several files, or a zip archive of several. A text file can be compressed with
        gzip.
    system: The retrieval model that produced the run.
    name: Needed only if the system has several runs; by default, the name of the system.
    direction: What the ranked lists contain. A matrix contains both directions.
    depth: Results kept per list; by default, the whole list or the top 100 of a matrix.
    """

    file: Annotated[SourceFile, FILE, Option("Files")]
    system: Annotated[
        str,
        Option(
            "System",
            length=NAME_LENGTH,
            printable=True,
            attrs={"list": "known-systems", "autocomplete": "off"},
        ),
    ]
    name: Annotated[
        str,
        Option(
            "Name of the run", length=NAME_LENGTH, printable=True, attrs={"autocomplete": "off"}
        ),
    ] = ""
    direction: Annotated[
        str, Option("Direction", choices=dict(IMPORT_CHOICES), may_be_empty=True)
    ] = Direction.TEXT_TO_VIDEO.value
    keys: Annotated[SourceFile | None, KEYS] = None
    format: Annotated[str, Option("Format", choices=RUNS.choices)] = AUTO
    depth: Annotated[int | None, Option("Maximum depth", low=1, high=DEPTH_MAX, metavar="K")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRun(ImportRun):
    """A run for a public benchmark.

    file: A text file can be compressed with gzip.
    direction: What the ranked lists contain. A matrix has both directions; upload it once for each.
    """

    file: Annotated[SourceFile, FILE, Option("File")]
    direction: Annotated[
        str, Option("Direction", choices=dict(ONE_DIRECTION), may_be_empty=True)
    ] = Direction.TEXT_TO_VIDEO.value
