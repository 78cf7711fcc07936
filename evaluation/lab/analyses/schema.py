"""The JSON of options and results in the OpenAPI schema, from their declarations."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints, is_typeddict

from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.rows import Shown
from hearth.shared.options import Declared, helps_of, options_of

TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def result_schema(analysis: Analysis[Any, Any]) -> dict[str, Any]:
    """Return the JSON schema of the result of an analysis."""
    found = schema_of(analysis.result)
    return {**found, "title": analysis.name, "description": analysis.question}


def options_schema(analysis: Analysis[Any, Any]) -> dict[str, Any]:
    """Return the JSON schema of the options of an analysis."""
    properties = {declared.name: _option(declared) for declared in options_of(analysis.options)}
    return {"type": "object", "title": analysis.name, "properties": properties}


def _option(declared: Declared) -> dict[str, Any]:
    option = declared.option
    found: dict[str, Any] = {"description": f"{option.title}. {option.help}".strip()}
    bounds = {"minimum": option.low, "maximum": option.high}
    found |= {name: bound for name, bound in bounds.items() if bound is not None}
    # Lists, such as measures, may be sent as one text.
    return found if declared.many else {**found, "type": TYPES[declared.kind]}


def schema_of(hint: Any) -> dict[str, Any]:
    """Return the JSON schema of a type: of JSON, a dataclass or a `TypedDict`.

    The heads of columns, and the texts of docstrings, are the descriptions of fields.
    """
    parts = get_args(hint)
    match get_origin(hint):
        case types.UnionType:
            kept = [schema_of(part) for part in parts if part is not types.NoneType]
            found = kept[0] if len(kept) == 1 else {"anyOf": kept}
            return {**found, "nullable": True} if types.NoneType in parts else found
        case origin if origin in (list, tuple):
            return {"type": "array", "items": schema_of(parts[0])}
        case origin if origin in (dict, Mapping):
            return {"type": "object", "additionalProperties": schema_of(parts[1])}
        case origin if origin is Literal:
            return {"type": "string", "enum": list(parts)}
    if is_dataclass(hint) or is_typeddict(hint):
        return _object_schema(hint)
    return {} if hint is Any else {"type": TYPES[hint]}


def _object_schema(row: Any) -> dict[str, Any]:
    hints, noted, texts = (
        get_type_hints(row),
        get_type_hints(row, include_extras=True),
        helps_of(row),
    )
    kept = [field.name for field in fields(row)] if is_dataclass(row) else list(hints)
    properties = {}
    for name in kept:
        about = "; ".join(filter(None, [_title(get_args(noted[name])), texts.get(name)]))
        properties[name] = schema_of(hints[name]) | ({"description": about} if about else {})
    text = (inspect.getdoc(row) or "").partition("\n\n")[0]
    # Without a docstring, a dataclass has its signature in the place of one.
    is_signature = text.startswith(f"{row.__name__}(")
    description = {} if is_signature else {"description": " ".join(text.split())}
    return {"type": "object", **description, "properties": properties}


def _title(notes: tuple[Any, ...]) -> str:
    """Return the head of the column of a field, if it has one."""
    shown = next((note for note in reversed(notes) if isinstance(note, Shown)), None)
    return re.sub(r"\{(\w+)\}", r"\1", shown.title) if shown else ""
