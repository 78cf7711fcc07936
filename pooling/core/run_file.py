"""Reading runs in any format."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from hearth.shared.errors import InvalidInput
from pooling.core.direction import Direction
from pooling.core.json_file import MAX_JSON_BYTES, JsonReader
from pooling.core.keys import shown
from pooling.core.lines import Progress, TextBlocks, first_bytes
from pooling.core.matrix_file import DEFAULT_DEPTH, MAGIC, MatrixReader, Places
from pooling.core.ordering import RunData, with_tie_warning
from pooling.core.trec_file import TrecReader
from pooling.core.whole_matrix import WholeMatrix

__all__ = ["FORMATS", "RunData", "format_of", "read_run"]

FORMATS = ("trec", "json", "npy")


def read_run(
    path: Path,
    *,
    query_numbers: Mapping[str, int],
    video_numbers: Mapping[str, int],
    texts: Sequence[str] | None = None,
    original: Mapping[int, Collection[int]] | None = None,
    format: str = "auto",
    depth: int | None = None,
    progress: Progress | None = None,
    source: str | None = None,
    direction: Direction = Direction.TEXT_TO_VIDEO,
    whole: WholeMatrix | None = None,
    places: Places | None = None,
) -> RunData:
    """Read and check a whole run, order its lists, and cut each list at `depth`.

    `query_numbers` and `video_numbers` map keys to dense numbers 0..n-1. JSON may use texts as keys
    and therefore needs `texts` (the captions by number) and `original` (the video numbers of the
    original positives by query number). If `depth` is None, the lists of TREC and JSON keep their
    lengths and a matrix gives lists of 100 videos. `source` names the file in messages. Raises
    `InvalidInput` if the file is not a run of this benchmark, or if `format` or `depth` is not
    valid.

    In the direction from video to text, TREC and JSON have lists of caption keys by video key. A
    matrix is captions x videos in both directions. `whole` is filled if the file is a matrix.
    places: the row of each caption and the column of each video in a matrix, by number.
    """
    source = source or str(path)
    if depth is not None and depth < 1:
        raise InvalidInput(f"the depth is {depth}; it must be at least 1")
    if format == "auto":
        format = format_of(path, source)
    if format == "npy":
        matrix = MatrixReader(query_numbers, video_numbers, source, places, original)
        return with_tie_warning(
            matrix.read(path, depth or DEFAULT_DEPTH, progress, direction, whole)
        )
    if places is not None:
        raise InvalidInput("only a .npy matrix can have a file of keys", source=source)
    rows, items = query_numbers, video_numbers
    if direction is Direction.VIDEO_TO_TEXT:
        rows, items, texts, original = items, rows, None, None
    if format == "json":
        blocks = TextBlocks(
            path, source=source, progress=progress, max_line=None, max_bytes=MAX_JSON_BYTES
        )
        json = JsonReader(rows, items, texts, original, direction)
        return with_tie_warning(json.read(blocks, depth))
    if format == "trec":
        blocks = TextBlocks(path, source=source, progress=progress)
        return with_tie_warning(TrecReader(rows, items, direction).read(blocks, depth))
    raise InvalidInput(f"unknown format {shown(format)}; use auto, {', '.join(FORMATS)}")


def format_of(path: Path, source: str | None = None) -> str:
    """Detect the format: .npy by its first bytes, JSON by its first bracket, otherwise TREC."""
    head = first_bytes(path, source or str(path))
    if head.startswith(MAGIC):
        return "npy"
    first = head.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n")[:1]
    return "json" if first in (b"{", b"[") else "trec"
