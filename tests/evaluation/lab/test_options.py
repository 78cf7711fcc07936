"""The options of each analysis have the keys and the types that the analysis declares."""

from __future__ import annotations

from pathlib import Path
from types import UnionType
from typing import Any, NotRequired, get_args, get_origin, get_type_hints

import pytest

from evaluation.lab.analyses import ANALYSES as ALL
from evaluation.lab.analyses.fields import DIRECTION
from evaluation.lab.analyses.forms import COMMON_FIELDS
from evaluation.lab.analyses.old_analysis import Analysis
from evaluation.lab.analyses.question import build_question
from pooling.models import Benchmark
from tests.evaluation.worked import make_ordered_benchmark, make_worked_benchmark
from tests.factories import add_tags, add_train_captions

ANALYSES = {name: one for name, one in ALL.items() if isinstance(one, Analysis)}
# Form data with which an analysis has all its options.
DATA = {"slices": {"by": "tags"}}
# Form data with values for the fields that may be empty.
ENTERED = {
    "label-noise": {"rates": "typed", "false_alarms": "1.5", "misses": "2"},
    "matching": {"threshold": "0.5"},
    "plan": {"pairs": "3", "disagreement": "0.1", "seconds": "2"},
}


@pytest.fixture
def benchmark(db: None, tmp_path: Path) -> Benchmark:
    benchmark = make_worked_benchmark(tmp_path)
    add_tags(tmp_path, benchmark, ("c0", "early"))
    add_train_captions(tmp_path, benchmark, "a dog")
    return benchmark


@pytest.mark.parametrize("name", ANALYSES)
def test_the_form_has_the_declared_fields(name: str) -> None:
    analysis = ANALYSES[name]
    fields = set(analysis.form.base_fields) - {*COMMON_FIELDS, DIRECTION}
    is_filled = get_type_hints(analysis.fill_defaults)["options"] is not Any
    declaring = analysis.fill_defaults if is_filled else analysis.compute
    declared = declared_types(declaring)
    required = {key for key, hint in declared.items() if get_origin(hint) is not NotRequired}
    assert required == fields


@pytest.mark.parametrize("entered", [{}, ENTERED], ids=["empty", "entered"])
def test_options_are_as_declared(
    benchmark: Benchmark, tmp_path: Path, entered: dict[str, dict[str, str]]
) -> None:
    wrong, ordered = {}, make_ordered_benchmark(tmp_path)
    for name, analysis in ANALYSES.items():
        data = DATA.get(name, {}) | entered.get(name, {})
        used = ordered if analysis.needs_studies else benchmark
        options = build_question(analysis, used, data).options
        declared = declared_types(analysis.compute)
        wrong[name] = set(options) ^ set(declared) or {
            key for key, hint in declared.items() if not has_type(options[key], hint)
        }
    assert {name: keys for name, keys in wrong.items() if keys} == {}


def declared_types(function: Any) -> dict[str, Any]:
    """Return the types of the parameter `options`, by the keys of its `TypedDict`."""
    declared: dict[str, Any] = get_type_hints(
        get_type_hints(function)["options"], include_extras=True
    )
    return declared


def has_type(value: Any, hint: Any) -> bool:
    """Return whether a value of JSON has the type. An `int` also has the type `float`."""
    parts = get_args(hint)
    match get_origin(hint):
        case None:
            return type(value) is hint or (hint is float and type(value) is int)
        case origin if origin is UnionType:
            return any(has_type(value, part) for part in parts)
        case origin if origin is NotRequired:
            return has_type(value, parts[0])
        case origin if origin is list:
            return type(value) is list and all(has_type(item, parts[0]) for item in value)
        case origin if origin is dict:
            keys, values = parts
            return type(value) is dict and all(
                has_type(key, keys) and has_type(item, values) for key, item in value.items()
            )
    raise AssertionError(hint)
