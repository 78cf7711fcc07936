"""LaTeX: texts that are printed unchanged, numbers, tables and BibTeX entries."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

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


def test_a_wide_table_spans_columns_and_is_split() -> None:
    scores = "63.2 (42.1 $+21.1$)"
    two = latex.table(Table("tab:x", "C.", ["Run", "C@1", "C@5"], [["a", scores, scores]]))
    assert two.startswith("\\begin{table*}\n")
    assert two.count("tabular}{lrr}") == 1
    heads = ["Run", *(f"C@{k}" for k in range(1, 6))]
    five = latex.table(Table("tab:x", "C.", heads, [["a", *[scores] * 5]]))
    assert [line for line in five.split("\n") if line.startswith("Run")] == [
        r"Run & C@1 & C@2 & C@3 \\",
        r"Run & C@4 & C@5 \\",
    ]
    name = "clip\\_vit-b/32" + "w" * 20
    long = latex.table(Table("tab:x", "C.", ["Run", "C@1"], [[name, "1"]]))
    assert "\\begin{tabular}{p{145pt}r}" in long
    assert (
        "{\\raggedright clip\\_\\allowbreak{}vit-\\allowbreak{}b/\\allowbreak{}32wwwww"
        "\\allowbreak{}wwwwww\\allowbreak{}wwwwww\\allowbreak{}www\\par} & 1"
    ) in long


NAMES = ["CLIP4Clip-meanP-ViT-B/32", "w" * 40, "犬" * 9, "a\\b^c~d", "MMMM WWWW", "x"]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX")
@pytest.mark.parametrize("columns", ["onecolumn", "twocolumn"])
def test_no_line_overflows(tmp_path: Path, columns: str) -> None:
    names = list(map(latex.escape, NAMES))
    score = "100.0 (100.0 $-100.0$)"
    tables = [
        Table(
            "t:a",
            f"C {names[0]}.",
            ["Run", *["AP(found)@20"] * 5],
            [[n, *[score] * 5] for n in names],
        ),
        Table("t:b", "C.", ["Run", *map(str, range(1, 7))], [[n, *["$0.123$"] * 6] for n in names]),
        Table("t:c", "C.", ["", "Number"], [["Pairs without a decision", "1,234,567"]]),
        Table("t:d", "C.", ["Caption", "Run"], [[" ".join(names), n] for n in names], "ll"),
    ]
    lines = [
        rf"\documentclass[a4paper,{columns}]{{article}}\usepackage{{booktabs}}\begin{{document}}",
        *map(latex.table, tables),
        r"\end{document}",
    ]
    (tmp_path / "x.tex").write_text("\n".join(lines))
    run = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "x.tex"]
    printed = subprocess.run(
        run, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False
    )
    assert (printed.returncode, printed.stdout.count("Overfull")) == (0, 0), printed.stdout


def test_an_entry_has_no_empty_fields() -> None:
    fields = {"title": "T", "author": "", "year": "2026"}
    assert latex.entry("misc", "k", fields) == "@misc{k,\n  title = {{T}},\n  year = {2026},\n}\n"
