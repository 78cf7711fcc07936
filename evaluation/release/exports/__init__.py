"""Label sets in formats that other programs read, made from the frozen files.

Only comments are read from the log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from evaluation.models import LabelSet
from evaluation.release.exports import retrieval, tables
from evaluation.release.exports.comments import comments
from evaluation.release.exports.fire import fire
from evaluation.release.exports.moments import FORMS as FORMS_OF_MOMENTS
from evaluation.release.exports.options import (
    CONTENTS,
    DEFAULT,
    JUDGMENT_COLUMNS,
    ExportOptions,
    chosen_options,
)
from evaluation.release.exports.qrels import qrels
from evaluation.release.exports.release import release
from evaluation.release.policies import can_export_comments
from hearth.shared.errors import InvalidInput
from pooling.models import Benchmark
from pooling.moments.selectors import has_moments

CSV = "text/csv; charset=utf-8"


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """An export format.

    suffix: the end of its file names. pieces: a function that yields the file in pieces. options:
    the names of the `ExportOptions` that the format accepts. is_for_leads: whether only leads may
    download it. of_moments: whether it is offered only for benchmarks with moments.
    """

    title: str
    suffix: str
    content_type: str
    pieces: Callable[[LabelSet, ExportOptions], Iterator[bytes]]
    options: tuple[str, ...] = ()
    is_for_leads: bool = False
    of_moments: bool = False


def open_export(
    label_set: LabelSet, format: str, options: ExportOptions = DEFAULT
) -> Iterator[bytes]:
    """Return the label set as pieces of bytes.

    Raises `InvalidInput` if the format or a column is unknown, or if the format does not accept an
    option.
    """
    if format not in FORMATS:
        raise InvalidInput(f"The format must be one of {', '.join(FORMATS)}, not {format!r}.")
    if unknown := [name for name in options.columns if name not in JUDGMENT_COLUMNS]:
        raise InvalidInput(
            f"The columns of the format judgments must be among {', '.join(JUDGMENT_COLUMNS)}, "
            f"not {unknown[0]!r}."
        )
    for option in chosen_options(options):
        if option not in FORMATS[format].options:
            accepting = [name for name, kind in FORMATS.items() if option in kind.options]
            raise InvalidInput(
                f"The format {format} cannot contain {CONTENTS[option]}. "
                f"Use one of these formats: {', '.join(accepting)}."
            )
    return FORMATS[format].pieces(label_set, options)


def file_stem(label_set: LabelSet) -> str:
    return f"{label_set.benchmark.key}-labels-v{label_set.reference}"


def formats_for(user: Any, benchmark: Benchmark) -> dict[str, ExportFormat]:
    """Return the formats that the user may download, by name."""
    is_lead, moments = can_export_comments(user, benchmark), has_moments(benchmark)
    return {
        name: kind
        for name, kind in FORMATS.items()
        if (is_lead or not kind.is_for_leads) and (moments or not kind.of_moments)
    }


FORMATS: dict[str, ExportFormat] = {
    "csv": ExportFormat("Labels, one line per pair", ".csv", CSV, tables.csv),
    "judgments": ExportFormat(
        "Single judgments, under pseudonyms", "-judgments.csv", CSV, tables.judgments, ("columns",)
    ),
    "comments": ExportFormat(
        "Comments of annotators and leads", "-comments.csv", CSV, comments, is_for_leads=True
    ),
    "qrels": ExportFormat("TREC qrels", ".qrels", "text/plain; charset=utf-8", qrels),
    "fire": ExportFormat("FIRE JSON", ".json", "application/json", fire, ("licence",)),
    "spreadsheet": ExportFormat(
        "Labels for spreadsheets", "-spreadsheet.csv", CSV, tables.spreadsheet, ("texts",)
    ),
    "jsonl": ExportFormat(
        "JSON lines", ".jsonl", "application/jsonl", tables.json_lines, ("texts",)
    ),
    "parquet": ExportFormat(
        "Parquet", ".parquet", "application/vnd.apache.parquet", tables.parquet, ("texts",)
    ),
    "beir": ExportFormat(
        "BEIR folder (zip)", "-beir.zip", "application/zip", retrieval.beir, ("licence",)
    ),
    "ir-datasets": ExportFormat(
        "Folder for ir_datasets (zip)",
        "-ir-datasets.zip",
        "application/zip",
        retrieval.ir_datasets,
        ("licence",),
    ),
    "mteb": ExportFormat(
        "MTEB data set and results of runs (zip)",
        "-mteb.zip",
        "application/zip",
        retrieval.mteb,
        ("licence",),
    ),
    "release": ExportFormat(
        "Release: data set folder with datasheet and metadata (zip)",
        "-release.zip",
        "application/zip",
        release,
        ("licence", "texts", "hub_id"),
    ),
    **{
        name: ExportFormat(title, suffix, content_type, pieces, of_moments=True)
        for name, (title, suffix, content_type, pieces) in FORMS_OF_MOMENTS.items()
    },
}
