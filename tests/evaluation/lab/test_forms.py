"""Every analysis in every form that follows from its declarations.

For the analyses that existed before analyses were declared, `golden/forms.json` has what each form
was: the fields of the page,
the result as JSON, and its tables, files, charts and texts. Numbers are rounded to nine digits, and
long forms are hashed.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from evaluation.lab.analyses import ANALYSES
from evaluation.lab.analyses.question import build_question
from evaluation.lab.analyses.schema import result_schema
from evaluation.lab.api import described
from evaluation.lab.services import analyse
from evaluation.management.commands.analyse import table_lines
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from pooling.models import Benchmark
from tests.evaluation.worked import make_ordered_benchmark, make_worked_benchmark
from tests.factories import add_judgments

GOLDEN = Path(__file__).with_name("golden") / "forms.json"
# The second opinions of another annotator, one of which differs.
SECOND = [("c0", "v0", "ben", 1), ("c0", "v2", "ben", 0), ("c1", "v2", "ben", 0)]
# The forms that `golden/forms.json` has as hashes.
SHORT = ("latex", "charts")
OPTIONS = {"slices": {"by": "tags"}, "plan": {"pairs": "3", "disagreement": "0.1"}}


@pytest.fixture
def benchmarks(db: None, tmp_path: Path) -> dict[bool, Benchmark]:
    """The benchmark of an analysis, by whether it needs ordering studies."""
    benchmark = make_worked_benchmark(tmp_path)
    add_judgments(tmp_path, benchmark, SECOND)
    publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)
    return {False: benchmark, True: make_ordered_benchmark(tmp_path)}


def test_every_form_is_as_before(benchmarks: dict[bool, Benchmark]) -> None:
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    study = benchmarks[True].campaigns.get(question="order").pk
    for name in golden:
        forms = forms_of(name, benchmarks)
        if ANALYSES[name].needs_studies:
            forms |= {form: with_study(forms[form], study) for form in ("json", "chosen")}
        for form, content in forms.items():
            assert content == golden[name][form], (name, form)


def test_the_schema_describes_the_results(benchmarks: dict[bool, Benchmark]) -> None:
    for name, analysis in ANALYSES.items():
        question = build_question(analysis, benchmarks[analysis.needs_studies], {})
        schema = result_schema(analysis)
        assert undescribed(schema, analyse(question=question).result) == [], name


def undescribed(schema: dict[str, Any], value: Any, at: str = "") -> list[str]:
    """Return the places of JSON whose keys or types are not those of the schema."""
    if value is None:
        return [] if schema.get("nullable") else [at]
    if isinstance(value, list):
        parts = [(f"{at}[]", schema.get("items", {}), part) for part in value]
    elif isinstance(value, dict) and "additionalProperties" in schema:
        parts = [(f"{at}.*", schema["additionalProperties"], part) for part in value.values()]
    elif isinstance(value, dict):
        known = schema.get("properties", {})
        missing = {name for name, part in known.items() if "nullable" not in part} - set(value)
        parts = [(f"{at}.{name}", known.get(name, {}), part) for name, part in value.items()]
        parts += [(f"{at}.{name}", {}, "missing") for name in missing]
    else:
        kinds = {bool: "boolean", int: "integer", float: "number", str: "string"}
        kind = schema.get("type")
        # A number of JSON can be whole.
        is_right = kind == kinds[type(value)] or (kind == "number" and type(value) is int)
        return [] if is_right else [at]
    return [place for name, part, content in parts for place in undescribed(part, content, name)]


def forms_of(name: str, benchmarks: dict[bool, Benchmark]) -> dict[str, Any]:
    analysis = ANALYSES[name]
    data = {"resamples": "100"} if "resamples" in analysis.form.base_fields else {}
    data |= OPTIONS.get(name, {})
    question = build_question(analysis, benchmarks[analysis.needs_studies], data)
    # PostgreSQL does not keep the order of keys, so the result is not read again.
    result = json.loads(json.dumps(analyse(question=question).result))
    tables = analysis.tables(result)
    forms = {
        "described": described(analysis),
        "chosen": question.options,
        "json": result,
        "texts": [*analysis.findings(result), *analysis.warnings(result)],
        "tables": {table.name: [table.title, table.note, *table_lines(table)] for table in tables},
        "csv": {table.name: table.csv({"label_set": 1}).splitlines() for table in tables},
        "latex": {table.name: table.latex("t", {"label_set": 1}) for table in tables},
        "charts": {
            chart.name: [chart.title, chart.text, drawn(chart.spec), drawn(chart.narrow)]
            for chart in analysis.charts(result)
        },
    }
    found = {form: rounded(content) for form, content in json.loads(json.dumps(forms)).items()}
    # The cells and the data of these forms are those of the tables.
    short = {form: {name: sha256(part) for name, part in found[form].items()} for form in SHORT}
    return found | short


def with_study(value: Any, study: int) -> Any:
    """Return the value with the primary key that the ordering study has in `golden/forms.json`."""
    if isinstance(value, dict):
        ours = {"study": (study, 3), "studies": ([str(study)], ["3"])}
        return {
            key: ours[key][1] if key in ours and part == ours[key][0] else with_study(part, study)
            for key, part in value.items()
        }
    return [with_study(part, study) for part in value] if isinstance(value, list) else value


def drawn(spec: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return a specification without the fields of its data that no encoding uses."""
    if spec is None:
        return None
    used = re.findall(r'"field": "([^"]+)"', json.dumps(spec, ensure_ascii=False))
    values = [{key: row[key] for key in row if key in used} for row in spec["data"]["values"]]
    return {**spec, "data": {"values": values}}


def sha256(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: rounded(part) for key, part in sorted(value.items())}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    if isinstance(value, str):
        return re.sub(r"-?\d+\.\d{9,}(e-?\d+)?", lambda found: f"{float(found[0]):.9g}", value)
    return float(f"{value:.9g}") if isinstance(value, float) else value
