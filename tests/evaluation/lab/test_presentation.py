"""How a result is presented: tables, settings, downloads and the colours of systems."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from evaluation.lab.analyses import get_analysis
from evaluation.lab.analyses.question import build_form, build_question
from evaluation.lab.analyses.ranks import SOURCES
from evaluation.lab.analyses.tables import ROWS_MAX, Column, Table
from evaluation.lab.selectors import run_numbers
from evaluation.lab.services import analyse
from hearth.accounts.roles import Role
from pooling.models import Benchmark
from tests.evaluation.worked import make_worked_benchmark
from tests.factories import make_run, make_user

PAGE = "/benchmarks/tiny/analyses/ranks/"
OVERLAP = "/benchmarks/tiny/analyses/overlap/"


@pytest.fixture
def benchmark(db: None, tmp_path: Path) -> Benchmark:
    return make_worked_benchmark(tmp_path)


@pytest.fixture
def rita(client: Client) -> Client:
    client.force_login(make_user("rita", Role.RESEARCHER))
    return client


def test_a_file_has_intervals_in_two_columns_and_no_formulas() -> None:
    columns = [Column("run", "Run"), Column("score", "Score", "percent"), Column("ends", "Ends")]
    rows = [
        {"run": "=A", "score": 1 / 3, "ends": [0.25, 0.5]},
        {"run": "B", "score": None, "ends": None},
    ]
    table = Table("scores", "Scores", columns, rows)
    assert table.csv({"label_set": 1}).splitlines() == [
        "run,score,ends_low,ends_high,label_set",
        "'=A,0.3333333333333333,0.25,0.5,1",
        "B,,,,1",
    ]


def test_a_table_in_latex_has_the_numbers_of_the_page() -> None:
    columns = [
        Column("run", "Run"),
        Column("direction", "Direction"),
        Column("score", "Score, %", "percent"),
        Column("interval", "95 % interval", "points"),
    ]
    rows = [
        {"run": "a_b", "direction": "to text", "score": 0.5, "interval": [-0.25, 0.5]},
        {"run": "c", "direction": "to text", "score": None, "interval": None},
    ]
    table = Table("scores", "Scores, gain 2 − 1", columns, rows, note="Of all captions.")
    assert table.latex("scores", {"label_set": "1.0.0"}).splitlines() == [
        r"% Needs \usepackage{booktabs}.",
        "% label_set: 1.0.0",
        r"\begin{table*}",
        r"\centering",
        r"\begin{tabular}{llrr}",
        r"\toprule",
        r"Run & Direction & Score, \% & 95 \% interval \\",
        r"\midrule",
        r"a\_b & to text & 50.0 & $-$ 25.0 to + 50.0 \\",
        r"c & to text & -- & -- \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\caption{Scores, gain 2 $-$ 1. Of all captions.}",
        r"\label{tab:scores}",
        r"\end{table*}",
    ]


def test_a_page_states_how_many_rows_are_only_in_the_file() -> None:
    rows = [{"rank": number} for number in range(ROWS_MAX + 3)]
    table = Table("ranks", "Ranks", [Column("rank", "Rank", "count")], rows)
    assert (len(table.visible_rows), table.n_hidden) == (ROWS_MAX, 3)
    assert Table("ranks", "Ranks", table.columns, rows[:5]).n_hidden == 0


def test_settings_are_collapsed_and_summarised(benchmark: Benchmark, rita: Client) -> None:
    form = build_form(get_analysis("scores").form, benchmark, {"resamples": "200", "runs": ["A"]})
    assert form.summary == [
        ("Labels", "Label set 1.0.0"),
        ("Measures", "C@1 C@5 C@10 AP AP(found)"),
        ("Resamples", "200"),
        ("Runs", "A"),
    ]
    assert '<details class="lab-form">' in rita.get(PAGE).content.decode()
    wrong = rita.get(PAGE, {"depth": "0"})
    assert (wrong.status_code, '<details class="lab-form" open>' in wrong.content.decode()) == (
        422,
        True,
    )


def test_a_chart_is_downloaded_as_a_file(benchmark: Benchmark, rita: Client) -> None:
    stored = analyse(question=build_question(get_analysis("ranks"), benchmark, {}))
    response = rita.get(f"{PAGE}charts/ranks/")
    name = f"tiny-ranks-labels1.0.0-{stored.key[:12]}-ranks.vl.json"
    assert response["Content-Disposition"] == f'attachment; filename="{name}"'
    spec = json.loads(response.content)
    assert spec["$schema"] == "https://vega.github.io/schema/vega-lite/v6.json"
    kinds = spec["usermeta"].pop("kinds")
    assert spec["usermeta"] == {"inputs": stored.inputs, "systems": {"A": 0, "B": 1}}
    assert {name: kinds[name] for name in SOURCES.values()} == {
        "Original positives": "original",
        "New positives": "labels",
    }


def test_a_new_run_keeps_the_colours_of_the_others(benchmark: Benchmark, tmp_path: Path) -> None:
    assert run_numbers(benchmark) == {"A": 0, "B": 1}
    make_run(tmp_path, benchmark, {"c0": ["v0"]}, system="0 comes first by name")
    assert run_numbers(benchmark) == {"A": 0, "B": 1, "0 comes first by name": 2}


def test_a_matrix_of_many_runs_is_a_list_of_pairs_on_a_phone(
    benchmark: Benchmark, rita: Client, tmp_path: Path
) -> None:
    def usermeta() -> dict[str, Any]:
        analyse(question=build_question(get_analysis("overlap"), benchmark, {}))
        found: dict[str, Any] = rita.get(f"{OVERLAP}charts/overlap/").json()["usermeta"]
        return found

    make_run(tmp_path, benchmark, {"c0": ["v0"]}, system="C")
    make_run(tmp_path, benchmark, {"c0": ["v1"]}, system="D")
    assert "narrow" not in usermeta()
    make_run(tmp_path, benchmark, {"c0": ["v0"], "c1": ["v0"]}, system="E")
    rows = usermeta()["narrow"]["data"]["values"]
    shares = [row["overlap"] for row in rows]
    assert (len(rows), rows[0]["pair"]) == (10, "A – B")
    assert shares == sorted(shares, reverse=True)


def test_settings_of_the_comparison_are_collapsed_if_there_are_lists(
    benchmark: Benchmark, rita: Client
) -> None:
    page = rita.get("/benchmarks/tiny/compare/", {"show": "every"}).content.decode()
    assert '<details class="lab-form">' in page
    assert "<span>Correct runs: <bdi>all runs correct</bdi></span>" in page
    nothing = rita.get("/benchmarks/tiny/compare/", {"text": "cat"}).content.decode()
    assert '<details class="lab-form" open>' in nothing


@pytest.mark.parametrize(
    ("name", "rows", "table"),
    [("leaderboard", "board", "moves"), ("replay", "systems", "budgets")],
)
def test_tau_is_shown_for_five_systems_or_more(
    benchmark: Benchmark, name: str, rows: str, table: str
) -> None:
    analysis = get_analysis(name)
    result = analyse(question=build_question(analysis, benchmark, {})).result
    for systems in (4, 5):
        is_list = isinstance(result[rows], list)
        result[rows] = [result[rows][0]] * systems if is_list else systems
        found = next(each for each in analysis.tables(result) if each.name == table)
        assert ("tau" in {column.key for column in found.columns}) is (systems == 5)
        assert ("Kendall’s tau is shown for 5 or more systems" in found.note) is (systems == 4)


def test_tau_of_five_systems_is_in_the_note_on_their_ranks(benchmark: Benchmark) -> None:
    analysis = get_analysis("significance")
    result = analyse(question=build_question(analysis, benchmark, {"measure": "P@2"})).result
    for systems, start in ((4, "Kendall’s tau is shown for 5"), (5, "Kendall’s tau of both")):
        result["ranks"] = [result["ranks"][0]] * systems
        (note,) = (table.note for table in analysis.tables(result) if table.name == "ranks")
        assert note.startswith(start)
