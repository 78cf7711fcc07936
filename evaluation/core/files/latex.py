"""LaTeX texts and tables (with the package booktabs), and BibTeX entries."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

UNDEFINED = "--"
# The characters that LaTeX reads as commands, or prints as other characters.
SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    # LaTeX would read these as an argument if they follow the end of a row.
    **{character: f"{{{character}}}" for character in "[]*"},
    **{character: f"\\{character}" for character in "&%$#_{}"},
}
# pdfLaTeX prints these without additional packages. XeLaTeX and LuaLaTeX print all characters.
LATIN = {chr(code) for code in range(0xA1, 0x180)} - set("\u00ad«»ÐÞðþĄąĐđĘęĦħĮįĸĿŀŉŊŋŦŧŲųſ") | set(
    "–—‘’“”†‡•…‰€™→"
)


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its caption.

    label: the name for `\\ref`. caption, heads, rows: LaTeX. alignment: a letter for each column.
    By default, the first column is aligned left and the others right.
    """

    label: str
    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    alignment: str = ""


def escape(text: str) -> str:
    """Return LaTeX that prints the text as it is, on one line.

    If the fonts of pdfLaTeX lack a character, its number is printed instead, such as U+72AC.
    """
    printed = "".join(map(_printed, " ".join(text.split())))
    return re.sub("-(?=-)", "-{}", printed)  # two hyphens would be a dash


def _printed(character: str) -> str:
    if character.isascii() or character in LATIN:
        return SPECIAL.get(character, character)
    return rf"\ifdefined\Umathchar {character}\else U+{ord(character):04X}\fi{{}}"


def percent(share: float | None) -> str:
    """Return a share in % with one decimal, without the sign %."""
    return UNDEFINED if share is None else f"{100 * share:.1f}"


def points(difference: float | None) -> str:
    """Return a difference of shares in percentage points with one decimal and a plus or minus."""
    return UNDEFINED if difference is None else f"${100 * difference:+.1f}$"


def coefficient(value: float | None) -> str:
    """Return a figure such as alpha with three decimals."""
    return UNDEFINED if value is None else f"${value:.3f}$"


def interval(ends: Sequence[float] | None) -> str:
    """Return the lower and the upper end of an interval with three decimals."""
    return UNDEFINED if ends is None else f"$[{ends[0]:.3f}, {ends[1]:.3f}]$"


def count(number: int) -> str:
    """Return a whole number with thousands separators."""
    return f"{number:,}"


def table(content: Table) -> str:
    """Return the table as a float of LaTeX, the environment `table`."""
    alignment = content.alignment or f"l{'r' * (len(content.heads) - 1)}"
    lines = [r" & ".join(cells) + r" \\" for cells in (content.heads, *content.rows)]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\begin{{tabular}}{{{alignment}}}",
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
    """Return a BibTeX entry. fields: LaTeX by name; empty fields are left out.

    A title gets a second pair of braces, because styles write unprotected titles in lower case.
    """
    braced = {name: f"{{{text}}}" if name == "title" else text for name, text in fields.items()}
    lines = "".join(f"  {name} = {{{text}}},\n" for name, text in braced.items() if fields[name])
    return f"@{kind}{{{key},\n{lines}}}\n"
