"""The options of an export."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

# The columns of the details file of a label set (`LabelSet.details_file`).
JUDGMENT_COLUMNS = ("judged_at", "seconds", "guideline", "missing")


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """The options of an export. Each format accepts some of them.

    licence: the licence of the labels. texts: whether rows contain the text of the caption.
    hub_id: the name of the data set on the Hugging Face Hub. columns: additional columns of the
    format `judgments`, from `JUDGMENT_COLUMNS`.
    """

    licence: str = ""
    texts: bool = False
    hub_id: str = ""
    columns: tuple[str, ...] = ()


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
