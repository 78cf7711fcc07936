"""Rows in the binary format of PostgreSQL's COPY, rendered from whole columns.

A row consists of the number of its fields (2 bytes) and its fields. A field consists of its size
(4 bytes) and its value, or only of the size -1 for NULL. Numbers are big-endian. A type is named as
in a declaration of PostgreSQL, but without a length.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
# The type of a column and its values. If all values of the type have the same size, the values are
# an array, which is masked where they are NULL. Otherwise, they are a list of Python's values.
Column: TypeAlias = "tuple[str, Array | list[Any]]"

BEFORE_ROWS = b"PGCOPY\n\xff\r\n\0" + bytes(8)
AFTER_ROWS = b"\xff\xff"
NULL = b"\xff\xff\xff\xff"
# The number of rows in each piece, which limits it to a few megabytes.
ROWS_PER_PIECE = 20_000
EPOCH = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)
MICROSECOND = datetime.timedelta(microseconds=1)
# The types whose values all have the same size, with their types in numpy.
SIZED: dict[str, np.dtype[Any]] = {
    "smallint": np.dtype(">i2"),
    "integer": np.dtype(">i4"),
    "bigint": np.dtype(">i8"),
    "boolean": np.dtype("?"),
    "double precision": np.dtype(">f8"),
    "timestamp with time zone": np.dtype(">i8"),
    "uuid": np.dtype("S16"),
}
# Functions that convert Python's values of these types to values that numpy can store.
AS_SIZED: dict[str, Callable[[Any], Any]] = {
    "timestamp with time zone": lambda time: (time - EPOCH) // MICROSECOND,
    "uuid": attrgetter("bytes"),
}
TEXTS = ("varchar", "text")
AS_BYTES: dict[str, Callable[[Any], bytes]] = {
    "varchar": str.encode,
    "text": str.encode,
    "bytea": bytes,
    "jsonb": lambda json: b"\x01" + json.dumps(json.adapted).encode(),  # 1 is the version
}


def column_of(kind: str, values: Array | Sequence[Any]) -> Column:
    """Return numbers or Python's values as a column of a type.

    Raises `TypeError` if the type cannot store such values, and `OverflowError` with a number that
    is too large or too small for it.
    """
    if kind not in SIZED:
        if kind not in AS_BYTES and any(value is not None for value in values):
            raise TypeError(f"no binary COPY of {kind}")
        return kind, values.tolist() if isinstance(values, np.ndarray) else list(values)
    if isinstance(values, np.ndarray) and values.dtype != object and kind not in AS_SIZED:
        array = values
    else:
        array = _array(list(values), AS_SIZED.get(kind))
    if SIZED[kind].kind == "i":
        _check_range(array, np.iinfo(SIZED[kind]))
    if not np.can_cast(array.dtype, SIZED[kind], "same_kind"):
        raise TypeError(f"no binary COPY of {array.dtype} as {kind}")
    return kind, array


def _array(values: list[Any], as_sized: Callable[[Any], Any] | None) -> Array:
    """Return Python's values as an array, masked where they are None."""
    is_null = np.array([value is None for value in values])
    stored = [value for value in values if value is not None]
    if as_sized is not None:
        stored = [as_sized(value) for value in stored]
    # If there is no value, the array has booleans, which can be cast to each type.
    array: Array = np.array(stored) if stored else np.empty(0, np.bool_)
    if not is_null.any():
        return array
    whole = np.zeros(len(is_null), array.dtype)
    whole[~is_null] = array
    return np.ma.array(whole, mask=is_null)


def _check_range(array: Array, limits: np.iinfo[Any]) -> None:
    numbers = np.ma.compressed(array)
    extremes = numbers[[numbers.argmin(), numbers.argmax()]].tolist() if len(numbers) else []
    for number in extremes:
        if not limits.min <= number <= limits.max:
            raise OverflowError(number)


def is_of_one_size(column: Column) -> bool:
    """Return whether all fields of the column have the same size. NULL has another size."""
    kind, values = column
    return kind in SIZED and not np.ma.is_masked(values)


def render_rows(constant: Sequence[Column], columns: Sequence[Column]) -> Iterator[bytes]:
    """Yield rows, a piece at a time.

    Each row contains the fields of `constant` and then those of `columns`. A column of `constant`
    has one value for all rows. In `columns`, the columns of one size (`is_of_one_size`) must come
    first. No Python objects are made for their fields.
    """
    sized = [column for column in columns if is_of_one_size(column)]
    others = columns[len(sized) :]
    start = (len(constant) + len(columns)).to_bytes(2, "big")
    start += b"".join(chain.from_iterable(_fields(*column) for column in constant))
    types = [(str(place), _type_of_field(kind)) for place, (kind, _) in enumerate(sized)]
    n_rows = len(columns[0][1])
    rows = np.empty(min(n_rows, ROWS_PER_PIECE), [("start", f"V{len(start)}"), *types])
    rows["start"] = np.void(start)
    for first in range(0, n_rows, ROWS_PER_PIECE):
        piece, part = rows[: n_rows - first], slice(first, first + ROWS_PER_PIECE)
        for (name, _), (_, values) in zip(types, sized, strict=True):
            _fill(piece[name], values[part])
        if not others:
            yield piece.tobytes()
            continue
        fields = [_fields(kind, values[part]) for kind, values in others]
        yield b"".join(chain.from_iterable(zip(_as_bytes(piece).tolist(), *fields, strict=True)))


def _fields(kind: str, values: Array | list[Any]) -> list[bytes]:
    """Return the fields of a column."""
    if isinstance(values, np.ndarray):
        sized = np.empty(len(values), _type_of_field(kind))
        _fill(sized, values)
        fields = _as_bytes(sized).astype(object)
        fields[np.ma.getmaskarray(values)] = NULL
        listed: list[bytes] = fields.tolist()
        return listed
    if kind not in TEXTS:
        return [_field(kind, value) for value in values]
    # Columns such as a state have few different texts, so each text is converted once.
    field_of = {value: _field(kind, value) for value in set(values)}
    return [field_of[value] for value in values]


def _field(kind: str, value: Any) -> bytes:
    if value is None:
        return NULL
    stored = AS_BYTES[kind](value)
    return len(stored).to_bytes(4, "big") + stored


def _type_of_field(kind: str) -> np.dtype[Any]:
    return np.dtype([("size", ">i4"), ("value", SIZED[kind])])


def _fill(fields: Array, values: Array | list[Any]) -> None:
    fields["size"] = fields.dtype["value"].itemsize
    fields["value"] = values


def _as_bytes(rows: Array) -> Array:
    return rows.view(f"V{rows.dtype.itemsize}")
