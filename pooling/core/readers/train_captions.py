"""Files of train captions: CSV with the column `caption`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pooling.core.keys import text_fault
from pooling.core.lines import Progress, SourceFile
from pooling.core.readers.benchmarks.captions import MAX_TEXT
from pooling.core.readers.registry import Reader, Readers
from pooling.core.table import CsvTable

MAX_CAPTIONS = 500_000
"""MSR-VTT has 180,000. Analyses hold all train captions in memory."""

MAX_BYTES = 128 << 20


@dataclass(frozen=True, slots=True, eq=False)
class TrainFile:
    """The captions in the order of the file, with repetitions, and the hash of its content."""

    texts: tuple[str, ...]
    sha256: str
    notes: tuple[str, ...]


TRAIN_CAPTIONS: Final = Readers[Reader[[], TrainFile]]("train captions", __package__)


def parse_train_captions(
    path: Path, *, progress: Progress | None = None, source: str | None = None
) -> TrainFile:
    """Read a file of train captions, plain or gzip. Raises `InvalidInput`."""
    file = SourceFile.at(path, source, progress)
    return TRAIN_CAPTIONS.choose(file).read(file)


def _read_table(file: SourceFile) -> TrainFile:
    """Read the column `caption`. A column `caption_id` is ignored.

    A caption may occur several times, because systems may have seen it several times. Raises
    `InvalidInput` if a caption is empty or too long, or if there are more than `MAX_CAPTIONS`.
    """
    table = CsvTable(file.blocks(max_bytes=MAX_BYTES), ("caption",), ignored=("caption_id",))
    texts: list[str] = []
    for line, (text,) in table:
        if fault := text_fault(text, "caption", longest=MAX_TEXT):
            table.refuse(fault, line)
        if len(texts) == MAX_CAPTIONS:
            table.refuse(f"the file has more than {MAX_CAPTIONS:,} captions", line)
        texts.append(text)
    if not texts:
        table.refuse("the file has a header but no caption", 1)
    return TrainFile(tuple(texts), table.blocks.sha256, table.notes)


READER: Final = Reader(
    kind=TRAIN_CAPTIONS.kind,
    name="table",
    title="CSV with the column caption",
    about="One row for each caption that systems were trained on. A benchmark can have several "
    "splits with different names. Importing the same file again does not create a second split. If "
    "a split with other content already has the name, the new split is named NAME@2.",
    example='caption\na man is playing the guitar\n"a woman, a dog and a ball"',
    read=_read_table,
)
