"""LaTeX texts and tables (with the package booktabs), and BibTeX entries.

Tables fit into `article` in 10 pt, with one column and with two. Widths are estimated from above.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

UNDEFINED = "--"
COLUMN_POINTS = 221.0
"""The width of a column of `article` with two columns on A4, which is narrower than Letter."""
PAGE_POINTS = 345.0
"""The width of the text of `article` with one column. Two columns together are wider."""
CELL_POINTS = 145.0
"""Wider cells are broken into lines."""
_GAP_POINTS = 12.0
_TOKEN = re.compile(r"\\ifdefined.*?\\fi\{\}|\\[A-Za-z]+(?:\{\})?|\\.|\$[^$]*\$|.", re.DOTALL)
# The widths of letters and marks in the font of 10 pt, rounded up. Others are 8.4 pt wide.
_POINTS = {
    **dict.fromkeys("abcdefghijklnopqrstuvxyz", 5.6),
    **dict.fromkeys("0123456789., ()[]:;'", 5.0),
    **dict.fromkeys("MW", 10.3),
    **dict.fromkeys("{}", 0.0),
}
_BREAK_POINTS = 50.0  # the width of a word after which a line may end
_MARKS = ("-", "/", ".", ",", r"\_")
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


def breakable(text: str) -> str:
    """Return LaTeX in which a line can also end after a punctuation mark and in long words."""
    parts, used = [], 0.0
    for token in _TOKEN.findall(text):
        parts.append(token)
        used = 0 if token.isspace() else used + _points_of(token)
        if used > _BREAK_POINTS or (used > _points_of("m") and token in _MARKS):
            parts.append(r"\allowbreak{}")
            used = 0
    return "".join(parts)


def table(content: Table) -> str:
    """Return the table as a float of LaTeX.

    It spans both columns of a page if it is wider than one. A still wider table is split: parts
    with some of its columns, each with the first column, stand below each other.
    """
    alignment = content.alignment or f"l{'r' * (len(content.heads) - 1)}"
    columns = list(zip(content.heads, *content.rows, strict=True))
    widths = [min(max(map(_points, cells)), CELL_POINTS) + _GAP_POINTS for cells in columns]
    cells_of = [[_cell(cell, column) for cell in column] for column in columns]
    aligned = [
        f"p{{{CELL_POINTS:g}pt}}" if width > CELL_POINTS + _GAP_POINTS - 0.01 else letter
        for letter, width in zip(alignment, widths, strict=True)
    ]
    parts = [
        _tabular("".join(aligned[at] for at in part), [cells_of[at] for at in part])
        for part in _parts(widths)
    ]
    name = "table" if sum(widths) <= COLUMN_POINTS else "table*"
    return "\n".join(
        [
            rf"\begin{{{name}}}",
            r"\centering",
            "\n\n\\bigskip\n".join(parts),
            rf"\caption{{{content.caption}}}",
            rf"\label{{{content.label}}}",
            rf"\end{{{name}}}",
            "",
        ]
    )


def _parts(widths: Sequence[float]) -> list[list[int]]:
    """Return the numbers of the columns of each part of a table that is at most a page wide."""
    parts, used = [[0]], widths[0]
    for number, width in enumerate(widths[1:], start=1):
        if used + width > PAGE_POINTS and len(parts[-1]) > 1:
            parts.append([0])
            used = widths[0]
        parts[-1].append(number)
        used += width
    return parts


def _tabular(alignment: str, columns: Sequence[Sequence[str]]) -> str:
    lines = [r" & ".join(cells) + r" \\" for cells in zip(*columns, strict=True)]
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{alignment}}}",
            r"\toprule",
            lines[0],
            r"\midrule",
            *lines[1:],
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def _cell(cell: str, column: Sequence[str]) -> str:
    """Return a cell whose lines can be broken if its column is too wide."""
    if max(map(_points, column)) <= CELL_POINTS:
        return cell
    return rf"{{\raggedright {breakable(cell)}\par}}"


def _points(text: str) -> float:
    """Return an upper limit of the printed width of LaTeX in the font of 10 pt."""
    return sum(map(_points_of, _TOKEN.findall(text)))


def _points_of(token: str) -> float:
    if token.startswith("$") and len(token) > 1:
        return _points(token[1:-1])
    if token.startswith(r"\ifdefined"):
        return 40.0  # U+ and a number
    return _POINTS.get(token, 8.4 if token.isascii() else 10.3)


def entry(kind: str, key: str, fields: Mapping[str, str]) -> str:
    """Return a BibTeX entry. fields: LaTeX by name; empty fields are left out.

    A title gets a second pair of braces, because styles write unprotected titles in lower case.
    """
    braced = {name: f"{{{text}}}" if name == "title" else text for name, text in fields.items()}
    lines = "".join(f"  {name} = {{{text}}},\n" for name, text in braced.items() if fields[name])
    return f"@{kind}{{{key},\n{lines}}}\n"
