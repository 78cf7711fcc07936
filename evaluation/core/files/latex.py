"""LaTeX texts and tables (with the package booktabs), and BibTeX entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

UNDEFINED = "--"
# The characters that LaTeX reads as commands.
SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{character: f"\\{character}" for character in "&%$#_{}"},
    }
)


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its caption. The first column holds texts, the others numbers.

    label: what `\\ref` refers to. heads and rows are LaTeX.
    """

    label: str
    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


def escape(text: str) -> str:
    """Return a text on one line that LaTeX prints as it is."""
    return " ".join(text.split()).translate(SPECIAL)


def percent(share: float | None) -> str:
    """Return a share in percent to one decimal."""
    return UNDEFINED if share is None else f"{100 * share:.1f}"


def points(difference: float | None) -> str:
    """Return a difference of shares in percentage points, with its sign."""
    return UNDEFINED if difference is None else f"${100 * difference:+.1f}$"


def coefficient(value: float | None) -> str:
    """Return a figure such as alpha to three decimals."""
    return UNDEFINED if value is None else f"${value:.3f}$"


def interval(ends: Sequence[float] | None) -> str:
    return UNDEFINED if ends is None else f"$[{ends[0]:.3f}, {ends[1]:.3f}]$"


def count(number: int) -> str:
    """Return a whole number with thousands separators."""
    return f"{number:,}"


def table(content: Table) -> str:
    """Return the table as a float."""
    lines = [r" & ".join(cells) + r" \\" for cells in (content.heads, *content.rows)]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\begin{{tabular}}{{l{'r' * (len(content.heads) - 1)}}}",
            r"\toprule",
            lines[0],
            r"\midrule",
            *lines[1:],
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{content.caption}}}",
            rf"\label{{{content.label}}}",
            r"\end{table}",
            "",
        ]
    )


def entry(kind: str, key: str, fields: Mapping[str, str]) -> str:
    """Return a BibTeX entry. fields: LaTeX, without empty ones."""
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
    return f"@{kind}{{{key},\n{lines}}}\n"
