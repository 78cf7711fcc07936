"""The options of an export."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Any

from hearth.shared.options import Option

# The columns of the details file of a label set (`LabelSet.details_file`).
JUDGMENT_COLUMNS = ("judged_at", "seconds", "guideline", "missing")


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """The options of an export. Each format accepts some of them.

    licence: The licence of the labels, for the formats fire, beir, mteb and release; by default,
        that of the benchmark.
    texts: Add the texts of the captions, for the formats spreadsheet, jsonl, parquet and release.
    hub_id: The name of the data set on the Hugging Face Hub, for the format release; by default,
        the key of the benchmark.
    """

    licence: Annotated[str, Option("Licence", length=200)] = ""
    texts: Annotated[bool, Option("Texts")] = False
    hub_id: Annotated[str, Option("Hub id", length=200, metavar="NAME")] = ""
    columns: Annotated[
        tuple[str, ...],
        Option(
            "Columns",
            f"Additional columns of the format judgments: {', '.join(JUDGMENT_COLUMNS)}.",
            flag="column",
        ),
    ] = ()


DEFAULT = ExportOptions()
# The content that an option adds to a file, for error messages.
CONTENTS = {
    "columns": "columns of single judgments",
    "licence": "a licence",
    "texts": "the texts of captions",
    "hub_id": "the name of a data set on the Hugging Face Hub",
}


def chosen_options(options: ExportOptions) -> dict[str, Any]:
    """Return the options that differ from the default, by name."""
    default = asdict(DEFAULT)
    return {name: value for name, value in asdict(options).items() if value != default[name]}
