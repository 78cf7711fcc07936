"""The analysis of docs/adding.md in each form that follows from its declaration."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client

from evaluation.lab.analyses import ANALYSES
from evaluation.lab.analyses.question import build_question
from evaluation.lab.analyses.schema import options_schema, result_schema
from evaluation.lab.services import analyse
from hearth.accounts.roles import Role
from tests.evaluation.worked import make_worked_benchmark
from tests.examples.analysis import REACH
from tests.factories import make_user

pytestmark = pytest.mark.django_db

CHOSEN = {"labels": "original", "depth": "2"}


def test_a_module_is_an_analysis(
    tmp_path: Path, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ANALYSES, "reach", REACH)
    benchmark = make_worked_benchmark(tmp_path)
    stored = analyse(question=build_question(REACH, benchmark, CHOSEN))
    assert stored.result["depth"] == 2
    assert stored.result["rows"] == [
        {"run": "A", "rank": 1, "share": 1 / 3},
        {"run": "B", "rank": 1, "share": 1 / 3},
        {"run": "A", "rank": 2, "share": 1.0},
        {"run": "B", "rank": 2, "share": 1 / 3},
    ]
    client.force_login(make_user("rita", Role.RESEARCHER))
    address = "/benchmarks/tiny/analyses/reach/"
    page = client.get(address, CHOSEN).content.decode()
    assert "Positives in the top 2" in page
    assert "Captions with a positive, %" in page
    csv = client.get(f"{address}tables/reach/", CHOSEN).content.decode().splitlines()
    assert csv[0].startswith("run,rank,share,label_set,")
    assert client.get(f"{address}charts/reach/", CHOSEN).json()["mark"]["type"] == "line"
    assert client.get(address, {"depth": "0"}).status_code == 422


def test_its_declaration_is_its_documentation() -> None:
    assert options_schema(REACH)["properties"] == {
        "depth": {
            "type": "integer",
            "minimum": 1,
            "maximum": 1000,
            "description": "Depth. Only the top N results of each list are used.",
        }
    }
    properties = result_schema(REACH)["properties"]
    assert properties["depth"] == {"type": "integer", "description": "the last rank"}
    rows = properties["rows"]["items"]
    assert rows["description"] == "The captions with a positive at this rank of a run or above."
    assert rows["properties"]["share"] == {
        "type": "number",
        "description": "Captions with a positive, %",
    }
