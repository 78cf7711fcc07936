"""LaTeX: texts that are printed unchanged, numbers, tables and BibTeX entries."""

from __future__ import annotations

import pytest

from evaluation.core.files import latex
from evaluation.core.files.latex import Table


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a_b & 50% #1 $x {y}", r"a\_b \& 50\% \#1 \$x \{y\}"),
        ("\\input{x}", r"\textbackslash{}input\{x\}"),
        ("~^", r"\textasciitilde{}\textasciicircum{}"),
        ("[0] *<a|b>`", r"{[}0{]} {*}\textless{}a\textbar{}b\textgreater{}\textasciigrave{}"),
        ("a---b-c", "a-{}-{}-b-c"),
        ("größe Ł – 5 €", "größe Ł – 5 €"),
        ("犬a", r"\ifdefined\Umathchar 犬\else U+72AC\fi{}a"),
        ("two\nlines % here", r"two lines \% here"),
    ],
)
def test_texts_are_printed_unchanged(text: str, written: str) -> None:
    assert latex.escape(text) == written


def test_numbers() -> None:
    assert [latex.percent(0.5), latex.percent(None)] == ["50.0", "--"]
    assert [latex.points(-0.0512), latex.points(0.1)] == ["$-5.1$", "$+10.0$"]
    assert latex.interval([0.5, 0.75]) == "$[0.500, 0.750]$"


def test_a_table_has_a_column_per_head() -> None:
    written = latex.table(Table("tab:x", "A caption.", ["Run", "C@1"], [["a", "1"], ["b", "2"]]))
    assert written == (
        "\\begin{table}\n\\centering\n\\begin{tabular}{lr}\n\\toprule\nRun & C@1 \\\\\n\\midrule\n"
        "a & 1 \\\\\nb & 2 \\\\\n\\bottomrule\n\\end{tabular}\n\\caption{A caption.}\n"
        "\\label{tab:x}\n\\end{table}\n"
    )


def test_an_entry_has_no_empty_fields() -> None:
    fields = {"title": "T", "author": "", "year": "2026"}
    assert latex.entry("misc", "k", fields) == "@misc{k,\n  title = {{T}},\n  year = {2026},\n}\n"
