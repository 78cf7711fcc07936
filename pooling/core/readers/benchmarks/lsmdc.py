"""LSMDC: clips of films with times in their names, separated by tabs, without a header.

Rohrbach et al., "Movie description", IJCV 2017. The columns are the clip, two or four times, and
the sentence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Final

from hearth.shared.errors import InvalidInput
from pooling.core.lines import SourceFile
from pooling.core.problems import Problems
from pooling.core.readers.benchmarks import BenchmarkReader, Part
from pooling.core.readers.benchmarks.captions import (
    MAX_BYTES,
    MAX_ROWS,
    CaptionsBuilder,
    CaptionsFile,
)
from pooling.core.readers.registry import Fit

_TIME = r"\d\d\.\d\d\.\d\d\.\d{3}"
_START = re.compile(rf"\S+_{_TIME}-{_TIME}\t")
_LEAST = 2


def read_lsmdc(
    files: Mapping[str, SourceFile], _: Mapping[str, str], problems: Problems
) -> CaptionsFile:
    """Read a caption per line: the last column. The first column names the clip."""
    file = files[LSMDC.name]
    blocks = file.blocks(max_bytes=MAX_BYTES)
    builder = CaptionsBuilder(file.source, problems)
    positions: Counter[str] = Counter()
    for line, text in enumerate(blocks.text_lines(), start=1):
        cells = text.rstrip("\n").rstrip("\t").split("\t")
        if not text.strip():
            continue
        if len(builder) == MAX_ROWS:
            raise InvalidInput(f"more than {MAX_ROWS:,} rows", source=file.source, line=line)
        if len(cells) < _LEAST or re.fullmatch(_TIME, cells[-1]):
            builder.refuse("the line has no sentence after its times", line)
            continue
        clip = cells[0].strip()
        builder.add_row(line, f"{clip}#{positions[clip]}", cells[-1].strip(), clip)
        positions[clip] += 1
    return builder.finish_files(files=[(file.source, LSMDC.name, blocks.sha256)])


LSMDC: Final = Part(
    "lsmdc", "captions of LSMDC", lambda head: Fit.SURE if _START.match(head.text) else Fit.NO
)
READER: Final = BenchmarkReader(
    name="lsmdc",
    title="LSMDC",
    place=8,
    about="Lines with a clip, its times and a sentence, separated by tabs, without a header.",
    combinations=[[LSMDC]],
    files="captions of LSMDC",
    option="a file of LSMDC",
    read=read_lsmdc,
)
