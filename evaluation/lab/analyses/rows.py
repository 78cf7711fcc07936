"""Results as frozen dataclasses, from which JSON, tables, files and the API's documents follow.

    @dataclass(frozen=True, slots=True)
    class Loss:
        run: Run
        bias: Annotated[float | None, Shown("Difference, points", "points")]
        pairs: Annotated[int, Shown("Pairs only it contributed", "count")]

A field is a key of the JSON object. With `Shown`, it is also a column of tables. A property whose
type is annotated in the same way is a column, but no key. The docstring of the class can describe
fields as `name: text`, for the documents of the API. Results are stored as JSON, so a `float` can
be an `int`, and intervals are lists.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from typing import Annotated, Any, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

from evaluation.core.arrays import FloatArray
from evaluation.lab.analyses.tables import Column

T = TypeVar("T")

Ends: TypeAlias = list[float]
"""The lower and the upper end of an interval."""


Compared: TypeAlias = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""The options of the comparison to which the cell of a row links; empty if it has no link."""


@dataclass(frozen=True, slots=True)
class Shown:
    """How tables show a value of a row.

    title: the head of its column, in which `{name}` is replaced by an attribute of the result.
    kind: a key of `hearth.shared.numbers.FORMATS`. write: returns the value as tables show it. key:
    the name of the column, if it is not the name of the field. compared, page, tracks: `compared`,
    `names` and `tracks` of `Column`.
    """

    title: str
    kind: str = "text"
    write: Callable[[Any], Any] | None = None
    key: str = ""
    compared: Compared | None = None
    page: str = ""
    tracks: tuple[str, ...] = ()


def of_caption(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options of the comparison of a row's caption."""
    return {"caption": row["caption_id"]}


Run = Annotated[str, Shown("Run")]
OtherRun = Annotated[str, Shown("Other run")]
MeasureName = Annotated[str, Shown("Measure")]
ProxyName = Annotated[str, Shown("Proxy")]
Score = float | None
Caption = Annotated[str, Shown("Caption", page="caption")]
CaptionKey = Annotated[str, Shown("Key", compared=of_caption)]
VideoKey = Annotated[str, Shown("Video", page="video")]
Interval = Annotated[Ends | None, Shown("{interval}", "percent")]
PointsInterval = Annotated[Ends | None, Shown("{interval}", "points")]
CoefficientInterval = Annotated[Ends | None, Shown("{interval}", "coefficient")]


@dataclass(frozen=True, slots=True)
class Correlation:
    """The rank correlations of two properties of captions; null if undefined."""

    spearman: Annotated[Score, Shown("Spearman’s rho", "number")]
    kendall: Annotated[Score, Shown("Kendall’s tau-b", "number")]


@dataclass(frozen=True, slots=True)
class RunCorrelation(Correlation):
    """The rank correlations of a property of captions with their scores in one run."""

    run: Run


def annotated(row: type, kind: type[T]) -> dict[str, tuple[Any, T]]:
    """Return the types and annotations of a dataclass's fields, then of its properties, by name.

    kind: the class of the annotations. The last one of a field replaces that of an alias.
    """
    hints = get_type_hints(row, include_extras=True)
    found = {field.name: hints[field.name] for field in fields(row)}
    for part in reversed(row.__mro__):
        for name, value in vars(part).items():
            if isinstance(value, property):
                found[name] = get_type_hints(value.fget, include_extras=True).get("return")
    return {
        name: (get_args(hint)[0], notes[-1])
        for name, hint in found.items()
        if get_origin(hint) is Annotated
        and (notes := [note for note in get_args(hint)[1:] if isinstance(note, kind)])
    }


@cache
def shown_fields(row: type) -> dict[str, Shown]:
    """Return how the fields of a dataclass are shown, then its properties, by name."""
    return {name: shown for name, (_, shown) in annotated(row, Shown).items()}


def columns_of(
    row: type, words: Mapping[str, Any], names: str = "", without: Iterable[str] = ()
) -> list[Column]:
    """Return the columns of a row class, in the order of its fields.

    words: replace the names in titles. names: the columns to take and their order, separated by
    spaces; all by default. without: names to leave out.
    """
    shown = shown_fields(row)
    return [
        Column(
            shown[name].key or name,
            shown[name].title.format_map(words),
            shown[name].kind,
            compared=shown[name].compared,
            names=shown[name].page,
            tracks=shown[name].tracks,
        )
        for name in names.split() or shown
        if name not in without
    ]


def cells_of(row: Any) -> dict[str, Any]:
    """Return the values of a row by the names of its columns, as tables show them."""
    kind: type = type(row)
    cells = {field.name: getattr(row, field.name) for field in fields(row)}
    for name, shown in shown_fields(kind).items():
        value = getattr(row, name)
        cells[shown.key or name] = shown.write(value) if shown.write else value
    return cells


def as_json(value: Any) -> Any:
    """Return a value with its dataclasses as JSON objects."""
    if is_dataclass(value):
        return {field.name: as_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {key: as_json(part) for key, part in value.items()}
    return [as_json(part) for part in value] if isinstance(value, list | tuple) else value


def from_json(hint: Any, value: Any) -> Any:
    """Return stored JSON as a value of this type. A missing field has its default, or is None."""
    parts = get_args(hint)
    if value is None:
        return None
    if get_origin(hint) is types.UnionType:
        return from_json(next(part for part in parts if part is not types.NoneType), value)
    if get_origin(hint) in (list, tuple):
        return get_origin(hint)(from_json(parts[0], part) for part in value)
    if get_origin(hint) is dict:
        return {key: from_json(parts[1], part) for key, part in value.items()}
    return _instance(hint, value) if is_dataclass(hint) else value


def _instance(row: Any, value: Mapping[str, Any]) -> Any:
    hints = _hints_of(row)
    return row(
        **{
            field.name: from_json(hints[field.name], value.get(field.name))
            for field in fields(row)
            if field.name in value or field.default is MISSING
        }
    )


@cache
def _hints_of(row: type) -> dict[str, Any]:
    return get_type_hints(row)


def row_of(row: type[T], source: Any, /, **given: Any) -> T:
    """Return a row with the values in `given`, and the attributes of `source` for other fields.

    An attribute that is an estimate becomes its value; the field `share_interval` gets the interval
    of the estimate `share`.
    """
    for field in fields(row):  # type: ignore[arg-type]
        if field.name not in given:
            given[field.name] = _attribute(source, field.name)
    return row(**given)


def _attribute(source: Any, name: str) -> Any:
    if hasattr(source, name):
        value = getattr(source, name)
        value = getattr(value, "value", value)
    else:
        value = getattr(source, name.removesuffix("_interval")).interval
    value = getattr(value, "ends", value)
    return list(value) if isinstance(value, tuple) else value


def mean_of(values: FloatArray) -> float | None:
    """Return a mean as JSON; null if there are no values."""
    return float(values.mean()) if len(values) else None
